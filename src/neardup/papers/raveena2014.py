"""Weighted keywords, similarity vectors and an SVM (Raveena & Nandini 2014), trained and tested.

Training: stop words are removed, the k words of greatest tf·idf of a document are its features,
the five measures of two documents are their similarity vector x, and an SVM is fitted to labelled
pairs. Testing: a pair is a near-duplicate if g(x) ≥ 0. No document is in the training and in the
test of a fold. The threshold with the best F1 on the training pairs is ours; so is the fixed cosine
beside it, the trial and error that the paper argues against. Features of the document are compared
with those of its sentences, over k.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.artefacts.artefact import resolved
from neardup.artefacts.idf import IdfTable
from neardup.errors import SettingsError
from neardup.evaluation.training.fit import best_threshold
from neardup.evaluation.training.folds import OUTER, folds_of
from neardup.evaluation.training.machines import check_extra, one_thread
from neardup.evaluation.training.training_data import Data
from neardup.features.vectors import Products
from neardup.labels.gold import NEGATIVE, POSITIVE, Gold
from neardup.labels.labelled_pairs import PairGold
from neardup.methods.keywords import Keywords
from neardup.papers.experiment import Experiment, Figure, Options, Row, Table, lines
from neardup.papers.paper_pass import Material, read
from neardup.progress import Progress
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text
from neardup.text.words import word_hashes, words

PAPER = "Raveena & Nandini 2014"
TEXT = Text(stop_words="english")
LEVELS: Mapping[str, dict[str, Any]] = {
    "document": {"per": "document"},
    "sentence": {"per": "sentence"},
    "sentence, tuples": {"per": "sentence", "unit": "tuple"},
}
SIZES = {"document": (4, 10, 20, 40), "sentence": (2, 4, 8), "sentence, tuples": (4,)}  # k
KERNELS = ("linear", "rbf")
COST = 1.0  # C, which the paper leaves open
MEASURES = ("jaccard", "cosine", "euclidean", "extended jaccard", "dice")  # eq. 1–5
MOST_PAIRS = 4000
WEIGHTS = 1 << 10  # the unit of tf·idf in the kernel of the keywords
EXAMPLE = (
    "People rally on the {} as legal arguments over the Patient Protection and Affordable Care Act "
    "take place at the Supreme Court."
)
# §3.2.1: words in the printed order of their weights, those that are not printed last
PRINTED_ORDER = (
    *("supreme", "affordable", "protection", "patient", "pavement", "legal", "sidewalk"),
    *("arguments", "rally", "care", "court", "people", "act", "take", "place"),
)
FORMATS = {
    "features of": "",
    "k": ",",
    "discriminant": "",
    "precision": ".3f",
    "recall": ".3f",
    "F1": ".3f",
}


class Quality(NamedTuple):
    precision: float
    recall: float
    f1: float


def phases(inputs: Any, options: Options, progress: Progress) -> Experiment:
    check_extra()
    if options.gold is None:
        raise SettingsError(
            "raveena2014 needs labelled pairs.", hint="give --group COLUMN or --pairs FILE."
        )
    material = read(inputs, options, progress)
    assert material.gold is not None
    a, b, y = labelled_pairs(material.gold, options.seed)
    rows = list(_rows(material, a, b, y)) if _enough(y) else []
    tables = [_example_table()]
    figures = []
    if rows:
        tables += [_table(rows), _measures_table(rows)]
        drawn = [{**row, "series": f"{row['features of']}, {row['discriminant']}"} for row in rows]
        drawn = [row for row in drawn if row["discriminant"] in PAPERS_OWN]
        figures = [
            Figure(
                "levels",
                "F1 over k, features of the document and of sentences",
                lambda: lines(drawn, ("k", "k: words"), ("F1", "F1"), "series", unit=True),
            )
        ]
    return material.experiment(
        "raveena2014", PAPER, {"C": COST}, tables, figures, notes=_notes(y, bool(rows))
    )


def _enough(y: Array) -> bool:
    return min(int(y.sum()), int((1 - y).sum())) >= OUTER


def _notes(y: Array, trained: bool) -> list[str]:
    pairs = f"{len(y):,} labelled pairs of texts that differ, {int(y.sum()):,} near-duplicates."
    if trained:
        return [f"{pairs} Every pair is tested by a discriminant that saw neither document."]
    return [f"{pairs} Training needs at least {OUTER} of each class."]


def labelled_pairs(gold: Gold, seed: int) -> tuple[Array, Array, Array]:
    """Pairs with their class, 1 or 0. Of groups, as many pairs of different ones as of the same.
    Texts that are equal after normalisation teach nothing and are left out."""
    if isinstance(gold, PairGold):
        a, b = gold.listed()
    else:
        yes = gold.positives(MOST_PAIRS // 2)
        draw = np.random.default_rng(seed).integers(0, max(gold.documents, 1), (2, len(yes[0])))
        pairs = np.unique(np.concatenate([np.stack(yes), np.sort(draw, axis=0)], axis=1), axis=1)
        a, b = pairs[:, pairs[0] < pairs[1]]
    classes = gold.classes(a, b)
    chosen = np.flatnonzero((classes == POSITIVE) | (classes == NEGATIVE))
    if gold.same is not None:
        chosen = chosen[gold.same[a[chosen]] != gold.same[b[chosen]]]
    if len(chosen) > MOST_PAIRS:
        drawn = np.random.default_rng(seed).choice(chosen, MOST_PAIRS, replace=False)
        chosen = np.sort(drawn)
    return a[chosen], b[chosen], (classes[chosen] == POSITIVE).astype(np.int64)


def vectors(evidence: Ragged, a: Array, b: Array) -> Array:
    """The similarity vector of each pair: J, C, Ec, EJ and D of eq. 1–5, Ec as a raw distance."""
    rows = [
        _measured(evidence[i], evidence[j]) for i, j in zip(a.tolist(), b.tolist(), strict=True)
    ]
    return np.array(rows, np.float64).reshape(len(a), len(MEASURES))


def _measured(x: Array, y: Array) -> tuple[float, ...]:
    """The measures of two lists of entries ``feature << 32 | weight``."""
    low = np.uint64(0xFFFFFFFF)
    (fx, wx), (fy, wy) = ((e >> np.uint64(32), (e & low) / WEIGHTS) for e in (x, y))
    _, in_x, in_y = np.intersect1d(fx, fy, assume_unique=True, return_indices=True)
    made = Products(float(wx[in_x] @ wy[in_y]), float(wx @ wx), float(wy @ wy))
    union = len(fx) + len(fy) - len(in_x)
    jaccard = len(in_x) / union if union else 0.0
    return jaccard, made.cosine, made.euclidean, made.extended_jaccard, made.dice


PAPERS_OWN = tuple(f"{kernel}, g(x) ≥ 0" for kernel in KERNELS)


def _rows(material: Material, a: Array, b: Array, y: Array) -> Iterator[Row]:
    (batch,) = material.table.select(["id", "text"]).combine_chunks().to_batches()
    table = resolved(Keywords(text=TEXT).needs, batch)["idf"]
    assert isinstance(table, IdfTable)
    steps = sum(map(len, SIZES.values()))
    material.progress.stage("training", steps, "feature sets")
    with one_thread():
        for level, sizes in SIZES.items():
            for k in sizes:
                method = Keywords(k=k, tf="count", text=TEXT, **LEVELS[level])
                x = vectors(method.keywords(batch.column("text"), table), a, b)
                data = Data(a, b, y, x)
                for discriminant, quality, sets in tested(data, material.options.seed):
                    row = {"features of": level, "k": k, "discriminant": discriminant}
                    measures = quality._asdict()
                    measures["F1"] = measures.pop("f1")
                    yield {**row, **measures, "measures": sets}
                material.progress.advance(1)


CHOICES = {"all five": tuple(range(5)), "J, Ec": (0, 2), "C": (1,)}  # r of the measures


def tested(data: Data, seed: int) -> Iterator[tuple[str, Quality, str]]:
    """Each kernel and set of measures at g ≥ 0, each kernel at our threshold, a fixed cosine."""
    folds = folds_of(data, OUTER, seed)
    for name, columns in CHOICES.items():
        for kernel in KERNELS:
            zero, best, seen = (np.zeros(len(data), bool) for _ in range(3))
            for train, test in folds.sides():
                g = discriminant(kernel, data.x[train][:, columns], data.y[train])
                zero[test] = g(data.x[test][:, columns]) >= 0
                cut = best_threshold(g(data.x[train][:, columns]), data.y[train]).value
                best[test] = g(data.x[test][:, columns]) >= cut
                seen[test] = True
            yield f"{kernel}, g(x) ≥ 0", quality_of(data.y[seen], zero[seen]), name
            if len(columns) == len(MEASURES):
                yield f"{kernel}, ours: best F1", quality_of(data.y[seen], best[seen]), name
    fixed = np.asarray(data.x[:, 1] >= 0.5)
    yield "none: cosine ≥ .5", quality_of(data.y, fixed), "C"


def discriminant(kernel: str, x: Array, y: Array) -> Any:
    """g(x) = Σ αⱼ tⱼ K(xⱼ, x) + b of a C-SVM on measures that are scaled to unit deviation."""
    from sklearn.svm import SVC

    center, spread = x.mean(axis=0), x.std(axis=0)
    scale = np.where(spread > 1e-9, spread, 1.0)
    machine = SVC(kernel=kernel, C=COST, gamma="scale").fit((x - center) / scale, 2 * y - 1)
    return lambda z: machine.decision_function((z - center) / scale)


def quality_of(y: Array, passed: Array) -> Quality:
    right = int((passed & (y == 1)).sum())
    precision, recall = right / max(int(passed.sum()), 1), right / max(int((y == 1).sum()), 1)
    return Quality(precision, recall, 2 * right / max(int(passed.sum() + (y == 1).sum()), 1))


def _table(rows: list[Row]) -> Table:
    return Table(
        "levels",
        "Features of the document and of sentences, all five measures",
        FORMATS,
        [row for row in rows if row["measures"] == "all five" or "none" in row["discriminant"]],
        note="g(x) ≥ 0 is the paper's rule. The threshold with the best F1 on the training pairs "
        "is ours; a fixed cosine is what the paper argues against.",
    )


def _measures_table(rows: list[Row]) -> Table:
    chosen = [
        row
        for row in rows
        if (row["features of"], row["k"]) == ("document", 20) and row["discriminant"] in PAPERS_OWN
    ]
    formats = {"measures": "", **{name: FORMATS[name] for name in [*FORMATS][2:]}}
    title = "Definition 1: r of the five measures, 20 words of a document"
    return Table("measures", title, formats, chosen)


def example_features() -> dict[str, str]:
    """f_A and f_B of §3.2.1, k = 4, with document frequencies in the printed order of weights."""
    texts = [EXAMPLE.format(word) for word in ("sidewalk", "pavement")]
    others = [" ".join(PRINTED_ORDER[rank:]) for rank in range(len(PRINTED_ORDER))]
    others += ["nothing of this"] * len(PRINTED_ORDER)
    method = Keywords(k=4, tf="count", text=TEXT)
    table = resolved(method.needs, _batch(others))["idf"]
    assert isinstance(table, IdfTable)
    evidence = method.keywords(_batch(texts).column("text"), table)
    return {
        name: _heaviest_first(evidence[i], text)
        for i, (name, text) in enumerate(zip("AB", texts, strict=True))
    }


def _batch(texts: list[str]) -> pa.RecordBatch:
    return pa.record_batch({"text": pa.array(texts, pa.large_string())})


def _heaviest_first(entries: Array, text: str) -> str:
    names = words(text)
    hashes = word_hashes(Ragged.of_texts([text]), Text()).values >> np.uint64(32)
    known = dict(zip(hashes.tolist(), names, strict=True))
    weighed = sorted(entries.tolist(), key=lambda e: (-(e & 0xFFFFFFFF), known[e >> 32]))
    return ", ".join(known[entry >> 32] for entry in weighed)


def _example_table() -> Table:
    rows = [
        {"document": name, "here": features, "paper": "supreme, affordable, protection, patient"}
        for name, features in example_features().items()
    ]
    return Table(
        "example",
        "§3.2.1: the features of the worked example, k = 4",
        {"document": "", "here": "", "paper": ""},
        rows,
        note="Document frequencies follow the printed order of weights; the paper's collection is "
        "not known.",
    )
