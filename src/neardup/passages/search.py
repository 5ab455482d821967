"""Finds the passages of a collection in two readings: words first, places in the text afterwards.

The first reading turns each document into word hashes, which are held (``word_store.py``). The
kernel (``native/passages/copies.hpp``) compares documents in the order of ``keep``, each with those
before it, so the first place of a passage is in the document that the order prefers. The second
reading turns spans of words into characters of the original text, cut to whole units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.documents import Chunk, Collection, DocumentBatch, Rejected
from neardup.documents.source import chunk_results
from neardup.errors import ChangedError
from neardup.passages.passage_settings import SOURCE_COLUMNS, PassageSettings
from neardup.passages.word_store import WordStore
from neardup.progress import Progress, Silent
from neardup.runs.journal_folder import (
    JournalFolder,
    arrays_in,
    ragged_arrays,
    state_of,
    write_arrays,
)
from neardup.runs.rejections import Reading, mostly
from neardup.schema import Array, Ragged
from neardup.settings import worker_count
from neardup.text.text_options import Text

_COMPARED = "compared.npz"  # of a journal: what the comparison found
_FREE = ("workers", "memory")  # do not change an answer
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Words(NamedTuple):
    """A batch of documents, the hashes of their words, and the characters of each."""

    batch: DocumentBatch
    hashes: Ragged
    lengths: Array


def words_of(chunk: Chunk) -> Words:
    return words_in(chunk.read())


def words_in(batch: DocumentBatch) -> Words:
    column = batch.records.column("text")
    texts = Ragged.of_strings(column)
    hashes = Ragged(*_native.word_hashes(texts.values, texts.offsets, Text().native()))
    return Words(batch, hashes, np.asarray(pc.utf8_length(column)).astype(np.int64))


@dataclass
class Documents:
    """What is known of the documents that were read, by number; texts are let go."""

    collection: Collection
    settings: PassageSettings
    ids: list[pa.Array] = field(default_factory=list)
    files: list[tuple[str, int]] = field(default_factory=list)  # and documents, of each batch
    rows: list[Array] = field(default_factory=list)
    lengths: list[Array] = field(default_factory=list)  # in characters
    words: list[Array] = field(default_factory=list)
    positions: list[Array] = field(default_factory=list)
    extra: dict[str, list[pa.Array]] = field(default_factory=dict)
    rejected: list[Rejected] = field(default_factory=list)
    total: int = 0  # with rejected ones

    def add(self, words: Words) -> None:
        batch = words.batch
        records = batch.records
        self.positions.append(self.total + batch.positions())
        self.total += len(batch)
        self.rejected += batch.rejected
        self.ids.append(records.column("id"))
        self.files.append((batch.file, records.num_rows))
        self.rows.append(records.column("row").to_numpy())
        self.lengths.append(words.lengths)
        self.words.append(words.hashes.lengths)
        for name in self.settings.columns.delivered:
            there = name in records.schema.names
            column = records.column(name) if there else pa.nulls(records.num_rows)
            self.extra.setdefault(name, []).append(column)

    def __len__(self) -> int:
        return sum(count for _, count in self.files)

    @property
    def starts(self) -> list[int]:
        """The number of the first document of each batch."""
        return [0, *np.cumsum([count for _, count in self.files]).tolist()]

    @property
    def source_starts(self) -> list[int]:
        """The position of the first document of each source."""
        sizes = Counter(lost.file for lost in self.rejected)
        for file, count in self.files:
            sizes[file] += count
        files = [source.file for source in self.collection.sources]
        return [0, *np.cumsum([sizes[file] for file in files]).tolist()]

    def numbers(self, name: str) -> npt.NDArray[np.int64]:
        return np.concatenate([np.empty(0, np.int64), *getattr(self, name)]).astype(np.int64)

    def id_column(self) -> pa.ChunkedArray:
        return pa.chunked_array(self.ids, pa.large_string())

    def file_column(self) -> pa.Array:
        names = pa.array([file for file, _ in self.files], pa.large_string())
        counts = [count for _, count in self.files]
        return names.take(pa.array(np.repeat(np.arange(len(counts)), counts)))

    def column(self, name: str) -> pa.ChunkedArray | None:
        """An extra column, or that of the ids; None if no document has a value."""
        if name == self.settings.id and name not in self.extra and len(self):
            return self.id_column()
        parts = [pa.chunked_array([part]) for part in self.extra.get(name, [])]
        if all(part.null_count == len(part) for part in parts):
            return None
        tables = [pa.table({name: part}) for part in parts]
        return pa.concat_tables(tables, promote_options="permissive")[name]

    def sources(self) -> list[str]:
        """The source of each document: its own value, the host of its URL, or its input."""
        names = self.collection.source_names
        usual = [names[file] for file, count in self.files for _ in range(count)]
        for name in (self.settings.source,) if self.settings.source else SOURCE_COLUMNS:
            column = self.column(name) if name else None
            if column is not None:
                own = column.to_pylist()
                return [_host(str(o)) if o else u for o, u in zip(own, usual, strict=True)]
        return usual

    def dates(self) -> list[str | None]:
        column = self.column(self.settings.date or "date")
        values = [None] * len(self) if column is None else column.to_pylist()
        return [None if value is None else str(value) for value in values]

    def mostly_rejected(self) -> list[dict[str, Any]]:
        reading = Reading(self.settings.text, self.settings.id, self.collection.sources)
        return mostly_rejected(self.rejected, self.files, reading)

    def rank(self) -> npt.NDArray[np.int64]:
        order = self.settings.order
        columns = {
            name: found for name in order.columns if (found := self.column(name)) is not None
        }
        return order.rank(self.numbers("lengths"), columns)


def mostly_rejected(
    rejected: Sequence[Rejected], read: Iterable[tuple[str, int]], reading: Reading
) -> list[dict[str, Any]]:
    """The files of which most was rejected, as ``dedup`` reports them. ``read`` has files, and
    documents of them that were not rejected."""
    sizes = Counter(lost.file for lost in rejected)
    for file, count in read:
        sizes[file] += count
    files = pa.array([lost.file for lost in rejected], pa.large_string())
    reasons = pa.array([lost.reason for lost in rejected], pa.large_string())
    return [asdict(each) for each in mostly(files, reasons, sizes, reading)]


def _host(value: str) -> str:
    if not value.startswith(("http://", "https://")):
        return value
    try:
        return urlsplit(value).hostname or value
    except ValueError:
        return value


class Place:
    """The columns of ``places``; words from ``BEGIN`` to ``END``, and the row of the copy, which is
    negative for an original."""

    PASSAGE, DOCUMENT, BEGIN, END, COPY = range(5)
    COUNT = 5


class Copied:
    """The columns of ``copies``: words of a document, and those of its source that they are."""

    DOCUMENT, BEGIN, END, SOURCE, SOURCE_BEGIN, SOURCE_END, MATCHED = range(7)
    COUNT = 7


class Span:
    """The columns of spans in a text: bytes, then characters."""

    BYTE_BEGIN, BYTE_END, BEGIN, END = range(4)
    COUNT = 4


@dataclass
class Found:
    """Passages in words: ``places`` (columns of ``Place``), sorted by document and begin, and the
    ``copies`` that the kernel found (columns of ``Copied``)."""

    documents: Documents
    places: npt.NDArray[np.int64]
    copies: npt.NDArray[np.uint32]

    def again(self, work: Again[T]) -> Iterator[T]:
        """Reads the documents again, and gives what ``work`` makes of each batch."""
        documents = self.documents
        starts = documents.starts

        def read(chunk: Chunk) -> T:
            numbered: _Numbered = chunk  # type: ignore[assignment]
            number = numbered.number
            before = documents.files[number][0], documents.rows[number]
            return work(starts[number], as_before(numbered.chunk.read(), *before))

        chunks = documents.collection.chunks(documents.settings.columns)
        numbers = range(len(documents.files))
        numbered = (_Numbered(chunk, i) for i, chunk in zip(numbers, chunks, strict=False))
        return chunk_results(numbered, read, worker_count(documents.settings.workers))


class Again(Protocol[T_co]):
    """Work on a batch that is read again; ``first`` is the number of its first document."""

    def __call__(self, first: int, batch: DocumentBatch) -> T_co: ...

    def part(self, begin: int, end: int) -> Again[T_co]:
        """The same for these documents alone: it may travel to another machine."""
        ...


class _Numbered(NamedTuple):
    chunk: Chunk
    number: int

    def read(self) -> DocumentBatch:
        return self.chunk.read()


def as_before(batch: DocumentBatch, file: str, rows: Array) -> DocumentBatch:
    """The batch as it was read first; an error if the input has changed since."""
    now = batch.records.column("row").to_numpy()[: len(rows)]
    if batch.file != file or not np.array_equal(now, rows):
        raise ChangedError(f"{file} has changed while it was read.", hint="run again.")
    return replace(batch, records=batch.records.slice(0, len(rows)))


class Workspace(NamedTuple):
    """Where a search puts what does not fit into memory, and where it records what is done, if it
    is to go on after a kill."""

    folder: Path | None = None
    journal: Path | None = None


def search(
    collection: Collection,
    settings: PassageSettings,
    progress: Progress | None = None,
    workspace: Workspace | None = None,
) -> Found:
    """All passages of the collection, in words."""
    shown, place = progress or Silent(), workspace or Workspace()
    journal = _journal(place.journal, collection, settings) if place.journal else None
    compared = journal.folder / _COMPARED if journal else None
    store = WordStore(settings.kernel(), settings.memory_bytes, place.folder)
    known = compared is not None and compared.exists()
    documents = read_words(collection, settings, None if known else store, shown, journal)
    if compared and known:
        return Found(documents, **arrays_in(compared))
    found = Found(documents, *_compared(store, documents.rank(), shown))
    if compared:
        write_arrays(compared, {"places": found.places, "copies": found.copies})
    return found


def _compared(
    store: WordStore, rank: Array, shown: Progress
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    kernel = store.kernel
    store.begin()
    order = np.argsort(rank, kind="stable").astype(np.uint32)
    shown.stage("comparing", len(order))
    for some in store.slices(order):
        kernel.find(some)
        shown.advance(len(some))
    return places_of(kernel)


def places_of(kernel: _native.Copies) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    """The places of passages by document and begin, and the copies that the kernel found."""
    places = kernel.places().reshape(-1, Place.COUNT)
    by_place = np.lexsort((places[:, Place.BEGIN], places[:, Place.DOCUMENT]))
    return places[by_place], kernel.copies().reshape(-1, Copied.COUNT)


def _journal(folder: Path, collection: Collection, settings: PassageSettings) -> JournalFolder:
    journal = JournalFolder(folder)
    asked = {n: value for n, value in settings.describe().items() if n not in _FREE}
    journal.begin(collection, state_of(collection, {"the command": "passages", **asked}))
    return journal


def read_words(
    collection: Collection,
    settings: PassageSettings,
    store: WordStore | None,
    progress: Progress,
    journal: JournalFolder | None = None,
) -> Documents:
    """Reads the documents; their words go to the store, if there is one."""
    documents = Documents(collection, settings)
    progress.stage("reading", settings.limit, total_bytes=collection.plain_size())
    for words in _taken(collection, settings, journal):
        if settings.limit is not None:
            words = first_documents(words, settings.limit - documents.total)
        if store:
            store.add(words.hashes)
        documents.add(words)
        progress.advance(len(words.batch), words.batch.size)
        if documents.total == settings.limit:
            break
    return documents


def _taken(
    collection: Collection, settings: PassageSettings, journal: JournalFolder | None
) -> Iterator[Words]:
    """The words of each chunk, from the journal as far as it goes."""
    chunks = iter(collection.chunks(settings.columns))
    if journal:
        for batch, kept in journal.chunks_before(collection, chunks):
            hashes = Ragged(kept["hashes_values"].astype(np.uint64), kept["hashes_offsets"])
            yield Words(batch, hashes, kept["lengths"])
    for words in chunk_results(chunks, words_of, worker_count(settings.workers)):
        if journal:
            arrays = ragged_arrays("hashes", words.hashes) | {"lengths": words.lengths}
            arrays["hashes_values"] = arrays["hashes_values"].astype(np.uint32)
            place = words.batch.records.schema.get_field_index("text")
            batch = replace(words.batch, records=words.batch.records.remove_column(place))
            journal.keep_chunk(collection, batch, arrays)
        yield words


def first_documents(words: Words, room: int) -> Words:
    """The first documents of a batch, rejected ones among them."""
    batch, hashes, lengths = words
    count = int((batch.positions() < room).sum())
    records, offsets = batch.records.slice(0, count), hashes.offsets[: count + 1]
    rejected = batch.rejected[: max(0, room - count)]
    first = replace(batch, records=records, rejected=rejected)
    return Words(first, Ragged(hashes.values[: offsets[-1]], offsets), lengths[:count])
