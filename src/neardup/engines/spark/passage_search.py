"""The passages of files on Spark: the answer of ``passages/search.py``, documents compared apart.

What a document is compared with depends on the copies of those before it, because grams inside a
copy are not stored. So the comparison is repeated until nothing changes
(``native/passages/seed_lists.hpp``): one step lists, for each gram, the places where it is stored,
and the next compares every document with its lists and gives the grams that it does not store.

Tasks read the files and hold the words; what a task makes of them is in ``passage_tasks.py``. The
driver holds what it holds in a local run, but no words: the
ids, lengths and columns of the documents, their order, and the copies that were found.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import functions as sql

from neardup.arguments import PassageArguments
from neardup.documents import Collection, Columns, collect
from neardup.engines.spark import passage_tasks as tasks
from neardup.engines.spark.passage_tasks import (
    COPIES,
    PACKED,
    Numbering,
    Numbers,
    as_words,
    rows_in,
)
from neardup.engines.spark.session import as_ours, lent, session, spread
from neardup.engines.spark.spark_files import RANGE_BYTES, Piece, pieces
from neardup.errors import UsageError
from neardup.passages.cleanup import FLOOR, USUAL, Cleaned, Cleaning, cleaned
from neardup.passages.passage_settings import PassageSettings, settings_of
from neardup.passages.passage_tables import Engine, Passages, passages_of
from neardup.passages.provenance import MIN_WORDS, Compared, Comparison, Traced, traced
from neardup.passages.search import (
    Again,
    Copied,
    Documents,
    Found,
    Words,
    Workspace,
    as_before,
    first_documents,
    places_of,
    words_in,
)
from neardup.passages.traces import Traces
from neardup.progress import LOG, Progress, Silent
from neardup.schema import Ragged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PARTS = 20  # bits of a key that count the batches of a piece
_BUCKET_WORDS = 2_000_000  # about 60 MB of grams that occur twice, with their contexts
T = TypeVar("T")


@dataclass
class SparkFound(Found):
    """Passages whose documents tasks read again."""

    spark: SparkSession
    pieces: Sequence[Piece]
    keys: npt.NDArray[np.int64]  # of the batches
    rounds: int

    def again(self, work: Again[T]) -> Iterator[T]:
        documents, starts = self.documents, self.documents.starts
        numbers = np.searchsorted(self.keys, np.arange(len(self.pieces) + 1) << _PARTS)
        items = []
        for i, piece in enumerate(self.pieces):
            begin, end = int(numbers[i]), int(numbers[i + 1])
            before = [(documents.files[n][0], documents.rows[n]) for n in range(begin, end)]
            part = work.part(starts[begin], starts[end])
            items.append((i, piece, starts[begin], before, part))
        columns = documents.settings.columns

        def read(assigned: Iterator[Any]) -> Iterator[pa.RecordBatch]:
            for i, piece, first, before, part in assigned:
                for n, batch in enumerate(piece.batches(columns)):
                    if n < len(before):
                        result = part(first, as_before(batch, *before[n]))
                        first += len(before[n][1])
                        yield _row_of(i << _PARTS | n, pickle.dumps(result))

        with as_ours(), lent(self.spark):
            table = spread(self.spark, items, read, PACKED).toArrow().sort_by("key")
        for data in table.column("data"):
            yield pickle.loads(data.as_py())


def _row_of(key: int, data: bytes) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"key": [key], "data": [data]})


def passages(
    documents: Any, *, spark: SparkSession | None = None, **settings: Unpack[PassageArguments]
) -> Passages:
    """``neardup.passages`` of files that all machines reach, with the same answer."""
    engine = searching(session(spark))
    return passages_of(collect(documents), settings_of(dict(settings)), engine=engine)


def clean(
    documents: Any,
    *,
    spark: SparkSession | None = None,
    remove: Sequence[str] = USUAL,
    floor: int = FLOOR,
    annotate: bool = False,
    spare: Sequence[int] = (),
    **settings: Unpack[PassageArguments],
) -> Cleaned:
    """``neardup.clean`` of files that all machines reach; the driver writes the documents."""
    wanted = settings_of({"unit": "sentence", **settings})
    cleaning = Cleaning(tuple(remove), floor, annotate, spare)
    return cleaned(collect(documents), wanted, cleaning, engine=searching(session(spark)))


def trace(
    documents: Any,
    against: Any,
    *,
    spark: SparkSession | None = None,
    **settings: Unpack[PassageArguments],
) -> Traces:
    """``neardup.trace`` against files that all machines reach; tasks hold the documents."""
    wanted = settings_of({"min_words": MIN_WORDS, **settings})
    engine = comparing(session(spark))
    return traced(collect(documents), collect(against), wanted, engine=engine)


def searching(spark: SparkSession, range_bytes: int = RANGE_BYTES) -> Engine:
    """``search`` of ``passages/search.py`` on Spark."""

    def search(
        collection: Collection,
        settings: PassageSettings,
        progress: Progress | None = None,
        workspace: Workspace | None = None,
    ) -> Found:
        if workspace and workspace.journal:
            raise UsageError("--resume is for runs on this machine.", hint="leave it out.")
        with as_ours(), lent(spark):
            return _searched(spark, collection, settings, progress or Silent(), range_bytes)

    return search


def comparing(spark: SparkSession, range_bytes: int = RANGE_BYTES) -> Comparison:
    """``compare`` of ``passages/provenance.py`` on Spark: each task has the traced documents."""

    def compare(wanted: Traced, against: Collection, progress: Progress) -> Iterator[Compared]:
        progress.stage("comparing")
        columns = Columns(wanted.settings.text, wanted.settings.id)
        with as_ours(), lent(spark):
            listed = enumerate(pieces(spark, against, range_bytes))
            shared = spark.sparkContext.broadcast(wanted)

            def work(assigned: Iterator[tuple[int, Piece]]) -> Iterator[pa.RecordBatch]:
                for i, piece in assigned:
                    for n, batch in enumerate(piece.batches(columns)):
                        compared = pickle.dumps(shared.value.compared(batch))
                        yield _row_of(i << _PARTS | n, compared)

            table = spread(spark, list(listed), work, PACKED).toArrow().sort_by("key")
        return (pickle.loads(data.as_py()) for data in table.column("data"))

    return compare


def _searched(
    spark: SparkSession,
    collection: Collection,
    settings: PassageSettings,
    shown: Progress,
    range_bytes: int,
) -> SparkFound:
    shown.stage("reading")
    listed = pieces(spark, collection, range_bytes)
    numbered = list(enumerate(listed))
    schema = f"{PACKED}, about binary"
    words = spread(spark, numbered, partial(_read, settings.columns), schema)
    words = words.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        documents, keys = _documents(words, collection, settings)
        total = int(documents.numbers("words").sum())
        buckets = 1 + total // _BUCKET_WORDS
        numbering = Numbering(keys, np.array(documents.starts), documents.rank(), buckets)
        read = words.where(f"key <= {int(keys.max(initial=0))}")  # up to the limit
        rounds = Rounds(read, numbering, settings)
        copies = rounds.copies(shown)
        order = np.argsort(numbering.rank[copies[:, Copied.DOCUMENT]], kind="stable")
        kernel = settings.kernel()
        kernel.adopt(np.ascontiguousarray(copies[order]).reshape(-1))
        rounds.release()
    finally:
        words.unpersist()
    return SparkFound(documents, *places_of(kernel), spark, listed, keys, rounds.rounds)


def _read(columns: Columns, assigned: Iterator[tuple[int, Piece]]) -> Iterator[pa.RecordBatch]:
    """The words of each batch, and what the driver has to know of it."""
    for i, piece in assigned:
        for n, batch in enumerate(piece.batches(columns)):
            words = words_in(batch)
            records = batch.records
            text = records.schema.get_field_index("text")
            bare = replace(batch, records=records.remove_column(text))
            about = pickle.dumps((bare, words.hashes.offsets, words.lengths))
            row = _row_of(i << _PARTS | n, as_words(words.hashes))
            yield row.append_column("about", pa.array([about], pa.binary()))


def _documents(
    words: DataFrame, collection: Collection, settings: PassageSettings
) -> tuple[Documents, npt.NDArray[np.int64]]:
    """The documents without texts and words, and the keys of their batches."""
    table = words.select("key", "about").toArrow().sort_by("key")
    documents, keys = Documents(collection, settings), []
    for key, about in zip(*(table.column(n).to_pylist() for n in ("key", "about")), strict=True):
        bare, offsets, lengths = pickle.loads(about)
        batch = Words(bare, Ragged(np.empty(0, np.uint32), offsets), lengths)
        if settings.limit is not None:
            batch = first_documents(batch, settings.limit - documents.total)
        documents.add(batch)
        keys.append(key)
        if documents.total == settings.limit:
            break
    return documents, np.array(keys, np.int64)


class Rounds:
    """One search: the words, the grams that occur twice, and the rounds over them."""

    def __init__(self, words: DataFrame, numbering: Numbering, settings: PassageSettings) -> None:
        self._words, self._settings = words.select("key", "data"), settings
        context: Any = words.sparkSession.sparkContext
        self._numbering = context.broadcast(numbering)
        self._kept: list[DataFrame] = []
        self.rounds = 0

    def _keep(self, frame: DataFrame) -> DataFrame:
        self._kept.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
        return self._kept[-1]

    def _joined(
        self, left: DataFrame, right: DataFrame, task: Callable[..., pa.Table]
    ) -> DataFrame:
        numbering, settings = self._numbering, self._settings

        def work(some: pa.Table, others: pa.Table) -> pa.Table:
            return task(numbering.value, settings, some, others)

        return left.groupBy("key").cogroup(right.groupBy("key")).applyInArrow(work, PACKED)

    def _grouped(self, frame: DataFrame, task: Callable[..., pa.Table]) -> DataFrame:
        numbering, settings = self._numbering, self._settings

        def work(table: pa.Table) -> pa.Table:
            return task(numbering.value, settings, table)

        return frame.groupBy("key").applyInArrow(work, PACKED)

    def _mapped(self, frame: DataFrame, task: Callable[..., pa.Table]) -> DataFrame:
        numbering, settings = self._numbering, self._settings

        def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for row in range(len(batch)):
                    alone = pa.Table.from_batches([batch.slice(row, 1)])
                    yield from task(numbering.value, settings, alone).to_batches()

        return frame.mapInArrow(work, PACKED)

    def copies(self, shown: Progress) -> Numbers:
        """The copies of all documents, in the order of reading."""
        repeated = self._grouped(self._mapped(self._words, tasks.seeds), tasks.shared)
        grams = self._keep(self._joined(repeated, self._words, tasks.occurrences))
        lists = self._keep(self._grouped(grams, tasks.lists))
        before, now = None, _digest(lists)
        while now != before:
            self.rounds += 1
            shown.stage(f"comparing, round {self.rounds}")
            needed = self._mapped(lists, tasks.needs)
            asked = self._joined(needed, self._words, tasks.words_asked)
            compared = self._keep(self._joined(lists, asked, tasks.compared))
            lists = self._keep(self._joined(grams, compared.where("key >= 0"), tasks.lists))
            before, now = now, _digest(lists)
            LOG.info("passages: round %s", self.rounds)
        return rows_in(compared.where(f"key = {COPIES}").toArrow(), Copied.COUNT)

    def release(self) -> None:
        for frame in self._kept:
            frame.unpersist()


def _digest(frame: DataFrame) -> tuple[Any, ...]:
    found: Any = frame.agg(sql.count("*"), sql.bit_xor(sql.xxhash64("key", "data"))).first()
    return tuple(found)
