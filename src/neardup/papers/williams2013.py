"""SimHash over k and shingles over w and R (Williams & Giles 2013, Figures 1–2, Tables 1–2).

Each method and w is one matching pass; k and R are thresholds on its scores. With gold, precision,
recall and F are those of the returned pairs. Without gold, the result has the numbers of pairs,
their mean cosine, and the sample of each treatment that the paper would have judged. The cosine is
that of term frequencies (Table 1), whichever method returned the pair.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.features.vectors import Products
from neardup.labels.gold import POSITIVE, Gold
from neardup.labels.label_store import Pair
from neardup.labels.sampling import Item, Key, Sample, Stratum, item_name
from neardup.labels.sampling import Treatment as SampleTreatment
from neardup.papers.experiment import Experiment, Figure, Options, Row, Table, beside, lines
from neardup.papers.paper_pass import Material, Pass, measured, partial_notes, read
from neardup.progress import Progress
from neardup.schema import KINDS, Array, Ragged

VERSION = "different version or draft"
TYPES = {"identical": "exact", "normalised": "exact", "layout": "preprint"}  # others: VERSION
PRINTED_TYPES = {  # Table 2
    "simhash": {"exact": 12, "preprint": 3, VERSION: 4},
    "shingles": {"exact": 9, "preprint": 5, VERSION: 6},
}
MOST_KINDS = 10_000  # pairs of a treatment whose texts are read again
PRINTED_COSINES = (1.0, 0.97, 0.97, 0.99, 0.89, 0.97, 0.81, 0.75, 0.66, 0.54, 0.49)  # Table 1
K = ("k", "k: bits that may differ")
R = ("R", "R: least resemblance")


def _simhash(rows: list[Row]) -> list[Row]:
    return [row for row in rows if "k" in row]


def _shingles(rows: list[Row]) -> list[Row]:
    return [{**row, "words": f"w = {row['w']}"} for row in rows if "w" in row]


def measures(rows: list[Row]) -> Any:
    names = ("precision", "recall", "F")
    simhash = [
        {"k": row["k"], "value": row[name], "measure": name}
        for row in _simhash(rows)
        for name in names
    ]
    first = lines(simhash, K, ("value", "share"), "measure", unit=True, title="(a) SimHash")
    others = [
        lines(
            _shingles(rows), R, (name, name), "words", unit=True, title=f"({at}) shingles: {name}"
        )
        for at, name in zip("bcd", names, strict=True)
    ]
    return beside(first, *others)


def pairs(rows: list[Row]) -> Any:
    of = ("pairs", "pairs returned")
    simhash = [{**row, "method": "SimHash"} for row in _simhash(rows)]
    return beside(
        lines(simhash, K, of, "method", log=True, form=",.0f", title="(a) SimHash (logarithmic)"),
        lines(
            _shingles(rows),
            R,
            of,
            "words",
            log=True,
            form=",.0f",
            title="(b) shingles (logarithmic)",
        ),
    )


def cosines(rows: list[Row]) -> Any:
    of = ("mean cosine", "mean cosine of the pairs")
    here = [{**row, "series": "here"} for row in _simhash(rows)]
    printed = [
        {"k": k, "mean cosine": cosine, "series": "Williams & Giles, Table 1"}
        for k, cosine in enumerate(PRINTED_COSINES)
    ]
    return beside(
        lines([*here, *printed], K, of, "series", unit=True, title="SimHash"),
        lines(_shingles(rows), R, of, "words", unit=True, title="shingles"),
    )


class Cosines:
    """Cosines of term frequencies; ``words`` has hashes of the words of each document. A vector is
    computed when a pair needs it."""

    def __init__(self, words: Ragged) -> None:
        self._words = words
        self._vector = functools.lru_cache(maxsize=4096)(self._counted)

    def _counted(self, document: int) -> tuple[Array, Array]:
        words, counts = np.unique(self._words[document], return_counts=True)
        return words, counts.astype(np.float64)

    def of(self, a: int, b: int) -> float:
        (x, n), (y, m) = self._vector(a), self._vector(b)
        _, in_x, in_y = np.intersect1d(x, y, assume_unique=True, return_indices=True)
        return float(Products(n[in_x] @ m[in_y], n @ n, m @ m).cosine)

    def mean(self, a: Array, b: Array) -> float | None:
        if not len(a):
            return None
        pairs = zip(a.tolist(), b.tolist(), strict=True)
        return float(np.mean([self.of(i, j) for i, j in pairs]))


PAPER = "Williams & Giles 2013"
BITS = 64
DISTANCES = tuple(range(11))
WORDS = (5, 8, 10)
RESEMBLANCES = tuple(n / 10 for n in range(9, 0, -1))
COSINES = 500  # the most pairs of a treatment for its mean cosine
MEASURED = ("precision", "recall", "F")
MEASURES = {**dict.fromkeys(MEASURED, ".3f"), "judged": ","}
PAIRS = {"pairs": ",", "mean cosine": ".3f"}


@dataclass(frozen=True)
class Treatment:
    """``setting`` is the number of words of a shingle, None for SimHash; ``at`` is R or k."""

    method: str
    setting: int | None
    at: float
    matched: Pass

    def row(self) -> Row:
        if self.setting is None:
            return {"method": self.method, "k": int(self.at)}
        return {"method": self.method, "w": self.setting, "R": self.at}

    def named(self) -> str:
        return f"k = {self.at:g}" if self.setting is None else f"w = {self.setting}, R = {self.at}"


def study(inputs: Any, options: Options, progress: Progress) -> Experiment:
    material = read(inputs, options, progress)
    treatments = list(_treatments(material))
    rows = _rows(treatments, material)
    simhash = _table("figure_1a", "Figures 1 and 2: SimHash over k", "k", rows, material.gold)
    shingles = _table(
        "figure_1b", "Figures 1 and 2: shingles over w and R", "w", rows, material.gold
    )
    best = _best(treatments, rows, material.gold)
    sample = to_judge(treatments, material)
    figures = [
        Figure("figure_2", "Figure 2: pairs returned", lambda: pairs(rows)),
        Figure("table_1", "Table 1: mean cosine of pairs", lambda: cosines(rows)),
    ]
    if material.gold is not None:
        drawn = Figure("figure_1", "Figure 1: precision, recall, F", lambda: measures(rows))
        figures.insert(0, drawn)
    return material.experiment(
        "williams2013",
        PAPER,
        {treatment.method: treatment.matched.settings for treatment in best},
        [
            simhash,
            shingles,
            _best_table(best, treatments, rows),
            *_kinds_tables(best, material),
        ],
        figures,
        notes=_notes(treatments, material),
        more={"to_judge": [{"a": item.a, "b": item.b} for item in sample.items]},
        sample=sample,
    )


def _treatments(material: Material) -> Iterator[Treatment]:
    matched = material.find(recipe="williams2013-simhash", distance=DISTANCES[-1])
    for k in DISTANCES:
        yield Treatment("simhash", None, k, matched.at(1 - k / BITS))
    for w in WORDS:
        matched = material.find(recipe="williams2013-shingles", words=w, threshold=RESEMBLANCES[-1])
        for r in RESEMBLANCES:
            yield Treatment("shingles", w, r, matched.at(r))


def _notes(treatments: list[Treatment], material: Material) -> list[str]:
    notes = partial_notes(treatment.matched for treatment in treatments)
    if material.gold is None:
        notes.append(
            "Precision and recall need gold. With -o, to_judge.jsonl is the paper's sample: judge "
            "a copy, then neardup label import OUT/to_judge.jsonl COPY --assessor NAME, and the "
            "same command with --pairs OUT/to_judge.labels.jsonl gives the curves."
        )
    elif not material.gold.complete:
        notes.append(
            "The gold does not label all pairs: precision is that of the labelled pairs among "
            "those returned, recall that of the known duplicates."
        )
    return notes


def sampled(matched: Pass, most: int, seed: int) -> Pass:
    """At most ``most`` pairs, drawn without replacement; the same for the same seed."""
    if len(matched) <= most:
        return matched
    drawn = np.random.default_rng(seed).choice(len(matched), most, replace=False)
    return matched.where(np.sort(drawn))


def to_judge(treatments: list[Treatment], material: Material) -> Sample:
    """The samples of all treatments, each pair once, blind: neither the order nor the sides reveal
    where a pair comes from. The key records which treatments drew and returned it."""
    options, size = material.options, len(material)
    drawn = {
        treatment.named(): sampled(treatment.matched, options.sample, options.seed).keys()
        for treatment in treatments
    }
    pool = np.unique(np.concatenate([np.empty(0, np.int64), *drawn.values()]))
    ids, texts = (material.table[name].to_pylist() for name in ("id", "text"))
    pairs = {int(key): Pair.of(*(ids[n] for n in divmod(int(key), size))) for key in pool}
    names = {key: item_name(options.seed, pair) for key, pair in pairs.items()}
    text_of = dict(zip(ids, texts, strict=True))
    described = tuple(
        _described(treatment, drawn[treatment.named()], names) for treatment in treatments
    )
    items = [_item(names[key], pairs[key], text_of) for key in pairs]
    key = Key(options.seed, described, {names[n]: pair for n, pair in pairs.items()})
    return Sample(tuple(sorted(items, key=lambda item: item.item)), key)


def _described(treatment: Treatment, drawn: Array, names: dict[int, str]) -> SampleTreatment:
    matched, returned = treatment.matched, set(treatment.matched.keys().tolist())
    items = tuple(sorted(names[int(key)] for key in drawn))
    least = float(matched.pairs.score.min()) if len(matched) else 0.0
    strata = (Stratum(least, 1.0, len(matched), items),) if len(matched) else ()
    found = {name: 0 for key, name in names.items() if key in returned}
    return SampleTreatment(
        f"{treatment.method} {treatment.named()}",
        treatment.method,
        len(matched),
        matched.pairs.complete,
        strata,
        dict(sorted(found.items())),
    )


def _item(name: str, pair: Pair, texts: dict[str, str]) -> Item:
    """The sides follow from the name of the item, which is a digest."""
    a, b = pair if int(name, 16) % 2 else pair[::-1]
    return Item(name, a, b, texts[a], texts[b])


def _rows(treatments: list[Treatment], material: Material) -> list[Row]:
    cosines = Cosines(material.reading.words)
    gold, seed = material.gold, material.options.seed
    material.progress.stage("scoring", len(treatments), "treatments")
    rows = []
    for treatment in treatments:
        drawn = sampled(treatment.matched, COSINES, seed)
        row = treatment.row() | {"pairs": len(treatment.matched)}
        row["mean cosine"] = cosines.mean(drawn.a, drawn.b)
        rows.append({**row, **(measured(treatment.matched, gold) if gold else {})})
        material.progress.advance(1)
    return rows


def _table(name: str, title: str, key: str, rows: list[Row], gold: Gold | None) -> Table:
    parameters = {"k": ","} if key == "k" else {"w": ",", "R": ".1f"}
    formats = {**parameters, **PAIRS, **(MEASURES if gold else {})}
    chosen: list[Row] = [row for row in rows if key in row]
    if key == "k":
        formats["printed cosine"] = ".2f"
        printed = zip(chosen, PRINTED_COSINES, strict=True)
        chosen = [{**row, "printed cosine": cosine} for row, cosine in printed]
    note = f"The cosine is that of term frequencies, over all pairs or {COSINES} random ones."
    if key == "w":
        note += f" Lowering R by .1 adds {_added(chosen):,.1f} pairs on average; the paper: 157.35."
    return Table(name, title, formats, chosen, note)


def _added(rows: list[Row]) -> float:
    steps = len(RESEMBLANCES) - 1
    each: list[int] = [row["pairs"] for row in rows]
    grown = [each[i + steps] - each[i] for i in range(0, len(each), steps + 1)]
    return sum(grown) / (steps * len(grown))


def _best(treatments: list[Treatment], rows: list[Row], gold: Gold | None) -> list[Treatment]:
    """The treatment with the greatest F of each method; without gold, the paper's."""
    best = []
    for method, printed in (("simhash", (None, 3)), ("shingles", (5, 0.5))):
        own = [
            (treatment, row)
            for treatment, row in zip(treatments, rows, strict=True)
            if treatment.method == method
        ]
        if gold is None:
            best += [
                treatment for treatment, _ in own if (treatment.setting, treatment.at) == printed
            ]
        else:
            best.append(max(own, key=lambda pair: pair[1]["F"] or pair[1]["recall"] or 0)[0])
    return best


def _best_table(best: list[Treatment], treatments: list[Treatment], rows: list[Row]) -> Table:
    printed = {
        "simhash": ("k = 3", 0.94, 0.88, 0.91),
        "shingles": ("w = 5, R = 0.5", 1.0, 0.98, 0.99),
    }
    compared = []
    for treatment in best:
        row = rows[treatments.index(treatment)]
        setting, p, r, f = printed[treatment.method]
        ours = {"method": treatment.method, "setting": treatment.named(), "pairs": row["pairs"]}
        ours |= {name: row.get(name) for name in MEASURED}
        theirs = {"paper": setting, "paper's P": p, "paper's R": r, "paper's F": f}
        compared.append({**ours, **theirs})
    formats = {"method": "", "setting": "", "pairs": ",", **dict.fromkeys(MEASURED, ".3f")}
    formats |= {"paper": "", **dict.fromkeys(("paper's P", "paper's R", "paper's F"), ".2f")}
    title = "the best setting of each method" if "F" in rows[0] else "the paper's settings"
    return Table("best", f"§4.1: {title}", formats, compared)


def _kinds_tables(best: list[Treatment], material: Material) -> list[Table]:
    """Table 2 in the paper's categories, and the kinds that these are made of."""
    gold, categories, kinds = material.gold, [], []
    for treatment in best:
        true = treatment.matched
        if gold is not None:
            true = true.where(gold.classes(true.a, true.b) == POSITIVE)
        true = material.classified(sampled(true, MOST_KINDS, material.options.seed))
        labels = gold.labels(true.a, true.b) if gold else np.full(len(true), "", object)
        categories += _category_rows(treatment, true.kind)
        kinds += _kind_rows(treatment, true.kind, labels)
    which = "pairs that the paper's" if gold is None else "true pairs that the best"
    setting, counts = {"method": "", "setting": ""}, {"pairs": ",", "share": ".1%"}
    printed = {"paper's pairs": ",", "paper's share": ".1%"}
    return [
        Table(
            "table_2",
            f"Table 2: types of the {which} settings return",
            {**setting, "type": "", **counts, **printed},
            categories,
            note="Exact: identical, also after normalisation. Preprint: another layout. Version: "
            f"all other kinds. Of more than {MOST_KINDS:,} pairs, as many are drawn at random.",
        ),
        Table(
            "kinds",
            "The kinds that these types are made of",
            {**setting, "kind": "", "label": "", **counts},
            kinds,
            note="The kind is neardup's, the label the gold's.",
        ),
    ]


def _category_rows(treatment: Treatment, kinds: Array) -> list[Row]:
    types = np.array([TYPES.get(kind, VERSION) for kind in kinds], dtype=object)
    printed = PRINTED_TYPES[treatment.method]
    rows = []
    for name, count in printed.items():
        here = int((types == name).sum())
        row: Row = {"method": treatment.method, "setting": treatment.named(), "type": name}
        row |= {"pairs": here, "share": here / len(types) if len(types) else None}
        rows.append({**row, "paper's pairs": count, "paper's share": count / sum(printed.values())})
    return rows


def _kind_rows(treatment: Treatment, kinds: Array, labels: Array) -> list[Row]:
    rows = []
    for kind in KINDS:
        for label in sorted(set(labels[kinds == kind])):
            count = int(((kinds == kind) & (labels == label)).sum())
            row = {
                "method": treatment.method,
                "setting": treatment.named(),
                "kind": kind,
                "label": label,
            }
            rows.append({**row, "pairs": count, "share": count / len(kinds)})
    return rows
