"""WARC files, plain or compressed: the pages of a crawl are its documents.

The id is that of the record; rows count the pages. The kept output is the file without the records
of duplicate or rejected pages. All other records, including requests and pictures, stay as they
are, byte for byte, each compressed separately as the standard requires. If the file is truncated or
broken, one rejected document represents the rest.
"""

from __future__ import annotations

import bz2
import functools
import gzip
import importlib.util
import lzma
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa

from neardup.documents.columns import (
    Columns,
    DocumentBatch,
    LostChunk,
    Mask,
    Rejected,
    refuse_others,
)
from neardup.documents.extraction.extractor import Extractor
from neardup.documents.extraction.page import META, Extracted, Meta, Page, decoded_html
from neardup.documents.file_formats import TEXT, named_format
from neardup.documents.lost import Watch, lost_from_here
from neardup.documents.memory_tables import TableChunk
from neardup.documents.open_files import OpenFiles
from neardup.documents.pieces import Piece, Trial, unpacking
from neardup.documents.remote import Place
from neardup.documents.source import Source, Write
from neardup.documents.streams import CHUNK_BYTES, open_binary, unreadable
from neardup.documents.warc_records import (
    Cut,
    Found,
    Record,
    held_content,
    is_page,
    pages,
    records,
)
from neardup.errors import MissingExtraError
from neardup.files import whole_file

NAMES = ("id", "text", *META, "crawled")
WriteRecord = Callable[[Record, IO[bytes]], None]
CHUNK_PAGES = 32  # few, because pages take long and an interrupt waits for those of a chunk
MOST_BYTES = 32 << 20  # bytes of a sample, because extraction is slow
_EVERY_PAGE = np.ones(1 << 20, np.bool_)


@dataclass(frozen=True)
class WarcChunk:
    """Some pages of a file, beginning with number ``first_row``."""

    source: WarcSource
    pages: Sequence[Found]
    first_row: int
    columns: Columns

    def read(self) -> DocumentBatch:
        table = self.source.table(self.pages)
        of = (self.source.file, self.first_row, self.columns)
        extra = {name: table[name] for name in self.columns.found(NAMES)}
        batch = TableChunk(*of, table["text"], table[self.columns.id_name], extra).read()
        reasons = table["reason"].to_pylist()
        rejected = [
            replace(lost, reason=reasons[lost.row - self.first_row] or lost.reason)
            for lost in batch.rejected
        ]
        return replace(batch, rejected=rejected)


@dataclass
class WarcSource(Source):
    path: Place
    file: str
    codec: str | None = None
    extractor: Extractor = field(default_factory=Extractor)
    chunk_bytes: int = CHUNK_BYTES
    watch: Watch = field(default_factory=Watch)
    files: OpenFiles = field(default_factory=OpenFiles)
    passed: Counter[str] = field(default_factory=Counter)  # records that are no pages, by type
    _lost: Rejected | None = field(default=None, init=False)
    what, form, is_file = "a WARC file", "warc", True

    def check(self) -> None:
        """Raises errors that would stop a run, before it begins."""
        if importlib.util.find_spec("fastwarc") is None:
            raise MissingExtraError(
                f"{self.file} is a WARC file; to read it takes fastwarc, which is not installed.",
                hint="pip install 'neardup[html]'",
            )
        self.extractor.extraction.check(("html",), self.file)
        with open_binary(self.path, self.codec, self.files) as stream:
            start = stream.read(5)
        if start and start != b"WARC/":
            raise unreadable(self.path, OSError(f"expected WARC/ at its start, got {start!r}"))

    def _stream(self) -> IO[bytes]:
        return self.watch.stream(open_binary(self.path, self.codec, self.files), self.file)

    def chunks(self, columns: Columns) -> Iterator[WarcChunk | LostChunk]:
        refuse_others(columns, NAMES, self.file)
        with self._stream() as stream:
            yield from self.chunks_of(stream, columns)
        if self._lost:
            extra = dict.fromkeys(columns.found(NAMES), pa.large_string())
            yield LostChunk(self._lost, extra)

    def chunks_of(self, stream: IO[bytes], columns: Columns) -> Iterator[WarcChunk]:
        row, held, size = 1, [], 0
        for page in self._pages(stream):
            held.append(page)
            size += len(page.page.data) if page.page else 0
            if size >= self.chunk_bytes or len(held) >= CHUNK_PAGES:
                yield WarcChunk(self, held, row, columns)
                row, held, size = row + len(held), [], 0
        if held:
            yield WarcChunk(self, held, row, columns)

    def _pages(self, stream: IO[bytes]) -> Iterator[Found]:
        """Pages of the file. If the rest cannot be read, ``_lost`` represents it afterwards."""
        self._lost, row = None, 1
        self.passed.clear()
        try:
            for page in pages(stream, self.passed):
                yield page
                row += 1
        except Cut as cut:
            self._lost = Rejected(self.file, row, str(cut), None)
        except (OSError, pa.ArrowException) as error:
            if row == 1:
                raise unreadable(self.path, error) from error
            self._lost = Rejected(self.file, row, lost_from_here(error), None)

    def table(self, pages: Sequence[Found]) -> dict[str, pa.Array]:
        texts = self._texts(pages)
        columns: dict[str, list[str | None]] = {
            "id": [page.id for page in pages],
            "text": [text.text for text in texts],
            "reason": [page.reason or text.reason for page, text in zip(pages, texts, strict=True)],
            "crawled": [page.crawled for page in pages],
            **{name: [getattr(text.meta, name) for text in texts] for name in META},
        }
        return {name: pa.array(values, pa.large_string()) for name, values in columns.items()}

    def _texts(self, pages: Sequence[Found]) -> list[Extracted]:
        as_it_is = not self.extractor.extraction.pages
        contents = [page.page for page in pages if page.page]
        wanted = [content for content in contents if not (as_it_is or content.kind == TEXT)]
        extracted = iter(self.extractor.texts(wanted))
        return [
            Extracted(None)
            if page.page is None
            else _plain(page.page)
            if as_it_is or page.page.kind == TEXT
            else next(extracted)
            for page in pages
        ]

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:  # noqa: ARG002 (protocol)
        wanted = set(rows)
        with self._stream() as stream:
            by_row = {r: page for r, page in enumerate(self._pages(stream), 1) if r in wanted}
        texts = self.table(list(by_row.values()))["text"].to_pylist()
        known = dict(zip(by_row, texts, strict=True))
        return [known.get(row) or "" for row in rows]

    def kept(self, keep: Mask) -> tuple[pa.Table, int]:
        parts, row = [], 0
        with self._stream() as stream:
            for chunk in self.chunks_of(stream, Columns()):
                table = pa.table(self.table(chunk.pages)).select(list(NAMES))
                mask = [bool(k) for k in keep[row : row + len(table)]]
                mask += [False] * (len(table) - len(mask))
                parts.append(table.filter(pa.array(mask, pa.bool_())))
                row += len(table)
        none = pa.table({name: pa.array([], pa.large_string()) for name in NAMES})
        return pa.concat_tables([none, *parts]), row + (self._lost is not None)

    @contextmanager
    def writer(self, sources: Sequence[Any], path: Path) -> Iterator[Write]:  # noqa: ARG002
        codec = named_format(path)[1]
        with whole_file(path) as part, part.open("wb", buffering=1 << 20) as out:
            write = functools.partial(write_record, out, codec)
            yield lambda source, keep: source.copy_records(keep, write)

    def copy_records(self, keep: Mask, write: WriteRecord) -> int:
        """Calls ``write`` with each record that stays, and returns the number of documents."""
        with self._stream() as stream:
            return self.copy_from(stream, keep, write)

    def copy_from(self, stream: IO[bytes], keep: Mask, write: WriteRecord) -> int:
        row = 0
        try:
            for record, content in records(stream):
                held = held_content(record, content)
                page = is_page(record, held or content)
                if not page or (row < len(keep) and keep[row]):
                    write(record, held or content)
                row += page
        except Cut:
            return row + 1
        return row

    def size(self) -> float:
        return self.path.stat().st_size

    def pieces(self, columns: Columns, budget: float) -> Iterator[Piece]:
        """The start of the file, because only reading shows where a later record begins."""
        before = 0
        with self.files.stream(self.path) as raw:
            for chunk in self.chunks_of(unpacking(raw, self.codec), columns):
                taken, before = raw.tell() - before, raw.tell()
                yield Piece(chunk, taken, [len(chunk.pages)], continues=True)
                if before >= min(budget, MOST_BYTES):
                    return
        if self.size() > before:  # records that are no pages may follow the last page
            nothing = WarcChunk(self, [], 1, columns)
            yield Piece(nothing, self.size() - before, [0], continues=True)

    def trial(self, limit: float) -> Trial:
        """Writes into a file that is deleted."""
        with self.files.stream(self.path) as raw, tempfile.TemporaryFile() as out:

            def write(record: Record, content: IO[bytes]) -> None:
                write_record(out, self.codec, record, content)
                if raw.tell() >= limit:
                    raise _Enough

            with suppress(_Enough):
                self.copy_from(unpacking(raw, self.codec), _EVERY_PAGE, write)
            return Trial(raw.tell() / max(1.0, self.size()), out.tell())


class _Enough(Exception):  # noqa: N818 (no error)
    pass


def _plain(page: Page) -> Extracted:
    decoded = decoded_html(page.data, page.charset)
    return Extracted(decoded.text, decoded.reason, Meta(url=page.url), None, decoded.encoding)


def write_record(out: IO[bytes], codec: str | None, record: Record, content: IO[bytes]) -> None:
    begin = out.tell()
    with _packed(out, codec) as packed:
        packed.write(record.head)
        shutil.copyfileobj(content, packed, 1 << 20)
        packed.write(b"\r\n\r\n")
    if getattr(content, "left", 0):  # the record is truncated
        out.seek(begin)
        out.truncate()


@contextmanager
def _packed(out: IO[bytes], codec: str | None) -> Iterator[Any]:
    """The record as a separate member or frame, which can be read without those before it."""
    if codec is None:
        yield out
    elif codec == "gzip":
        with gzip.GzipFile("", "wb", fileobj=out, mtime=0) as packed:
            yield packed
    elif codec in ("bz2", "xz"):
        with (bz2.BZ2File if codec == "bz2" else lzma.LZMAFile)(out, "wb") as packed:
            yield packed
    else:
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, codec) as packed:
            yield packed
        out.write(sink.getvalue())
