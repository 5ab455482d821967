"""Files of lines or records: read in blocks of whole documents, kept byte for byte.

JSON Lines and CSV define a document differently. The begin of blocks, the second reading of a few
texts, the copying of kept documents and sampling are the same for both. A compressed file can only
be read from its beginning. Of a plain one, the first reading notes where each row begins (4 bytes a
row), so that a few rows are read without the bytes between them.
"""

from __future__ import annotations

import io
import tempfile
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import field
from operator import itemgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.classes import dataclass
from neardup.documents import pieces as sampling
from neardup.documents.columns import Chunk, Columns, LostChunk, Mask, Rejected
from neardup.documents.lost import Watch, lost_from_here
from neardup.documents.open_files import OpenFiles, OverLimitError, TooLong
from neardup.documents.pieces import Piece, Start, Trial
from neardup.documents.remote import Place
from neardup.documents.source import LineWriter, Source
from neardup.documents.streams import CHUNK_BYTES, fault_of, open_binary, unreadable
from neardup.schema import Array

_HEAD_BYTES = 1 << 20  # enough to estimate the length of a document
_CALL_BYTES = 1 << 12  # that are read and parsed in the time of one call for a row


class Selection(NamedTuple):
    """The kept documents of a block, the number of documents in it, and whether the last one is
    kept: blank lines that follow belong to it."""

    data: bytes
    documents: int
    last_kept: bool


class Mark(NamedTuple):
    """A block of a plain file: its first row, its first byte in the file, and where its rows begin
    and the last one ends, counted from there. Without ``edges`` only the whole block can be
    read."""

    row: int
    offset: int
    edges: Array


@dataclass
class BlockSource(Source):
    """One file. It remembers blocks and their rows, so that a few texts can be read again."""

    path: Place
    file: str
    codec: str | None = None
    chunk_bytes: int = CHUNK_BYTES
    watch: Watch = field(default_factory=Watch)
    files: OpenFiles = field(default_factory=OpenFiles)
    _marks: list[Mark] = field(default_factory=list)
    _lost: Rejected | None = field(default=None, init=False)
    is_file = True

    # Each format defines what a document is:

    if TYPE_CHECKING:

        @property
        def head(self) -> bytes:
            """The bytes before the first document, which are written once before all kept ones."""
    else:
        head = b""

    def whole(self, stream: IO[bytes], size: int) -> Iterator[bytes]:
        """Blocks of about ``size`` bytes that end where a document ends."""
        raise NotImplementedError

    def count(self, data: bytes, /) -> int:
        """The number of rows of a block."""
        raise NotImplementedError

    def starts(self, data: bytes, /) -> Array:
        """Where the rows of a block begin in it."""
        raise NotImplementedError

    def chunk(self, data: bytes, first_row: int, columns: Columns) -> Chunk:
        raise NotImplementedError

    def select(self, data: bytes, keep: Mask, row: int, *, last_kept: bool) -> Selection:
        """The kept documents of the block that begins with this row."""
        raise NotImplementedError

    def texts_in(
        self, data: bytes, first_row: int, rows: list[int], columns: Columns
    ) -> dict[int, str]:
        """The texts of some rows of a block; the rows are sorted."""
        raise NotImplementedError

    def block_at(self, stream: IO[bytes], place: int, size: int, *, at_start: bool) -> bytes:
        """The first whole documents, about ``size`` bytes, after any place of a plain file."""
        raise NotImplementedError

    # Reading:

    def stream(self) -> IO[bytes]:
        return open_binary(self.path, self.codec, self.files)

    def blocks(
        self, row: int = 1, offset: int = 0, *, tolerant: bool = False
    ) -> Iterator[tuple[int, bytes]]:
        """Blocks with their first rows, from a place where a document begins. If the rest cannot be
        read, ``_lost`` represents it. A failing disk is tolerated only if ``tolerant``, because the
        written documents must be those that were read."""
        self._lost = None
        offset = offset or len(self.head)
        try:
            with self.stream() as stream:
                if self.codec is None:
                    stream.seek(offset)
                else:
                    stream.read(offset)
                for data in self.whole(stream, self.chunk_bytes):
                    edges = np.empty(0, np.uint32)
                    if self.codec is None and (not self._marks or row > self._marks[-1].row):
                        if not isinstance(data, TooLong) and len(data) < 1 << 32:
                            edges = np.append(self.starts(data), len(data)).astype(np.uint32)
                        self._marks.append(Mark(row, offset, edges))
                    self.watch.check_block(row, data, self.file)
                    yield row, data
                    row += len(edges) - 1 if len(edges) else self.count(data)
                    offset += data.size if isinstance(data, TooLong) else len(data)
                if fault := fault_of(stream):
                    self._lost = Rejected(self.file, row, fault, None)
        except OverLimitError as error:
            self._lost = Rejected(self.file, row, f"{error}; the rest is lost", None)
        except (OSError, pa.ArrowException) as error:
            if row == 1 or not tolerant:
                raise unreadable(self.path, error) from error
            self._lost = Rejected(self.file, row, lost_from_here(error), None)

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        types = dict.fromkeys(columns.delivered, pa.large_string())
        for row, data in self.blocks(tolerant=True):
            if isinstance(data, TooLong):
                yield LostChunk(Rejected(self.file, row, data.reason, None), types)
            else:
                yield self.chunk(data, row, columns)
        if self._lost:
            yield LostChunk(self._lost, types)

    def chunks_at(self, rows: Array, columns: Columns) -> Iterator[Chunk]:
        """Reads the rows alone if that costs less than reading the file."""
        blocks = list(self._marked(rows))
        known = sum(len(some) for _, some in blocks)
        wanted = sum(int(np.diff(mark.edges)[some - mark.row].sum()) for mark, some in blocks)
        whole = sum(int(mark.edges[-1]) for mark in self._marks if len(mark.edges))
        if known < len(rows) or wanted + _CALL_BYTES * len(rows) >= whole:
            yield from self.chunks(columns) if len(rows) else ()
            return
        for some, data in self._rows_alone(blocks):
            yield self.rows_chunk(data, int(some[0]), columns)

    def rows_chunk(self, data: bytes, first_row: int, columns: Columns) -> Chunk:
        """Rows that need not follow each other in the file, as a chunk."""
        return self.chunk(data, first_row, columns)

    def _marked(self, rows: Array) -> Iterator[tuple[Mark, Array]]:
        """Blocks with those of the rows whose place in it is known."""
        if not self._marks or not isinstance(self.path, Path):
            return
        bounds = np.searchsorted(rows, [mark.row for mark in self._marks])
        for mark, some in zip(self._marks, np.split(rows, bounds)[1:], strict=True):
            if len(some := some[some - mark.row < len(mark.edges) - 1]):
                yield mark, some

    def _rows_alone(self, blocks: Sequence[tuple[Mark, Array]]) -> Iterator[tuple[Array, bytes]]:
        """The bytes of some rows of each block. If the file has changed, they are other bytes;
        callers compare digests of texts."""
        if not blocks:
            return
        try:
            with self.files.raw(self.path) as raw:
                for mark, some in blocks:
                    yield some, _joined(raw, mark, some - mark.row)
        except OSError as error:
            raise unreadable(self.path, error) from error

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:
        wanted, texts = sorted(set(rows)), dict[int, str]()
        for some, data in self._rows_alone([*self._marked(np.array(wanted, np.int64))]):
            first = int(some[0])
            if self.count(data) == len(some):  # else the file has changed
                found = self.texts_in(data, first, [*range(first, first + len(some))], columns)
                texts |= zip(some.tolist(), found.values(), strict=True)
        if texts:
            self.watch.check(self.path, self.file)
        for row in wanted:
            if row not in texts:
                texts |= self._texts_near(row, set(rows), columns)
        return [texts[row] for row in rows]

    def _texts_near(self, wanted: int, rows: set[int], columns: Columns) -> dict[int, str]:
        """The requested rows of the block that contains row ``wanted``; for a compressed file,
        which can only be read from its start, those of all blocks."""
        texts: dict[int, str] = {}
        last = wanted if self.codec is None else max(rows)
        before = bisect_right(self._marks, wanted, key=itemgetter(0))
        for first, data in self.blocks(*self._marks[before - 1][:2] if before else (1, 0)):
            end = first + self.count(data)
            if near := sorted(row for row in rows if first <= row < end):
                texts |= self.texts_in(data, first, near, columns)
            if last < end:
                return texts
        if self._lost and self._lost.row == last:
            return texts | {last: ""}
        raise IndexError(f"{self.file} has no row {last}")

    # Writing back:

    def selections(self, keep: Mask) -> Iterator[tuple[int, Selection]]:
        """The kept documents of each block as they are written, with the position of its first
        document."""
        position, last_kept = 0, True
        for row, data in self.blocks():
            selection = self.select(data, keep[position:], row, last_kept=last_kept)
            yield position, selection
            position, last_kept = position + selection.documents, selection.last_kept

    def copy(self, keep: Mask, out: LineWriter) -> int:
        """Writes the kept documents and returns the number of documents in the file."""
        if not out.started:
            out.write(self.head)
        documents = 0
        for position, selection in self.selections(keep):
            out.write(selection.data)
            documents = position + selection.documents
        out.new_file = True
        return documents + (self._lost is not None)

    # Samples:

    def size(self) -> float:
        return self.path.stat().st_size

    @property
    def plain_size(self) -> float | None:
        return self.path.stat().st_size if self.codec is None else None

    def document_size(self) -> float:
        if self.codec:
            return 0.0
        with self.stream() as stream:
            data = stream.read(_HEAD_BYTES)
        return len(data) / max(1, self.count(data))

    def pieces(self, columns: Columns, budget: float) -> Iterator[Piece]:
        """Pieces at random places of a plain file, or the start of a compressed one. The budget
        counts unpacked bytes, because these determine the cost of a run."""
        if self.codec or budget >= self.size():
            yield from self._pieces_from_start(columns, budget)
            return
        for blocks in sampling.chunkfuls(self.drawn_blocks(budget)):
            data = b"".join(blocks)
            yield Piece(self.chunk(data, 1, columns), len(data), list(map(self.count, blocks)))

    def drawn_blocks(self, budget: float) -> Iterator[bytes]:
        size, first, end = sampling.PIECE_BYTES, len(self.head), -1
        with self.stream() as stream:
            for place in sampling.places(self.size() - first, size, budget):
                if place <= end:  # inside the piece before it
                    continue
                data = self.block_at(stream, first + place, size, at_start=place == 0)
                end = stream.tell() - first
                if data:
                    yield data

    def _pieces_from_start(self, columns: Columns, budget: float) -> Iterator[Piece]:
        with self.files.stream(self.path) as raw:
            stream, start = sampling.unpacking(raw, self.codec), Start(self.size(), budget)
            stream.read(len(self.head))
            for data in self.whole(stream, sampling.piece_of(budget)):
                stands_for = start.taken(raw, stream, data)
                chunk = self.chunk(data, 1, columns)
                yield Piece(chunk, stands_for, [self.count(data)], continues=True)
                if start.enough:
                    return

    def trial(self, limit: float) -> Trial:
        """Writes into a nameless file."""
        with self.files.stream(self.path) as raw, tempfile.TemporaryFile() as file:
            stream, read = sampling.unpacking(raw, self.codec), 0
            every = np.ones(CHUNK_BYTES, np.bool_)
            with sampling.packing(file, self.codec) as out:
                for data in self.whole(stream, sampling.piece_of(limit)):
                    out.write(self.select(data, every, 2, last_kept=True).data)
                    read += len(data)
                    if read >= limit:
                        break
            return Trial(raw.tell() / max(1.0, self.size()), file.tell())


def _joined(raw: io.RawIOBase, mark: Mark, numbers: Array) -> bytes:
    """Some rows of a block, which are numbered from 0 here; adjacent ones are read at once."""
    first = np.flatnonzero(np.diff(numbers, prepend=-2) != 1)
    begins = mark.edges[numbers[first]].astype(np.int64)
    sizes = mark.edges[numbers[[*first[1:] - 1, -1]] + 1] - begins
    begins += mark.offset
    data = np.empty(int(sizes.sum()), np.uint8)
    # Without a call of Python for each run of rows, which takes longer than reading them.
    if isinstance(raw, io.FileIO) and _native.gather_file(raw.fileno(), begins, sizes, data):
        return data.tobytes()
    buffer, at = data.data, 0
    for begin, size in zip(begins.tolist(), sizes.tolist(), strict=True):
        raw.seek(begin)
        at += raw.readinto(buffer[at : at + size]) or 0
    return bytes(buffer[:at])
