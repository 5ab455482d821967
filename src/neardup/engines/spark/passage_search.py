"""The passages of files on Spark: the answer of ``passages/search.py``, documents compared apart.

What a document is compared with depends on the copies of those before it, because grams inside a
copy are not stored. So the comparison is repeated until nothing changes
(``native/passages/seed_lists.hpp``): one step lists, for each gram, the places where it is stored,
and the next compares every document with its lists and gives the grams that it does not store.

Tasks read the files and hold the words. Rows between tasks are a key and packed numbers: a bucket
of grams, or a batch of documents. The driver holds what it holds in a local run, but no words: the
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

from neardup import _native
from neardup.arguments import PassageArguments
from neardup.documents import Collection, Columns, collect
from neardup.engines.spark.session import as_ours, lent, session, spread
from neardup.engines.spark.spark_columns import as_rows
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
from neardup.schema import Array, Ragged, offsets_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Numbers = npt.NDArray[np.uint32]
PACKED = "key bigint, data binary"
_PARTS = 20  # bits of a key that count the batches of a piece
_BUCKET_WORDS = 2_000_000  # about 60 MB of grams that occur twice, with their contexts
_COPIES = -1  # the key of copies, beside buckets of grams
_LIST, _COVERED = 4, 3  # numbers of a row
_PLACE = 7  # numbers of an occurrence, in front of its context
T = TypeVar("T")


def packed(keys: Array, rows: Array) -> pa.Table:
    """Rows of numbers, those with the same key together."""
    order = np.argsort(keys, kind="stable")
    distinct, counts = np.unique(keys, return_counts=True)
    rows = np.ascontiguousarray(rows[order], np.uint32)
    data = Ragged(rows.reshape(-1), offsets_of(counts * rows.shape[1] if len(rows) else counts))
    values = [
        data.values[b:e].tobytes() for b, e in zip(data.offsets, data.offsets[1:], strict=False)
    ]
    return pa.table({"key": pa.array(distinct, pa.int64()), "data": pa.array(values, pa.binary())})


def rows_in(table: pa.Table, width: int) -> Numbers:
    column = table.column("data").combine_chunks()
    return as_rows(column, np.uint32).values.reshape(-1, width)


@dataclass(frozen=True)
class Numbering:
    """The documents of each batch, by number, and where they stand in the order of ``keep``."""

    keys: npt.NDArray[np.int64]  # of the batches, sorted
    starts: npt.NDArray[np.int64]  # the first document of each batch, and the number of all
    rank: npt.NDArray[np.int64]
    buckets: int

    def batch_of(self, numbers: Array) -> npt.NDArray[np.int64]:
        found: npt.NDArray[np.int64] = self.keys[
            np.searchsorted(self.starts, numbers, side="right") - 1
        ]
        return found

    def documents(self, key: int, data: bytes) -> tuple[int, Ragged]:
        """The number of the first document of a batch, and the words of all; ``data`` has their
        lengths, then the words."""
        at = int(np.searchsorted(self.keys, key))
        first, count = int(self.starts[at]), int(self.starts[at + 1] - self.starts[at])
        numbers = np.frombuffer(data, np.uint32)
        lengths = numbers[1 : 1 + int(numbers[0])].astype(np.int64)
        return first, Ragged(numbers[1 + len(lengths) :], offsets_of(lengths[:count]))


def _as_words(hashes: Ragged) -> bytes:
    head = np.concatenate([[len(hashes)], hashes.lengths]).astype(np.uint32)
    return head.tobytes() + hashes.values[: hashes.offsets[-1]].astype(np.uint32).tobytes()


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
            row = _row_of(i << _PARTS | n, _as_words(words.hashes))
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
        shared = self._grouped(self._mapped(self._words, _seeds), _shared)
        grams = self._keep(self._joined(shared, self._words, _occurrences))
        lists = self._keep(self._grouped(grams, _lists))
        before, now = None, _digest(lists)
        while now != before:
            self.rounds += 1
            shown.stage(f"comparing, round {self.rounds}")
            asked = self._joined(self._mapped(lists, _needs), self._words, _words_asked)
            compared = self._keep(self._joined(lists, asked, _compared))
            lists = self._keep(self._joined(grams, compared.where("key >= 0"), _lists))
            before, now = now, _digest(lists)
            LOG.info("passages: round %s", self.rounds)
        return rows_in(compared.where(f"key = {_COPIES}").toArrow(), Copied.COUNT)

    def release(self) -> None:
        for frame in self._kept:
            frame.unpersist()


def _digest(frame: DataFrame) -> tuple[Any, ...]:
    found: Any = frame.agg(sql.count("*"), sql.bit_xor(sql.xxhash64("key", "data"))).first()
    return tuple(found)


def _seeds(numbering: Numbering, settings: PassageSettings, words: pa.Table) -> pa.Table:
    """The sampled grams of a batch, by bucket: tag, document, position."""
    first, hashes = numbering.documents(*_row(words))
    positions, tags, ends = settings.kernel().seeds(hashes.values, hashes.offsets)
    documents = first + np.repeat(np.arange(len(hashes)), np.diff(ends))
    return packed(tags % numbering.buckets, np.stack([tags, documents, positions], 1))


def _row(table: pa.Table) -> tuple[int, bytes]:
    return table.column("key")[0].as_py(), table.column("data")[0].as_py()


def _shared(numbering: Numbering, _settings: PassageSettings, grams: pa.Table) -> pa.Table:
    """The grams that occur at least twice, by the batch of their document."""
    rows = rows_in(grams, 3)
    _, inverse, counts = np.unique(rows[:, 0], return_inverse=True, return_counts=True)
    rows = rows[counts[inverse] > 1]
    return packed(numbering.batch_of(rows[:, 1]), rows)


def _occurrences(
    numbering: Numbering, settings: PassageSettings, grams: pa.Table, words: pa.Table
) -> pa.Table:
    """The same with the words around them, by bucket."""
    around, gram = _native.CONTEXT_WORDS, settings.gram
    if not len(grams):
        return packed(np.empty(0, np.int64), np.empty((0, 1), np.uint32))
    tags, documents, positions = rows_in(grams, 3).astype(np.int64).T
    first, hashes = numbering.documents(*_row(words))
    behind = hashes.lengths[documents - first] - positions
    at = hashes.offsets[documents - first] + positions
    places = np.clip(at[:, None] + np.arange(-around, gram + around), 0, len(hashes.values) - 1)
    left, right = np.minimum(positions, around), np.minimum(behind, around + gram)
    ends = positions <= around, behind <= around + gram
    known = np.stack([tags, documents, positions, left, right, *ends], 1)
    return packed(tags % numbering.buckets, np.concatenate([known, hashes.values[places]], 1))


def _keys_of(documents: Array, positions: Array) -> npt.NDArray[np.int64]:
    return documents.astype(np.int64) << 32 | positions


def _lists(
    numbering: Numbering,
    settings: PassageSettings,
    grams: pa.Table,
    covered: pa.Table | None = None,
) -> pa.Table:
    """The places where each gram was stored before, by the batch of its document; ``covered`` are
    grams that were not stored in the round before."""
    width = _PLACE + 2 * _native.CONTEXT_WORDS + settings.gram
    rows = rows_in(grams, width)
    rows = rows[np.lexsort((rows[:, 2], numbering.rank[rows[:, 1]], rows[:, 0]))]
    marks = None
    if covered is not None:
        gone = rows_in(covered, _COVERED)
        marks = np.isin(_keys_of(rows[:, 1], rows[:, 2]), _keys_of(gone[:, 0], gone[:, 1]))
    places, contexts = (np.ascontiguousarray(r) for r in (rows[:, :_PLACE], rows[:, _PLACE:]))
    found = settings.kernel().seed_lists(
        places.reshape(-1), contexts.reshape(-1), None if marks is None else marks.view(np.uint8)
    )
    lists = found.reshape(-1, _LIST)
    return packed(numbering.batch_of(lists[:, 0]), lists)


_NONE = np.uint32(0xFFFFFFFF)


def _needs(numbering: Numbering, _settings: PassageSettings, lists: pa.Table) -> pa.Table:
    """The documents whose words a batch needs, by their own batch: document, batch."""
    key, _ = _row(lists)
    rows = rows_in(lists, _LIST)
    documents = np.unique(np.concatenate([rows[:, 0], rows[rows[:, 2] != _NONE, 2]]))
    batch = np.full(len(documents), np.searchsorted(numbering.keys, key))
    return packed(numbering.batch_of(documents), np.stack([documents, batch], 1))


def _words_asked(
    numbering: Numbering, _settings: PassageSettings, asked: pa.Table, words: pa.Table
) -> pa.Table:
    """Words of documents, by the batch that asked for them."""
    if not len(asked):
        return packed(np.empty(0, np.int64), np.empty((0, 1), np.uint32))
    first, hashes = numbering.documents(*_row(words))
    wanted = np.unique(rows_in(asked, 2), axis=0)
    batches = np.unique(wanted[:, 1])
    data = []
    for batch in batches.tolist():
        documents = wanted[wanted[:, 1] == batch, 0]
        chosen = hashes.take(documents.astype(np.int64) - first)
        data.append(documents.tobytes() + _as_words(chosen))
    # The number of the documents stands behind their numbers, so the row begins with it, too.
    sizes = [np.uint32(np.count_nonzero(wanted[:, 1] == batch)).tobytes() for batch in batches]
    rows = [size + each for size, each in zip(sizes, data, strict=True)]
    keys = pa.array(numbering.keys[batches], pa.int64())
    return pa.table({"key": keys, "data": pa.array(rows, pa.binary())})


def _compared(
    numbering: Numbering, settings: PassageSettings, lists: pa.Table, asked: pa.Table
) -> pa.Table:
    """The copies in the documents of a batch, and the grams that they do not store."""
    numbers, words = _asked_words(asked)
    kernel = settings.kernel()
    kernel.borrow(words.values, words.offsets)
    rows = rows_in(lists, _LIST)
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    rows[:, 0] = np.searchsorted(numbers, rows[:, 0])
    known = rows[:, 2] != _NONE
    rows[known, 2] = np.searchsorted(numbers, rows[known, 2])
    covered = kernel.listed(rows.reshape(-1), numbers).reshape(-1, _COVERED)
    covered[:, 0] = numbers[covered[:, 0]]
    copies = kernel.copies().reshape(-1, Copied.COUNT)
    for column in (Copied.DOCUMENT, Copied.SOURCE):
        copies[:, column] = numbers[copies[:, column]]
    found = packed(np.full(len(copies), _COPIES), copies)
    return pa.concat_tables([found, packed(covered[:, 2] % numbering.buckets, covered)])


def _asked_words(asked: pa.Table) -> tuple[Numbers, Ragged]:
    """Documents that came from several batches, sorted by number."""
    numbers, lengths, words = [], [], []
    for data in asked.column("data").to_pylist():
        row = np.frombuffer(data, np.uint32)
        count = int(row[0])
        numbers.append(row[1 : 1 + count])
        lengths.append(row[2 + count : 2 + 2 * count].astype(np.int64))
        words.append(row[2 + 2 * count :])
    joined = Ragged(np.concatenate(words), offsets_of(np.concatenate(lengths)))
    order = np.argsort(np.concatenate(numbers))
    return np.concatenate(numbers)[order], joined.take(order)
