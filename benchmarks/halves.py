"""Train on one half of a labelled set and test on the other: the table of docs/learning.md.

    python -m benchmarks.halves [SET...]

Groups are divided at random, so that no text is on both sides. Candidates are all pairs that share
at least 5 % of the weight of their characters; a labelled pair of one half is trained on or tested,
unless the two texts are equal but for case, spaces and punctuation. F1 counts all duplicates of the
half that is tested, candidates or not, as the script that comes with the data does. Kinds take the
usual measures, the last column but two those of the alignment besides.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from neardup.artefacts.artefact import resolved
from neardup.artefacts.model import load_model
from neardup.decisions.clusters import components
from neardup.evaluation.training.data import Data
from neardup.evaluation.training.fitting import fit
from neardup.evaluation.training.kinds import KINDS, one_thread
from neardup.evaluation.training.train import MOST_PAIRS
from neardup.features.aligned import MADE_OF as ALIGNED
from neardup.features.similarity import MEASURES, vectors
from neardup.methods.profiles import GRAMS_OF, frequency_name, needs, profiles
from neardup.schema import Ragged
from neardup.text.options import Text

DATA = Path(os.environ.get("NEARDUP_DATA") or Path(__file__).parents[2] / "shared" / "data")
GENERAL = Path(__file__).parents[1] / "src" / "neardup" / "models" / "general.arrow"
SETS = ("licences", "manpages_versions", "laws_de", "rfc_lineage", "bill_pairs", "ocr_pairs")
SEEDS = (10, 11)  # the way to draw pairs was chosen by other divisions
FAMILY, SHARED = "chars8", 0.05  # what candidates share, of the smaller of the two
ROWS, BLOCK = 400, 50_000
WITH_ORDER = (*MEASURES, *(f"aligned_{made}" for made in ALIGNED))


@dataclass(frozen=True)
class Labelled:
    """Candidates with labels; ``positives`` are all duplicates, ``group`` is of each document."""

    data: Data
    positives: np.ndarray
    group: np.ndarray

    def side(self, inside: np.ndarray) -> tuple[Data, int]:
        """Pairs of documents that are ``inside``, and how many duplicates there are."""
        rows = np.flatnonzero(inside[self.data.a] & inside[self.data.b])
        return self.data.at(rows), int(inside[self.positives].all(axis=1).sum())


def gold_of(name: str) -> Any:
    spec = importlib.util.spec_from_file_location("score", DATA / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True  # the folder of the data is only read
    spec.loader.exec_module(module)
    return module.Gold(str(DATA / name))


def candidates(batch: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray]:
    """By features that two documents or more have, and at most half of all."""
    count = len(batch)
    (need,) = needs(Text(), (f"{FAMILY}_jaccard",))
    table: Any = resolved([need], batch)[frequency_name(FAMILY)]
    sets = GRAMS_OF[FAMILY].sets(Ragged.of_strings(batch.column("text")), Text())
    having = table.counts_of(sets.values).astype(np.int64)
    used = (having >= 2) & (having <= count // 2)
    document = np.repeat(np.arange(count), sets.lengths)[used]
    weight = table.idf[having[used]]
    feature = np.unique(sets.values[used], return_inverse=True)[1]
    has = sparse.csr_matrix((np.sqrt(weight), (document, feature)))
    size = np.bincount(document, weight, minlength=count)
    found = [_near(has, size, begin) for begin in range(0, has.shape[0], ROWS)]
    a, b = (np.concatenate(side) for side in zip(*found, strict=True))
    return a, b


def _near(has: Any, size: np.ndarray, begin: int) -> tuple[np.ndarray, np.ndarray]:
    shared = (has[begin : begin + ROWS] @ has.T).tocoo()
    a, b = shared.row.astype(np.int64) + begin, shared.col.astype(np.int64)
    near = (a < b) & (shared.data >= SHARED * np.minimum(size[a], size[b]))
    return a[near], b[near]


def labelled(name: str) -> Labelled:
    gold = gold_of(name)
    texts = pa.array([one["text"] for one in gold.docs], pa.large_string())
    batch = pa.record_batch({"text": texts})
    a, b = candidates(batch)
    y, _ = gold.classify(a, b)
    told = (y >= 0) & ~gold.identical(a, b)
    a, b = a[told], b[told]
    made = profiles(batch, resolved(needs(Text(), WITH_ORDER), batch), Text(), WITH_ORDER)
    blocks = (slice(begin, begin + BLOCK) for begin in range(0, len(a), BLOCK))
    x = np.concatenate([vectors(made, a[block], b[block], WITH_ORDER) for block in blocks])
    positives = gold.positives()
    positives = positives[~gold.identical(positives[:, 0], positives[:, 1])]
    group = gold.group if gold.group is not None else _together(gold.n, a, b)
    return Labelled(Data(a, b, y[told], x), positives, group)


def _together(count: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Documents that hang together by labelled pairs; others are alone."""
    found = components(count, a, b)
    return np.where(found < 0, count + np.arange(count), found)


def f1(passed: np.ndarray, data: Data, total: int) -> float:
    return float(2 * (passed & (data.y == 1)).sum() / (passed.sum() + total))


def best_single(data: Data, total: int) -> tuple[float, str]:
    """The measure and threshold that are best on what is tested: too good, and hard to beat."""
    return max((_best(data.x[:, at], data.y, total), name) for at, name in enumerate(MEASURES))


def _best(score: np.ndarray, y: np.ndarray, total: int) -> float:
    order = np.argsort(-score, kind="stable")
    ends = np.flatnonzero(np.diff(score[order], append=-np.inf))
    hits = np.cumsum(y[order])[ends]
    return float((2 * hits / (ends + 1 + total)).max())


def general(data: Data, total: int) -> float:
    model = load_model(GENERAL)
    columns = [MEASURES.index(name) for name in model.measures]
    return f1(model.probability(data.x[:, columns]) >= model.threshold, data, total)


def cells(known: Labelled, seed: int) -> Iterator[str]:
    names, place = np.unique(known.group, return_inverse=True)
    first = (np.random.default_rng(seed).random(len(names)) < 0.5)[place]
    given, _ = known.side(first)
    test, total = known.side(~first)
    yield f"{given.positives:,} of {len(given):,}"
    taken = [(kind, MEASURES) for kind in KINDS.values()] + [(KINDS["linear"], WITH_ORDER)]
    for kind, measures in taken:
        made = fit(kind, given.drawn(MOST_PAIRS, 0), range(len(measures)), 0)
        yield f"{f1(made.passed(test.x), test, total):.3f}"
    single, name = best_single(test, total)
    yield f"{single:.3f} `{name}`"
    yield f"{general(test, total):.3f}"


def main() -> None:
    last = "linear, `aligned` too", "best measure", "general model"
    header = ("set", "duplicates trained on", *KINDS, *last)
    print(f"| {' | '.join(header)} |\n|{'---|' * len(header)}", flush=True)
    with one_thread():
        for name in sys.argv[1:] or SETS:
            known = labelled(name)
            for seed in SEEDS:
                print(f"| {name} | {' | '.join(cells(known, seed))} |", flush=True)


if __name__ == "__main__":
    main()
