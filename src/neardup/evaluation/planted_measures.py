"""What one matching pass over the collection with its planted copies and traps shows.

*Recall*: the share of copies that were paired with their original, for each edit and rate. *False
alarms*: pairs of a copy with something else than its original, what its original itself resembles
at the lowest threshold, or whom a passage was taken from. *Traps*: the share of pairs of one
template, or of one form, that passed. *Background*: the pairs of documents of the collection
itself; whether they are right is not known here. Thresholds are cuts of the scores of that one
pass.

How low a threshold one pass can bear.

Where unrelated texts share half their features, as with character grams, a pass at 0.3 compares
nearly all pairs. What it would cost is seen on a few documents: candidates grow with the square of
the collection.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.documents import Collection
from neardup.documents.memory_tables import arrow_source
from neardup.engines.execution import execute
from neardup.evaluation.scored_pairs import ScoredPairs, of_result
from neardup.evaluation.swept_settings import Setting
from neardup.plan import resolve
from neardup.planting.forms import FORM
from neardup.runs.result import Result
from neardup.schema import Array, Ragged, offsets_of
from neardup.settings import Settings

NOT_FOUND = -1.0


@dataclass(frozen=True)
class EditCell:
    """Copies of one edit at one rate, or traps of one share of frame; ``score`` of each with its
    partner, ``NOT_FOUND`` below the lowest threshold."""

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
    """``alarms`` are the scores of false alarms, ``alarmed`` the best one of each copy;
    ``background`` are the scores of pairs of the collection itself."""

    cells: list[EditCell]
    traps: list[EditCell]
    alarms: Array
    alarmed: Array
    background: Array
    documents: int
    lowest: float
    complete: bool


def measure(result: Result, copies: pa.Table, traps: pa.Table) -> Measures:
    """Copies and then traps are the first documents of the run, in this order."""
    pairs = of_result(result)
    own = len(copies)
    first = own + len(traps)
    inside = (pairs.a >= first) & (pairs.b >= first)
    known = _Known.of(result, pairs.where(inside), [copies, traps])
    score = _partner_scores(pairs, np.arange(own), known.numbers(copies["of"]))
    alarm = _alarms(pairs, own, first, known)
    best = np.full(pairs.documents, NOT_FOUND)
    for side in (pairs.a, pairs.b):
        np.maximum.at(best, side[alarm], pairs.score[alarm])
    return Measures(
        cells=_cells(copies, score),
        traps=_trap_cells(pairs, own, traps, known),
        alarms=pairs.score[alarm],
        alarmed=best[:own],
        background=pairs.score[inside],
        documents=pairs.documents - first,
        lowest=pairs.lowest,
        complete=pairs.complete,
    )


@dataclass(frozen=True)
class _Known:
    """``roots``: whose text each document has; its own, or for a copy or trap those of the
    originals it was made from. ``alike`` are pairs of originals, as one sorted number each."""

    ids: pa.Array
    roots: Ragged
    alike: Array

    @classmethod
    def of(cls, result: Result, inside: ScoredPairs, added: list[pa.Table]) -> _Known:
        decisions = result.decisions
        accepted = pc.not_equal(decisions["decision"], schema.REJECTED).combine_chunks()
        ids = decisions["id"].combine_chunks()
        ids = pc.if_else(accepted, ids, pa.scalar(None, ids.type))  # repeated ones are rejected
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
        """Whether any root of one is, or resembles, any root of the other."""
        many_a, many_b = self.roots.lengths[a], self.roots.lengths[b]
        count = many_a * many_b
        pair = np.repeat(np.arange(len(a)), count)
        step = np.arange(len(pair)) - np.repeat(offsets_of(count)[:-1], count)
        x = self.roots.values[self.roots.offsets[a][pair] + step // many_b[pair]]
        y = self.roots.values[self.roots.offsets[b][pair] + step % many_b[pair]]
        key = np.minimum(x, y) * len(self.ids) + np.maximum(x, y)
        found = np.zeros(len(a), bool)
        found[pair[(x == y) | np.isin(key, self.alike)]] = True
        return found


def _numbers(names: pa.ChunkedArray | pa.Array, ids: pa.Array) -> Array:
    found = pc.index_in(names, ids)
    return np.asarray(pc.fill_null(found, -1)).astype(np.int64)


def _partner_scores(pairs: ScoredPairs, documents: Array, partner: Array) -> Array:
    """The score of each document with its partner; both by number."""
    total = pairs.documents
    wanted = np.minimum(documents, partner) * total + np.maximum(documents, partner)
    key = pairs.a * total + pairs.b  # sorted, as the pairs are
    at = np.minimum(np.searchsorted(key, wanted), max(len(key) - 1, 0))
    if not len(key):
        return np.full(len(documents), NOT_FOUND)
    return np.where(key[at] == wanted, pairs.score[at], NOT_FOUND)


def _alarms(pairs: ScoredPairs, own: int, first: int, known: _Known) -> Array:
    """Pairs of a copy with a copy or a document, but for those that are related. Pairs of traps
    are counted apart."""
    trap = ((pairs.a >= own) & (pairs.a < first)) | ((pairs.b >= own) & (pairs.b < first))
    alarm = ((pairs.a < own) | (pairs.b < own)) & ~trap
    rows = np.flatnonzero(alarm)
    alarm[rows] = ~known.related(pairs.a[rows], pairs.b[rows])
    return alarm


def _trap_cells(pairs: ScoredPairs, own: int, traps: pa.Table, known: _Known) -> list[EditCell]:
    """Neighbouring rows are a pair. One whose content is alike after all is no trap; two fillings
    of a form have their frame from one document, and no content of it."""
    left = own + np.arange(0, len(traps), 2)
    form = np.asarray(pc.equal(traps["edit"], FORM))[::2].astype(bool)
    fair = form | ~known.related(left, left + 1)
    table = traps.take(pa.array(left[fair] - own))
    return _cells(table, _partner_scores(pairs, left[fair], left[fair] + 1))


def _cells(table: pa.Table, score: Array) -> list[EditCell]:
    """In the order in which edits and rates first stand in the table."""
    rows: dict[tuple[str, float, str | None], list[int]] = {}
    columns = (table[name].to_pylist() for name in ("edit", "rate", "kind"))
    for number, key in enumerate(zip(*columns, strict=True)):
        rows.setdefault(key, []).append(number)
    return [EditCell(*key, score[np.array(some)]) for key, some in rows.items()]


SAMPLE = 200  # documents to try it on
CANDIDATES = 2_000_000  # to score at most, or so many …
PER_DOCUMENT = 50  # … for each document


def bearable(setting: Setting, settings: Settings, drawn: pa.Table, documents: int) -> Setting:
    """Without the cuts that are too low; never without the setting's own."""
    own = setting.method.threshold
    few = drawn.slice(0, SAMPLE)
    growth = (max(documents, len(few)) / max(len(few), 1)) ** 2
    most = max(CANDIDATES, PER_DOCUMENT * documents)
    for number, cut in enumerate(setting.cuts):
        wide = setting.wide if number == 0 else cut.of(setting.method)
        if (
            cut.threshold >= own
            or _candidates(few, replace(settings, method=wide)) * growth <= most
        ):
            return replace(setting, wide=wide, cuts=setting.cuts[number:])
    return setting


def _candidates(few: pa.Table, settings: Settings) -> int:
    plan = resolve(
        replace(settings, set={}, threshold=None, limit=None, kinds="none"), every_pair=True
    )
    names = {"id": plan.columns.id_name, "text": plan.columns.text}
    table = few.select([n for n in few.column_names if n in names or n in plan.columns.delivered])
    table = table.rename_columns([names.get(name, name) for name in table.column_names])
    return int(execute(Collection([arrow_source(table)]), plan).info["candidates"])
