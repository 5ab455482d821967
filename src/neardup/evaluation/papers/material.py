"""The documents of an experiment, read once, and the pairs of one matching pass over them.

Thresholds are cuts of a pass at the lowest one: ``Pass.at``.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.api import execute
from neardup.documents import Columns, collect
from neardup.evaluation.gold import Gold
from neardup.evaluation.papers.experiment import Options
from neardup.evaluation.scored import ScoredPairs, of_result
from neardup.methods.preparing import Reading, read_words
from neardup.outputs.result import Result
from neardup.plan import resolve, settings_of
from neardup.progress import Progress
from neardup.recipes import with_recipe
from neardup.schema import KINDS, Array
from neardup.text.options import Text

UNCLASSIFIED = "not classified"
TOLD = ("method", "parameters", "resolved", "signature")  # of the settings: what scores depend on


@dataclass(frozen=True)
class Material:
    """``table``: id, text and the columns asked for, a row a document, in the order read."""

    table: pa.Table
    rejected: int
    options: Options
    progress: Progress

    def __len__(self) -> int:
        return len(self.table)

    @functools.cached_property
    def reading(self) -> Reading:
        """The words of all documents, and digests of what is equal."""
        batches = self.table.select(["id", "text"]).combine_chunks().to_batches()
        empty = pa.record_batch({"text": pa.array([], pa.large_string())})
        return read_words(batches[0] if batches else empty, Text())

    @functools.cached_property
    def gold(self) -> Gold | None:
        """Texts that are equal after normalisation are never wrong pairs."""
        if self.options.gold is None:
            return None
        same = np.unique(self.reading.normal_digests, return_inverse=True)[1]
        return self.options.gold(self.table, same)

    def column(self, name: str, table: pa.Table | None = None) -> list[str]:
        """Values as people read them; missing ones are "(none)". Of another table on request."""
        values = (self.table if table is None else table)[name].cast(pa.large_string())
        return list(pc.fill_null(values, "(none)").to_pylist())

    def find(self, **settings: Any) -> Pass:
        """All pairs by one method at one threshold, which should be the lowest that is wanted."""
        return found_in(self.table, self.options.workers, self.progress, settings)


def read(inputs: Any, options: Options, progress: Progress) -> Material:
    extra = tuple(n for n in (options.date, options.source, *options.columns) if n)
    columns = Columns(text=options.text, id=options.id, extra=extra)
    collection = collect(inputs).limited(options.limit)
    progress.stage("reading", options.limit, "documents", collection.plain_size())
    batches, rejected = [], 0
    for chunk in collection.chunks(columns):
        batch = chunk.read()
        batches.append(batch.records)
        rejected += len(batch.rejected)
        progress.advance(len(batch), batch.size)
        if options.limit and sum(map(len, batches)) >= options.limit:
            break
    table = pa.Table.from_batches(batches) if batches else pa.table({"id": [], "text": []})
    return Material(table.slice(0, options.limit), rejected, options, progress)


def found_in(
    table: pa.Table, workers: int | None, progress: Progress, settings: Mapping[str, Any]
) -> Pass:
    given = with_recipe({"workers": workers, "id": "id", **settings})
    plan = resolve(settings_of(given), every_pair=True)
    result = execute(collect(table), plan, progress=progress)
    pairs = of_result(result)
    told = plan.describe()
    return Pass(pairs, _kinds(result, pairs), {name: told[name] for name in TOLD})


def _kinds(result: Result, pairs: ScoredPairs) -> npt.NDArray[np.object_]:
    """In the order of the scored pairs."""
    ids = result.decisions["id"].combine_chunks()
    a, b = (np.asarray(pc.index_in(result.pairs[side], ids)).astype(np.int64) for side in "ab")
    order = np.lexsort((np.maximum(a, b), np.minimum(a, b)))
    kinds = pc.fill_null(result.pairs["kind"].cast(pa.string()), UNCLASSIFIED)
    return np.array(kinds.to_pylist(), dtype=object)[order].reshape(len(pairs))


@dataclass(frozen=True)
class Pass:
    """The scored pairs of one matching pass, each with its kind."""

    pairs: ScoredPairs
    kind: npt.NDArray[np.object_]
    settings: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def documents(self) -> int:
        return self.pairs.documents

    @property
    def a(self) -> Array:
        return self.pairs.a

    @property
    def b(self) -> Array:
        return self.pairs.b

    def at(self, threshold: float) -> Pass:
        """The pairs of a pass at a higher threshold."""
        chosen = self.pairs.score >= threshold
        return Pass(self.pairs.at(threshold), self.kind[chosen], self.settings)

    def where(self, chosen: Array) -> Pass:
        return Pass(self.pairs.where(chosen), self.kind[chosen], self.settings)

    def keys(self) -> npt.NDArray[np.int64]:
        """One number a pair, to compare passes."""
        keys: npt.NDArray[np.int64] = self.a * self.documents + self.b
        return keys


def kind_names() -> tuple[str, ...]:
    """All kinds, most alike first; pairs without one come last."""
    return (*KINDS, UNCLASSIFIED)


def set_kinds(sets: Array, found: Pass) -> npt.NDArray[Any]:
    """Of each set, the least alike kind among its pairs."""
    order = {name: i for i, name in enumerate(kind_names())}
    inside = (sets[found.a] >= 0) & (sets[found.a] == sets[found.b])
    worst = np.zeros(int(sets.max(initial=-1)) + 1, np.int64)
    codes = np.array([order[name] for name in found.kind[inside]], np.int64)
    np.maximum.at(worst, sets[found.a[inside]], codes)
    return np.array(kind_names(), dtype=object)[worst]
