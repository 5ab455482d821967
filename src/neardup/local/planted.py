"""What known answers say of a cut: copies with planted edits, and traps.

A few documents of the collection are copied with edits that leave a copy to any reader, and pairs
are made that share only a frame (``planting/``). A cut is worth the F1 that it has on as many of
the ones as of the others. Only these pairs are scored, so it costs no matching; long texts are
represented by their beginnings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from neardup import schema
from neardup.documents import Collection
from neardup.errors import InputError
from neardup.methods.cuts import Cut, Swept, swept
from neardup.methods.method import Method
from neardup.methods.thresholds import CUTS
from neardup.plan import Plan
from neardup.planting.edits import edits_named
from neardup.planting.plant import Planted, plant
from neardup.planting.traps import traps
from neardup.planting.worth import worth
from neardup.progress import Progress
from neardup.schema import Array

EDITS = (
    *("substitutions=0.05", "substitutions=0.1", "insertions=0.1", "deletions=0.1"),
    *("numbers=1", "excerpt-first=0.75", "paragraphs=0.25", "sentences=0.25"),
    *("ocr=0.01", "boilerplate=0.25", "layout=0.1"),
)
PER_EDIT, PER_SHARE = 10, 20  # copies of each edit, traps of each share of frame
LONGEST = 12_000  # characters of a document that are copied
NEAR = 0.02  # cuts whose worth is that near to the best are as good


@dataclass(frozen=True)
class KnownScores:
    """Of copies with their originals and of traps with their twins; 0 where a pair was refused or
    is below the lowest cut."""

    copies: Array
    traps: Array

    def found(self, threshold: float) -> float:
        return float(np.mean(self.copies >= threshold))

    def trapped(self, threshold: float) -> float:
        return float(np.mean(self.traps >= threshold))

    def worth(self, threshold: float) -> float:
        return worth(self.found(threshold), self.trapped(threshold))


def known_scores(
    collection: Collection, plan: Plan, method: Method, progress: Progress
) -> KnownScores | None:
    """Scored by ``method`` with the artefacts of the plan; None where nothing can be planted."""
    try:
        planted = plant(
            collection,
            plan.columns,
            edits_named(EDITS),
            PER_EDIT,
            longest=LONGEST,
            progress=progress,
        )
    except InputError:  # all documents are too short to be edited
        return None
    framed = traps(planted, PER_SHARE)
    if not len(framed):  # with one document: nothing would speak against any cut
        return None
    return _scored(planted, framed, plan, method)


def _scored(planted: Planted, framed: pa.Table, plan: Plan, method: Method) -> KnownScores:
    batch = _batch([planted.drawn, planted.copies, framed], method.columns)
    evidence = method.prepare(batch, plan.artefacts).evidence
    first, last = len(planted.drawn), len(planted.drawn) + len(planted.copies)
    place = {id: at for at, id in enumerate(planted.drawn["id"].to_pylist())}
    originals = np.array([place[id] for id in planted.copies["of"].to_pylist()], np.int64)
    left = np.arange(last, last + len(framed), 2)

    def scores(a: Array, b: Array) -> Array:
        made = method.score(evidence, a, b)
        return np.where(made.passed, made.score, 0.0)

    return KnownScores(scores(np.arange(first, last), originals), scores(left, left + 1))


def _batch(tables: list[pa.Table], extra: tuple[str, ...]) -> pa.RecordBatch:
    parts = [table.select(["id", "text", *extra]) for table in tables]
    table = pa.concat_tables(parts, promote_options="permissive").combine_chunks()
    row = pa.array(np.arange(1, len(table) + 1), schema.documents().field("row").type)
    return table.add_column(0, "row", row).to_batches()[0]


def choose(method: Method) -> Swept:
    """All cuts to choose from; ``methods/thresholds.py`` has seen to it that there are some."""
    found = swept(method, CUTS)
    assert found is not None
    return found


def best_cut(cuts: tuple[Cut, ...], known: KnownScores) -> Cut:
    """The strictest of those that are as good as the best."""
    values = [known.worth(cut.threshold) for cut in cuts]
    return max(
        (cut for cut, value in zip(cuts, values, strict=True) if value >= max(values) - NEAR),
        key=lambda cut: cut.threshold,
    )
