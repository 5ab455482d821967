"""Files as input of Spark: the driver lists pieces, and tasks read them with neardup's readers.

Documents, ids, columns and rejections are therefore those of a local run, and rows have their
numbers in the whole file. A source defines the parts into which it can be divided; in most formats
a file is one piece. All machines must reach the files by the same names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sql

from neardup.decisions.order import check_preferred
from neardup.documents.collection import Collection
from neardup.documents.columns import Columns, DocumentBatch
from neardup.documents.extraction.extractor import Extraction, Extractor
from neardup.documents.folder import FolderSource
from neardup.documents.inputs import SOURCE, Inputs, with_names
from neardup.documents.lost import LostSource
from neardup.documents.remote import Place
from neardup.documents.source import Source, readable
from neardup.engines.spark import positions
from neardup.engines.spark.session import spread
from neardup.engines.spark.spark_signing import Taken, Work
from neardup.errors import UnreadableError
from neardup.plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Piece:
    """``alone``: the only file of the input, so that an unreadable file is an error."""

    number: int
    name: str  # of the input
    source: Any
    offered: bool
    extraction: Extraction
    alone: bool

    def batches(self, columns: Columns) -> Iterator[DocumentBatch]:
        try:
            yield from self._read(self.source, columns)
        except UnreadableError as error:
            if self.alone:
                raise
            lost = LostSource(self.source.path, self.source.file, error)
            yield from self._read(lost, columns)

    def _read(self, source: Source, columns: Columns) -> Iterator[DocumentBatch]:
        inputs = Inputs((self.name,), self.offered)
        collection = Collection([source], None, inputs, Extractor(self.extraction))
        return (chunk.read() for chunk in collection.chunks(columns))


def pieces(spark: SparkSession, collection: Collection, range_bytes: int) -> list[Piece]:
    """The pieces in the order of the input."""
    alone = len(readable(collection.sources)) == 1
    extraction = replace(collection.extractor.extraction, workers=1)
    names, offered = collection.inputs.names, collection.inputs.offered
    listed = [
        Piece(number, names[number], part, offered, extraction, alone)
        for number, source in enumerate(collection.sources)
        for part in source.parts(range_bytes)
    ]
    return _with_rows(spark, listed)


def _with_rows(spark: SparkSession, listed: list[Piece]) -> list[Piece]:
    """The parts with their first rows; if these are unknown, tasks count the rows before."""
    counted = [i for i, piece in enumerate(listed) if getattr(piece.source, "first_row", 1) is None]
    if not counted:
        return listed
    numbered = [(i, listed[i].source) for i in counted]
    table = spread(spark, numbered, _counts, "piece bigint, rows bigint").toArrow()
    rows = {row["piece"]: row["rows"] for row in table.to_pylist()}
    file, first = -1, 1
    for i in counted:
        file, first = listed[i].number, first if listed[i].number == file else 1
        listed[i] = replace(listed[i], source=replace(listed[i].source, first_row=first))
        first += rows[i]
    return listed


def _counts(parts: Iterator[tuple[int, Any]]) -> Iterator[pa.RecordBatch]:
    for number, part in parts:
        yield pa.RecordBatch.from_pydict({"piece": [number], "rows": [part.rows()]})


RANGE_BYTES = 32 << 20


@dataclass
class FileInput:
    spark: SparkSession
    collection: Collection
    plan: Plan
    range_bytes: int = RANGE_BYTES
    own_sources: dict[int, bool] = field(default_factory=dict)
    upto: int | None = None  # the position of the last document, where there is a limit

    more_order = 0
    reads_again = True

    @property
    def files(self) -> list[str]:
        return self.collection.files

    @property
    def offered(self) -> bool:
        return self.collection.inputs.offered

    @property
    def sources(self) -> list[str]:
        names = self.collection.source_names
        return [names[file] for file in self.files]

    @property
    def paths(self) -> dict[int, list[str]]:
        return {
            number: [source.path_of(row) or "" for row in range(1, len(source.entries) + 1)]
            for number, source in enumerate(self.collection.sources)
            if isinstance(source, FolderSource)
        }

    def about(self) -> dict[str, Any]:
        paths = [source.path for source in self.collection.sources if hasattr(source, "path")]
        return {"files": self.files, "stamps": [_stamp(path) for path in paths]}

    def check(self, plan: Plan) -> None:
        self._pieces = pieces(self.spark, self.collection, self.range_bytes)
        if plan.limit is not None:
            self.upto = self._last(plan.limit)
        if self.collection.inputs.offered and SOURCE in plan.columns.delivered:
            self._look_at_sources(plan)

    def local(self) -> Collection:
        return self.collection.limited(self.plan.limit)

    def _last(self, limit: int) -> int | None:
        rows = positions.file_positions(self.mapped(_rows_of, "file int, row bigint"))
        last: Any = rows.orderBy("position").limit(limit).agg(sql.max("position")).first()
        return last[0] if last[0] is not None else None

    def _look_at_sources(self, plan: Plan) -> None:
        """Which files have their own column ``source``, and whether any preferred source occurs."""
        values = self.mapped(_sources_of, "file int, source string").distinct().collect()
        for row in values:
            self.own_sources[row["file"]] = row["source"] is not None or self.own_sources.get(
                row["file"], False
            )
        own = [row["source"] for row in values if row["source"] is not None]
        named = [self.sources[n] for n, has in self.own_sources.items() if not has]
        names = pa.chunked_array([pa.array([*own, *named], pa.large_string())])
        check_preferred(plan.keep, names, self.sources)

    def mapped(self, work: Work, schema: str) -> DataFrame:
        columns, upto, own = self.plan.columns, self.upto, dict(self.own_sources)

        def map_pieces(assigned: Iterator[Piece]) -> Iterator[pa.RecordBatch]:
            return work(_taken(assigned, columns, upto, own))

        return spread(self.spark, self._pieces, map_pieces, schema)

    def positions(
        self,
        documents: DataFrame,
        plan: Plan,  # noqa: ARG002 (protocol)
        keep: positions.Keep,  # noqa: ARG002
    ) -> DataFrame:
        return positions.file_positions(documents)


def _taken(
    assigned: Iterator[Piece], columns: Columns, upto: int | None, own: dict[int, bool]
) -> Iterator[Taken]:
    for piece in assigned:
        for batch in piece.batches(columns):
            named = _named(batch, piece, own)
            yield Taken(piece.number, _limited(named, piece.number, upto))


def _named(batch: DocumentBatch, piece: Piece, own: dict[int, bool]) -> DocumentBatch:
    """The chunk with the name of its input as source, if the file has no such value."""
    at = batch.records.schema.get_field_index(SOURCE)
    if at < 0 or own.get(piece.number, True):
        return batch
    column = pa.chunked_array([batch.records.column(at)])
    file = np.zeros(len(batch.records), np.int32)
    named = with_names(pa.chunked_array([pa.nulls(len(column), column.type)]), file, [piece.name])
    records = batch.records.set_column(at, SOURCE, named.combine_chunks())
    return replace(batch, records=records)


def _limited(batch: DocumentBatch, file: int, upto: int | None) -> DocumentBatch:
    if upto is None:
        return batch
    begin = file << positions.FILE_BITS
    fits = pa.array(begin + batch.records.column("row").to_numpy() <= upto)
    rejected = [lost for lost in batch.rejected if begin + lost.row <= upto]
    return replace(batch, records=batch.records.filter(fits), rejected=rejected)


def _rows_of(taken: Iterator[Taken]) -> Iterator[pa.RecordBatch]:
    for part in taken:
        lost = [r.row for r in part.batch.rejected]
        rows = np.concatenate([part.batch.records.column("row").to_numpy(), lost]).astype(np.int64)
        file = np.full(len(rows), part.file, np.int32)
        yield pa.RecordBatch.from_arrays([pa.array(file), pa.array(rows)], names=["file", "row"])


def _sources_of(taken: Iterator[Taken]) -> Iterator[pa.RecordBatch]:
    for part in taken:
        if len(part.batch.records):
            values = part.batch.records.column(SOURCE).unique().cast(pa.string())
            file = pa.array(np.full(len(values), part.file, np.int32))
            yield pa.RecordBatch.from_arrays([file, values], names=["file", "source"])


def _stamp(path: Place) -> list[Any]:
    try:
        about = path.stat() if isinstance(path, Path) else None
    except OSError:
        about = None
    return [str(path), about.st_size if about else None, about.st_mtime_ns if about else None]
