"""Measures of one matching pass over a collection with planted copies and decoys.

*Recall* is the share of copies that were paired with their original, for each edit and rate. *False
alarms* are pairs of a copy with a document that is neither its original, nor paired with its
original at the lowest threshold, nor the source of an inserted passage. *Decoys* are pairs made
from one template or one form; the share that passed is a false-alarm rate. *Background* is the
pairs of the collection itself, whose correctness is unknown here. All thresholds are evaluated on
the scores of the one pass.

``bearable`` raises the lowest threshold if the pass would be too expensive. Where unrelated texts
share half of their features, as with character q-grams, a pass at 0.3 compares nearly all pairs.
The cost is estimated on a few documents: candidates grow with the square of the collection.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.documents.collection import Collection
from neardup.documents.memory_tables import arrow_source
from neardup.engines.execution import execute
from neardup.evaluation.scored_pairs import ScoredPairs, of_result
from neardup.evaluation.swept_settings import Setting
from neardup.plan import resolve
from neardup.planting.decoys import FORM
from neardup.runs.result import Result
from neardup.schema import Array, Ragged, offsets_of
from neardup.settings import Settings

NOT_FOUND = -1.0


@dataclass(frozen=True)
class EditCell:
    """Copies of one edit at one rate, or decoys with one share of template. ``score`` is that of
    each with its partner, ``NOT_FOUND`` below the lowest threshold."""

    edit: str
    rate: float
    kind: str | None
    score: Array

    def __len__(self) -> int:
        return len(self.score)

    def found(self, threshold: float) -> int:
        return int((self.score >= threshold).sum())


@dataclass(frozen=True)
class Measures:
    """``alarms`` are the scores of false alarms, ``alarmed`` the best of them for each copy;
    ``background`` are the scores of pairs of the collection itself."""

    cells: list[EditCell]
    traps: list[EditCell]
    alarms: Array
    alarmed: Array
    background: Array
    documents: int
    lowest: float
    complete: bool


def measure(result: Result, copies: pa.Table, decoys: pa.Table) -> Measures:
    """The measures of a run whose first documents are the copies, followed by the decoys."""
    pairs = of_result(result)
    own = len(copies)
    first = own + len(decoys)
    inside = (pairs.a >= first) & (pairs.b >= first)
    known = _Known.of(result, pairs.where(inside), [copies, decoys])
    score = _partner_scores(pairs, np.arange(own), known.numbers(copies["of"]))
    alarm = _alarms(pairs, own, first, known)
    best = np.full(pairs.documents, NOT_FOUND)
    for side in (pairs.a, pairs.b):
        np.maximum.at(best, side[alarm], pairs.score[alarm])
    return Measures(
        cells=_cells(copies, score),
        traps=_decoy_cells(pairs, own, decoys, known),
        alarms=pairs.score[alarm],
        alarmed=best[:own],
        background=pairs.score[inside],
        documents=pairs.documents - first,
        lowest=pairs.lowest,
        complete=pairs.complete,
    )


@dataclass(frozen=True)
class _Known:
    """How documents are related. ``roots`` lists the originals of each document: itself, or for a
    copy or decoy the documents it was made from. ``alike`` are the pairs of originals that the run
    reported, sorted, as one number each."""

    ids: pa.Array
    roots: Ragged
    alike: Array

    @classmethod
    def of(cls, result: Result, inside: ScoredPairs, added: list[pa.Table]) -> _Known:
        ids = result.accepted_ids
        names = [
            [*filter(None, [of]), *donors]
            for table in added
            for of, donors in zip(table["of"].to_pylist(), table["donors"].to_pylist(), strict=True)
        ]
        flat = pa.array([name for some in names for name in some], ids.type)
        others = np.arange(len(names), len(ids))
        values = np.concatenate([_numbers(flat, ids), others])
        lengths = np.array([*map(len, names), *[1] * len(others)], np.int64)
        alike = np.sort(inside.a * len(ids) + inside.b)
        return cls(ids, Ragged(values, offsets_of(lengths)), alike)

    def numbers(self, names: pa.ChunkedArray) -> Array:
        return _numbers(names, self.ids)

    def related(self, a: Array, b: Array) -> Array:
        """Whether any root of ``a`` equals, or was paired with, any root of ``b``."""
        count_a, count_b = self.roots.lengths[a], self.roots.lengths[b]
        count = count_a * count_b
        pair = np.repeat(np.arange(len(a)), count)
        step = np.arange(len(pair)) - np.repeat(offsets_of(count)[:-1], count)
        x = self.roots.values[self.roots.offsets[a][pair] + step // count_b[pair]]
        y = self.roots.values[self.roots.offsets[b][pair] + step % count_b[pair]]
        key = np.minimum(x, y) * len(self.ids) + np.maximum(x, y)
        related = np.zeros(len(a), bool)
        related[pair[(x == y) | np.isin(key, self.alike)]] = True
        return related


def _numbers(names: pa.ChunkedArray | pa.Array, ids: pa.Array) -> Array:
    place = pc.index_in(names, ids)
    return np.asarray(pc.fill_null(place, -1)).astype(np.int64)


def _partner_scores(pairs: ScoredPairs, documents: Array, partner: Array) -> Array:
    """The score of each document with its partner; both are document numbers."""
    total = pairs.documents
    wanted = np.minimum(documents, partner) * total + np.maximum(documents, partner)
    key = pairs.a * total + pairs.b  # sorted, as the pairs are
    at = np.minimum(np.searchsorted(key, wanted), max(len(key) - 1, 0))
    if not len(key):
        return np.full(len(documents), NOT_FOUND)
    return np.where(key[at] == wanted, pairs.score[at], NOT_FOUND)


def _alarms(pairs: ScoredPairs, own: int, first: int, known: _Known) -> Array:
    """Pairs of a copy with an unrelated copy or document; pairs of decoys are left out."""
    decoy = ((pairs.a >= own) & (pairs.a < first)) | ((pairs.b >= own) & (pairs.b < first))
    alarm = ((pairs.a < own) | (pairs.b < own)) & ~decoy
    rows = np.flatnonzero(alarm)
    alarm[rows] = ~known.related(pairs.a[rows], pairs.b[rows])
    return alarm


def _decoy_cells(pairs: ScoredPairs, own: int, decoys: pa.Table, known: _Known) -> list[EditCell]:
    """Cells of decoys; neighbouring rows are a pair. A pair with related content is no decoy. Two
    fillings of a form share their frame with one document and no content, so they always count."""
    left = own + np.arange(0, len(decoys), 2)
    form = np.asarray(pc.equal(decoys["edit"], FORM))[::2].astype(bool)
    fair = form | ~known.related(left, left + 1)
    table = decoys.take(pa.array(left[fair] - own))
    return _cells(table, _partner_scores(pairs, left[fair], left[fair] + 1))


def _cells(table: pa.Table, score: Array) -> list[EditCell]:
    """Cells in the order in which edits and rates first occur in the table."""
    rows: dict[tuple[str, float, str | None], list[int]] = {}
    columns = (table[name].to_pylist() for name in ("edit", "rate", "kind"))
    for number, key in enumerate(zip(*columns, strict=True)):
        rows.setdefault(key, []).append(number)
    return [EditCell(*key, score[np.array(numbers)]) for key, numbers in rows.items()]


SAMPLE = 200  # documents on which the cost is estimated
CANDIDATES = 2_000_000  # the most candidates that a pass may score, unless …
PER_DOCUMENT = 50  # … this number for each document is larger


def bearable(setting: Setting, settings: Settings, drawn: pa.Table, documents: int) -> Setting:
    """The setting without thresholds that are too expensive; its own threshold always stays."""
    own = setting.method.threshold
    sample = drawn.slice(0, SAMPLE)
    growth = (max(documents, len(sample)) / max(len(sample), 1)) ** 2
    most = max(CANDIDATES, PER_DOCUMENT * documents)
    for number, cut in enumerate(setting.cuts):
        wide = setting.wide if number == 0 else cut.of(setting.method)
        if (
            cut.threshold >= own
            or _candidates(sample, replace(settings, method=wide)) * growth <= most
        ):
            return replace(setting, wide=wide, cuts=setting.cuts[number:])
    return setting


def _candidates(sample: pa.Table, settings: Settings) -> int:
    plan = resolve(
        replace(settings, set={}, threshold=None, limit=None, kinds="none"), every_pair=True
    )
    names = {"id": plan.columns.id_name, "text": plan.columns.text}
    table = sample.select(
        [n for n in sample.column_names if n in names or n in plan.columns.delivered]
    )
    table = table.rename_columns([names.get(name, name) for name in table.column_names])
    return int(execute(Collection([arrow_source(table)]), plan).info["candidates"])
