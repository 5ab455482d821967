"""The documents of an experiment, read once."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.decisions.values import plain
from neardup.documents import Columns, collect
from neardup.evaluation.gold import Gold
from neardup.evaluation.papers.experiment import Experiment, Figure, Options, Table
from neardup.evaluation.papers.passes import Matching, Pass
from neardup.methods.preparing import Reading, read_words
from neardup.progress import Progress
from neardup.text.options import Text


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
        values = (self.table if table is None else table)[name]
        return list(pc.fill_null(values, "(none)").to_pylist())

    def experiment(
        self,
        name: str,
        paper: str,
        settings: Mapping[str, Any],
        tables: Sequence[Table],
        figures: Sequence[Figure],
        **more: Any,
    ) -> Experiment:
        made = Experiment(name, paper, len(self), settings, tables, figures, **more)
        if not self.rejected:
            return made
        lost = f"{self.rejected:,} documents could not be read and were left out."
        return replace(made, notes=[lost, *made.notes])

    def find(self, table: pa.Table | None = None, **settings: Any) -> Pass:
        """All pairs by one method at one threshold, which should be the lowest that is wanted; of
        the documents as they are, or as ``table`` has them."""
        matching = Matching(self.options.workers, self.options.folder, self.progress)
        return matching.of(self.table if table is None else table, settings)


def read(inputs: Any, options: Options, progress: Progress) -> Material:
    extra = tuple(n for n in (options.date, options.source, *options.columns) if n)
    columns = Columns(text=options.text, id=options.id, extra=extra)
    collection = collect(inputs).limited(options.limit)
    progress.stage("reading", options.limit, "documents", collection.plain_size())
    parts, seen, rejected = [_as_text(_nothing())], 0, 0
    for chunk in collection.chunks(columns):
        batch = chunk.read()
        parts.append(_as_text(batch.records))
        seen += len(batch.records)
        rejected += len(batch.rejected)
        progress.advance(len(batch), batch.size)
        if options.limit and seen >= options.limit:
            break
    table = pa.concat_tables(parts, promote_options="default")
    return Material(table.slice(0, options.limit), rejected, options, progress)


def _nothing() -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema=schema.documents())


def _as_text(batch: pa.RecordBatch) -> pa.Table:
    """All columns as text: inputs of several forms may have one column in several types."""
    names = [name for name in batch.schema.names if name != "row"]
    values = [plain(batch.column(name), name).cast(pa.large_string()) for name in names]
    return pa.table(values, names=names)
