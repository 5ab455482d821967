"""The documents of a run read again for what a policy asks of them, and checked.

Pairs were found in texts as they were then. If a document is gone, came or has another text or id,
the pairs are not its own any more, and that is an error. Other columns are taken as they are now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.documents import Collection, Columns, DocumentBatch
from neardup.documents.inputs import SOURCE, with_names
from neardup.errors import ChangedError, InputError
from neardup.methods.preparing import text_digests
from neardup.names import where
from neardup.outputs.result import Result
from neardup.schema import Array


@dataclass(frozen=True)
class Again:
    """``rows``: the accepted documents, as rows of the decisions. All else has an entry for each
    of them."""

    rows: Array
    lengths: Array
    columns: dict[str, pa.ChunkedArray]


def read_again(result: Result, collection: Collection, names: Sequence[str] = ()) -> Again:
    """``collection`` watches its files from now on: they must stay until all is written."""
    settings = result.info["settings"]
    columns = Columns(text=settings["text"], id=settings["id"], extra=tuple(names))
    gathered = _Gathered(result, collection)
    for chunk in collection.chunks(columns):
        gathered.add(chunk.read(), columns.extra)
        if gathered.total >= len(result.decisions) and collection.limit is not None:
            break
    gathered.check_all_seen()
    made = {name: gathered.column(name) for name in columns.extra}
    if SOURCE in made and collection.inputs.offered:
        given = collection.source_names
        names_of_files = [given[file] for file in gathered.files]
        made[SOURCE] = with_names(made[SOURCE], gathered.file_numbers, names_of_files)
    lengths = np.concatenate([np.empty(0, np.int64), *gathered.lengths])
    return Again(np.flatnonzero(gathered.accepted), lengths, made)


@dataclass
class _Gathered:
    result: Result
    collection: Collection
    total: int = 0
    lengths: list[Array] = field(default_factory=list)
    file: list[Array] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)
    parts: list[pa.RecordBatch] = field(default_factory=list)

    def __post_init__(self) -> None:
        decisions, digests = self.result.decisions, self.result.text_digests
        if digests is None:
            raise InputError(
                "This run does not say what its texts were, so no policy can be applied to it.",
                hint="make the run again with this version.",
            )
        self.digests = digests
        self.ids = decisions["id"].combine_chunks()
        self.accepted = np.asarray(pc.not_equal(decisions["decision"], schema.REJECTED))
        self.seen = np.zeros(len(decisions), np.bool_)

    def add(self, batch: DocumentBatch, names: Sequence[str]) -> None:
        position = self.total + batch.positions()
        self.total += len(batch)
        inside = position < len(self.accepted)
        inside[inside] = self.accepted[position[inside]]  # an id used twice was rejected by the run
        position, records = position[inside], batch.records.filter(pa.array(inside))
        texts = records.column("text")
        self._check(batch.file, position, records)
        self.seen[position] = True
        self.lengths.append(np.asarray(pc.utf8_length(texts)).astype(np.int64))
        number = self.files.setdefault(batch.file, len(self.files))
        self.file.append(np.full(len(position), number, np.int32))
        self.parts.append(records.select(list(names)))

    def _check(self, file: str, position: Array, records: pa.RecordBatch) -> None:
        same = _same_ids(records.column("id"), self.ids.take(pa.array(position)))
        same = same & (text_digests(records) == self.digests[position])
        if not same.all():
            row = records.column("row")[int(np.argmin(same))].as_py()
            at = where(file, row, self.collection.path_of(file, row))
            raise changed(f"{at}: the document is not the one that the run read")

    @property
    def file_numbers(self) -> Array:
        return np.concatenate([np.empty(0, np.int32), *self.file])

    def check_all_seen(self) -> None:
        more = self.total > len(self.accepted) and self.result.info["settings"]["limit"] is None
        if more or not np.array_equal(self.seen, self.accepted):
            raise changed(
                f"The run read {len(self.accepted):,} documents; the inputs now hold others"
            )

    def column(self, name: str) -> pa.ChunkedArray:
        tables = [pa.Table.from_batches([part.select([name])]) for part in self.parts]
        if not tables:
            return pa.chunked_array([], pa.null())
        return pa.concat_tables(tables, promote_options="permissive")[name]


def _same_ids(found: pa.Array, known: pa.Array) -> Array:
    """An id that several files have stands in the decisions after the name of its file."""
    same = np.array(pc.equal(found, known))
    for i in np.flatnonzero(~same).tolist():
        same[i] = str(known[i]).endswith(f":{found[i]}")
    return same


def changed(what: str) -> ChangedError:
    return ChangedError(f"{what}.", hint="the input has changed since; make the run again.")
