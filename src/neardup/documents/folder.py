"""A folder of files: every file below it is a document, named by its path in the folder.

HTML, PDF, office files and books are pages, whose text is extracted; the markup of XML files is
removed; all other files are text. Compressed files (.gz, .zst, .bz2, .xz) are unpacked. Feeds,
which have many documents, are separate sources. Beside pages, files of references (BibTeX, RIS,
CSL-JSON) are no documents: they state the metadata of the files that they name. Files are sorted by
path; hidden ones (with a leading dot) are ignored, also in stores. A file or sub-folder that cannot
be read is rejected with a sentence. Kept files are copied byte for byte to the same places under
``kept/``, and listed in ``kept.txt``.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar
from zlib import crc32

import numpy as np
import pyarrow as pa

from neardup.documents.bibliography import SUFFIXES as LISTS
from neardup.documents.bibliography import Library, Reference, is_csl, references
from neardup.documents.columns import Columns, Mask, refuse_others
from neardup.documents.encodings import decoded
from neardup.documents.extraction.extractor import Extractor
from neardup.documents.extraction.page import META, Extracted, Page
from neardup.documents.file_formats import CODECS, KINDS, XML, is_mailbox, unpacked_name
from neardup.documents.folder_entries import (
    CHUNK_FILES,
    Entry,
    FolderChunk,
    chunkfuls,
    entry_now,
    folder_writer,
    free_place,
    local_entries,
    meta_columns,
    remote_entries,
    runs_of,
    weight,
)
from neardup.documents.lost import changed
from neardup.documents.news_items import is_feed, xml_document
from neardup.documents.open_files import OpenFiles
from neardup.documents.pieces import Piece, Trial
from neardup.documents.remote import Place, Remote
from neardup.documents.source import Source, Write
from neardup.documents.streams import CHUNK_BYTES, unpacked_document, unreadable
from neardup.documents.xml import HEAD
from neardup.progress import LOG

CHUNK_PAGES = 32  # few, because pages take long and an interrupt waits for those of a chunk


@dataclass
class FolderSource(Source):
    """If several folders are read, ``prefix`` is put before the names to distinguish them."""

    path: Place
    file: str
    prefix: str = ""
    chunk_bytes: int = CHUNK_BYTES
    encoding: str | None = None
    encodings: dict[str, str] = field(default_factory=dict)  # of the files that were read
    checksums: dict[str, int] = field(default_factory=dict)  # of their bytes
    extractor: Extractor = field(default_factory=Extractor)
    files: OpenFiles = field(default_factory=OpenFiles)
    what, form, has_paths = "a folder", "", True
    name_group: ClassVar[str | None] = "folders"

    @cached_property
    def entries(self) -> list[Entry]:
        """The files, listed once, so that positions stay the same while files come and go."""
        others = {*self._references, *(entry.name for entry in self.feeds)}
        return [entry for entry in self._listed if entry.name not in others]

    @cached_property
    def _references(self) -> dict[str, list[Reference]]:
        """The references of each file that lists some (BibTeX, RIS, CSL-JSON) beside pages. Such a
        file is no document; one without any reference is a text."""
        listed = self._listed if any(map(self.kind_of, self._listed)) else []
        found = ((entry.name, self._listed_references(entry)) for entry in listed)
        return {name: known for name, known in found if known}

    def _listed_references(self, entry: Entry) -> list[Reference]:
        name = entry.name.lower()
        if entry.problem or entry.size > self.files.limits.document:
            return []
        if not name.endswith(LISTS) and not (name.endswith(".json") and self._is_csl(entry)):
            return []
        try:
            known, lost = references(name, self.content(entry))
        except OSError:
            return []
        if lost:
            LOG.warning("%s: %d entries cannot be read", self.locate(entry), lost)
        return known

    def _is_csl(self, entry: Entry) -> bool:
        try:
            return is_csl(self._head(entry))
        except OSError:
            return False

    @cached_property
    def library(self) -> Library | None:
        """The references by file; None if the folder lists none."""
        known = [one for some in self._references.values() for one in some]
        return Library(known, [entry.name for entry in self.entries]) if known else None

    def reference_of(self, row: int) -> Reference | None:
        return self.library.of(self.entries[row - 1].name) if self.library else None

    @cached_property
    def feeds(self) -> list[Entry]:
        """Files of many documents (feeds, mailboxes), which are no documents of the folder."""
        return [
            entry
            for entry in self._listed
            if is_mailbox(entry.name) or (self.reads_xml(entry) and self._is_feed(entry))
        ]

    @cached_property
    def _listed(self) -> list[Entry]:
        entries = list(
            local_entries(self.path) if isinstance(self.path, Path) else remote_entries(self.path)
        )
        return sorted(entries, key=lambda entry: entry.name.split("/"))

    def _is_feed(self, entry: Entry) -> bool:
        try:
            packed = unpacked_name(entry.name) != entry.name.lower()
            return entry.problem is None and not packed and is_feed(self._head(entry))
        except OSError:  # the error is reported when the file is read
            return False

    def _head(self, entry: Entry) -> bytes:
        place = self.locate(entry)
        if isinstance(place, Remote):  # found by its name alone, so it cannot be opened in parts
            return place.read_bytes()[:HEAD]
        with self.files.stream(place) as stream:
            return stream.read(HEAD)

    def feed_places(self) -> Sequence[Place]:
        if isinstance(self.path, Path):
            return [self.path / entry.name for entry in self.feeds]
        places = dict(self.path.files()) if self.feeds else {}
        return [places[entry.name] for entry in self.feeds]

    def id_of(self, entry: Entry) -> str:
        # A name that is not UTF-8 has lone surrogates, which no table can hold.
        return os.fsencode(self.place(entry)).decode("utf-8", "replace")

    def ids(self, entries: Sequence[Entry], pages: Sequence[Extracted], name: str) -> pa.Array:
        if name != "id":
            return meta_columns(pages, [name])[name]
        return pa.array([self.id_of(entry) for entry in entries], pa.large_string())

    def name_apart(self, sources: Sequence[FolderSource]) -> None:
        """The names begin with that of their folder, and a number if two are equal."""
        names = [folder.path.resolve().name for folder in sources]
        for i, (folder, name) in enumerate(zip(sources, names, strict=True), 1):
            folder.prefix = name if names.count(name) == 1 else f"{i}-{name}"

    def place(self, entry: Entry) -> str:
        return f"{self.prefix}/{entry.name}" if self.prefix else entry.name

    def locate(self, entry: Entry) -> Place:
        return self.path / entry.name

    def path_of(self, row: int) -> str | None:
        """The path as the user would write it; a name that is not UTF-8 cannot be shown as it
        is."""
        path = f"{self.file.rstrip('/')}/{self.entries[row - 1].name}"
        return os.fsencode(path).decode("utf-8", "replace")

    def name_of(self, row: int) -> str:
        return self.id_of(self.entries[row - 1])

    def kind_of(self, entry: Entry) -> str | None:
        """The kind of a page that is extracted; None for text."""
        if not self.extractor.extraction.pages:
            return None
        return KINDS.get(os.path.splitext(unpacked_name(entry.name))[1])

    def reads_xml(self, entry: Entry) -> bool:
        """Whether the markup of XML files is removed, as that of pages is."""
        return self.extractor.extraction.pages and unpacked_name(entry.name).endswith(XML)

    @cached_property
    def kinds(self) -> set[str]:
        return {kind for entry in self.entries if (kind := self.kind_of(entry))}

    @property
    def names(self) -> tuple[str, ...]:
        """The columns; pages, feeds and articles in XML have metadata, texts do not."""
        stated = self.kinds or self.feeds or any(map(self.reads_xml, self.entries))
        return ("id", "text", *(META if stated else ()))

    def read(self, entries: Sequence[Entry]) -> list[Extracted]:
        """The text of each file, or the reason why there is none."""
        return self._extracted(entries, [self._opened(entry) for entry in entries])

    def _extracted(
        self, entries: Sequence[Entry], contents: Sequence[Page | Extracted]
    ) -> list[Extracted]:
        pages = {i: content for i, content in enumerate(contents) if isinstance(content, Page)}
        texts = [one if isinstance(one, Extracted) else Extracted(None) for one in contents]
        for i, text in zip(pages, self.extractor.texts(list(pages.values())), strict=True):
            texts[i] = text
        if self.library:
            texts = [
                _referenced(text, self.library.of(entry.name, text.text))
                for entry, text in zip(entries, texts, strict=True)
            ]
        for entry, text in zip(entries, texts, strict=True):
            if text.encoding:
                self.encodings[entry.name] = text.encoding
        return texts

    def _opened(self, entry: Entry) -> Page | Extracted:
        if entry.problem is not None:
            return Extracted(None, entry.problem)
        if entry.size > self.files.limits.document:
            return Extracted(None, self.files.limits.document_fault("file", entry.size))
        try:
            data = self.content(entry)
        except OSError as error:
            return Extracted(None, f"file cannot be read: {error.strerror}")
        self._check_content(entry, crc32(data))
        if packing := CODECS.get(os.path.splitext(entry.name)[1].lower()):
            data, reason = unpacked_document(data, packing, self.files.limits)
            if reason:
                return Extracted(None, reason)
        if kind := self.kind_of(entry):
            return Page(kind, data, self.encoding, sure=self.encoding is not None)
        if self.reads_xml(entry):
            return xml_document(data, self.encoding)
        text, reason, encoding = decoded(data, self.encoding)
        return Extracted(text, reason, encoding=encoding)

    def content(self, entry: Entry) -> bytes:
        return self.files.read_bytes(self.locate(entry))

    @property
    def chunk_files(self) -> int:
        return CHUNK_PAGES if self.kinds else CHUNK_FILES

    def chunks(self, columns: Columns) -> Iterator[FolderChunk]:
        refuse_others(columns, self.names, f"the folder {self.file}")
        start, size, most = 0, 0, self.chunk_files
        for i, entry in enumerate(self.entries):
            if i > start and (size + entry.size > self.chunk_bytes or i - start >= most):
                yield FolderChunk(self, self.entries[start:i], start + 1, columns)
                start, size = i, 0
            size += entry.size
        yield FolderChunk(self, self.entries[start:], start + 1, columns)

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:  # noqa: ARG002 (protocol)
        return [text.text or "" for text in self.read([self.entries[row - 1] for row in rows])]

    def kept(self, keep: Mask) -> tuple[pa.Table, int]:
        entries = self._kept(keep)
        pages = self.read(entries)
        columns = {
            "id": pa.array([self.id_of(entry) for entry in entries], pa.large_string()),
            "text": pa.array([page.text for page in pages], pa.large_string()),
            **meta_columns(pages, self.names[2:]),
        }
        self._check_unchanged(entries)
        return pa.table(columns), len(self.entries)

    @contextmanager
    def writer(self, sources: Sequence[Any], path: Path) -> Iterator[Write]:  # noqa: ARG002
        with folder_writer(path) as write:
            yield write

    def copy_files(self, keep: Mask, folder: Path) -> list[str]:
        """Copies the kept files and returns their places in the folder."""
        places, entries = [], self.files_of(self._kept(keep))
        for entry in entries:
            place = free_place(folder, self.place(entry))
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            try:
                self._copy(entry, folder / place)
            except OSError as error:
                raise unreadable(self.locate(entry), error) from error
            places.append(place)
        self._check_unchanged(entries)
        return places

    def files_of(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """The files of some documents, each once."""
        return entries

    def _copy(self, entry: Entry, to: Path) -> None:
        place = self.locate(entry)
        if isinstance(place, Remote):  # found by its name alone, so it cannot be opened in parts
            to.write_bytes(place.read_bytes())
            return
        checksum = 0
        with self.files.stream(place) as stream, to.open("wb") as out:
            while data := stream.read(CHUNK_BYTES):
                checksum = crc32(data, checksum)
                out.write(data)
        self._check_content(entry, checksum)

    def _check_content(self, entry: Entry, checksum: int) -> None:
        """Size and time of a file may stay the same when its content changes."""
        if self.checksums.setdefault(entry.name, checksum) != checksum:
            raise changed(str(self.locate(entry)), "was changed")

    def size(self) -> float:
        return float(sum(map(weight, self.entries)))

    def document_size(self) -> float:
        return self.size() / max(1, len(self.entries))

    def pieces(self, columns: Columns, budget: float) -> Iterator[Piece]:
        """Runs of files at random places."""
        refuse_others(columns, self.names, f"the folder {self.file}")
        wanted = budget / max(1.0, self.document_size())
        whole = wanted >= len(self.entries)
        for some in chunkfuls(runs_of(self.entries, wanted), self.chunk_bytes):
            entries = [entry for run in some for entry in run]
            chunk = FolderChunk(self, entries, 1, columns)
            stands_for = float(sum(map(weight, entries)))
            yield Piece(chunk, stands_for, [len(run) for run in some], continues=whole)

    def trial(self, limit: float) -> Trial:
        """Copies into a folder that is deleted."""
        good = np.array([entry.problem is None for entry in self.entries], bool)
        sizes = np.array([weight(entry) for entry in self.entries], float)
        tried = good & (np.cumsum(sizes) - sizes < limit)
        for i in np.flatnonzero(tried).tolist():
            tried[i] = self._may_be_read(self.entries[i])
        with tempfile.TemporaryDirectory() as name:
            self.copy_files(tried, Path(name))
        share = float(sizes[tried].sum() / max(1.0, sizes.sum()))
        written = sum(self.entries[i].size for i in np.flatnonzero(tried).tolist())
        return Trial(share, float(written))

    def _may_be_read(self, entry: Entry) -> bool:
        """Whether the file is readable. A run rejects a locked local file; one in a store stops it
        anyway."""
        path = self.locate(entry)
        return not isinstance(path, Path) or os.access(path, os.R_OK)

    def _check_unchanged(self, entries: Sequence[Entry]) -> None:
        """Checks that the files are the same as when the folder was listed, before they were
        read."""
        for entry, now in zip(entries, self._now(entries), strict=True):
            if now != entry and entry.problem is None:
                raise changed(str(self.locate(entry)), "was changed" if now else "is gone")

    def _now(self, entries: Sequence[Entry]) -> list[Entry | None]:
        if isinstance(self.path, Remote):  # one listing instead of a request for each file
            listed = {entry.name: entry for entry in remote_entries(self.path)}
            return [listed.get(entry.name) for entry in entries]
        return [entry_now(self.path / entry.name, entry.name) for entry in entries]

    def _kept(self, keep: Mask) -> list[Entry]:
        return [entry for entry, kept in zip(self.entries, keep, strict=False) if kept]


def _referenced(text: Extracted, reference: Reference | None) -> Extracted:
    """The text with the metadata of its reference, which people have checked, before that of the
    file."""
    return replace(text, meta=reference.meta().over(text.meta)) if reference else text
