"""Extracts the texts of pages in a run: chooses the extractor, and extracts each page once.

Pages are extracted in several processes, because extraction is Python and C code that holds the
lock. A broken PDF may crash its process, and a hostile page may keep it busy for hours. Such a
process is replaced, and the other pages are not affected: a page that crashes its process, or that
takes longer than a minute, is read as all its text if it is HTML, and else rejected.

A run reads its documents up to three times: to count, to compare and to explain. :class:`Spool`
therefore stores extracted pages on disk; its file is in the temporary folder, is deleted with its
owner and takes no memory.

Columns of HTML are extracted after they are read. The documents themselves do not change: kept
lines and rows have the original HTML. A document in which no text is found is rejected.
"""

from __future__ import annotations

import atexit
import functools
import importlib.util
import os
import pickle
import queue
import sys
import tempfile
import threading
import weakref
import zlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.classes import dataclass
from neardup.documents.columns import Chunk, DocumentBatch, Rejected
from neardup.documents.file_formats import ALL_TEXT, HOWS, HTML, PDF
from neardup.errors import MissingExtraError, SettingsError

if TYPE_CHECKING:  # most runs extract no page
    import sqlite3

    from neardup.documents.extraction.page import Extracted, Page


class Spool:
    """Extracted pages on disk. It is thread-safe, and equal pages are stored once."""

    def __init__(self) -> None:
        import sqlite3

        handle, name = tempfile.mkstemp(prefix="neardup-pages-")
        os.close(handle)
        self._lock = threading.Lock()
        self._base = sqlite3.connect(name, check_same_thread=False, isolation_level=None)
        self._base.execute("PRAGMA journal_mode = OFF")
        self._base.execute("PRAGMA synchronous = OFF")
        self._base.execute("CREATE TABLE page (digest BLOB PRIMARY KEY, how TEXT, found BLOB)")
        weakref.finalize(self, _remove, self._base, Path(name))

    def get(self, digest: bytes) -> Extracted | None:
        with self._lock:
            row = self._base.execute(
                "SELECT found FROM page WHERE digest = ?", (digest,)
            ).fetchone()
        if row is None:
            return None
        extracted: Extracted = pickle.loads(zlib.decompress(row[0]))
        return extracted

    def put(self, digest: bytes, found: Extracted) -> None:
        data = zlib.compress(pickle.dumps(found, pickle.HIGHEST_PROTOCOL), 1)
        with self._lock:
            self._base.execute(
                "INSERT OR REPLACE INTO page VALUES (?, ?, ?)", (digest, found.how, data)
            )

    def counts(self) -> dict[str, int]:
        """The number of pages by extractor, the most common first."""
        asked = "SELECT how, COUNT(*) FROM page WHERE how NOTNULL GROUP BY how ORDER BY 2 DESC, 1"
        with self._lock:
            return dict(self._base.execute(asked).fetchall())

    def clear(self) -> None:
        with self._lock:
            self._base.execute("DELETE FROM page")


def _remove(base: sqlite3.Connection, path: Path) -> None:
    base.close()
    path.unlink(missing_ok=True)


USUAL = "trafilatura"
_NEEDED = {
    "trafilatura": ("trafilatura", "html"),
    "resiliparse": ("resiliparse", "html"),
    PDF: ("pypdfium2", "pdf"),
}


@functools.cache
def _cores() -> int:
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Extraction:
    """The settings as written. With ``how=None``, pages (HTML, PDF, crawls) are extracted in the
    default way, and text columns of tables and lines are text already. Otherwise columns are
    extracted too."""

    how: str | None = None
    workers: int = field(default_factory=_cores)

    def __post_init__(self) -> None:
        if self.how not in (None, *HOWS):
            raise SettingsError(
                f"extract is {self.how!r}.", hint=f"expected one of {', '.join(HOWS)}."
            )

    @property
    def pages(self) -> bool:
        """Whether pages are extracted, or read as they are."""
        return self.how != "none"

    @property
    def columns(self) -> bool:
        return self.how not in (None, "none")

    @property
    def used(self) -> str:
        return self.how or USUAL

    def check(self, kinds: Iterable[str], file: str) -> None:
        """Raises an error before any work if a package for pages of these kinds is missing."""
        for kind in kinds:
            module, extra = _NEEDED.get(self.used if kind == HTML else kind, (None, ""))
            if module and importlib.util.find_spec(module) is None:
                raise MissingExtraError(
                    f"{file} has pages in {kind.upper()}; to read them takes {module}, which is "
                    "not installed.",
                    hint=f"pip install 'neardup[{extra}]', or --extract "
                    + ("all-text." if kind == HTML else "none, which reads files as they are."),
                )


class Extractor:
    """Extracts pages for all sources of a collection."""

    def __init__(self, extraction: Extraction | None = None) -> None:
        self.extraction = extraction or Extraction()
        self._made = threading.Lock()

    @cached_property
    def _spool(self) -> Spool:
        with self._made:  # several threads may extract the first pages
            return self.__dict__.get("_spool") or Spool()

    @property
    def _pool(self) -> Pool:
        return shared_pool(self.extraction.workers)

    def texts(self, pages: Sequence[Page]) -> list[Extracted]:
        """Extracted texts in the order of the pages."""
        how = self.extraction.used
        digests = [page.digest(how) for page in pages]
        known = {digest: self._spool.get(digest) for digest in digests}
        missing = {d: p for d, p in zip(digests, pages, strict=True) if known[d] is None}
        extracted = self._extracted(list(missing.values()), how)
        for digest, one in zip(missing, extracted, strict=True):
            self._spool.put(digest, one)
        known |= zip(missing, extracted, strict=True)
        return [found for digest in digests if (found := known[digest]) is not None]

    def texts_once(self, pages: Sequence[Page]) -> list[Extracted]:
        """``texts`` of pages that are read only once, so that nothing is stored."""
        return self._extracted(pages, self.extraction.used)

    def _extracted(self, pages: Sequence[Page], how: str) -> list[Extracted]:
        from neardup.documents.extraction.html import extract_html

        if how == ALL_TEXT and all(page.kind == HTML for page in pages):
            return [extract_html(page, how) for page in pages]  # needs no process: it cannot fail
        answers = self._pool.answers(pages, how)
        return [found or _given_up(page) for page, found in zip(pages, answers, strict=True)]

    def counts(self) -> dict[str, int]:
        """The number of different pages by extractor."""
        return self._spool.counts() if "_spool" in self.__dict__ else {}

    def clear(self) -> None:
        """Forgets all extracted pages, before a run that is timed."""
        if "_spool" in self.__dict__:
            self._spool.clear()


def _given_up(page: Page) -> Extracted:
    from neardup.documents.extraction.html import extract_html
    from neardup.documents.extraction.page import Extracted

    if page.kind != HTML:
        reason = "cannot be read: the reader crashed, or took a minute, over it"
        return Extracted(None, f"{page.kind.upper()} {reason}")
    return extract_html(page, ALL_TEXT)


def page_of(text: str) -> Page:
    """A page from a text that is HTML, as in a column."""
    from neardup.documents.extraction.page import Page

    return Page(HTML, text.encode("utf-8", "replace"), "utf-8", sure=True)


@dataclass(frozen=True)
class ExtractedChunk:
    chunk: Chunk
    extractor: Extractor

    def read(self) -> DocumentBatch:
        batch = self.chunk.read()
        records = batch.records
        extracted = self.extractor.texts([page_of(text) for text in records["text"].to_pylist()])
        usable = np.array([one.text is not None for one in extracted], bool)
        place = records.schema.get_field_index("text")
        texts = pa.array([one.text or "" for one in extracted], pa.large_string())
        records = records.set_column(place, records.schema.field(place), texts)
        lost = [
            Rejected(batch.file, row, extracted[i].reason or "", name)
            for i, row, name in _rows(records, np.flatnonzero(~usable))
        ]
        rejected = sorted([*batch.rejected, *lost], key=lambda one: one.row)
        return replace(batch, records=records.filter(pa.array(usable)), rejected=rejected)


def _rows(records: pa.RecordBatch, chosen: np.ndarray) -> list[tuple[int, int, str]]:
    rows, names = records["row"], records["id"]
    return [(i, rows[i].as_py(), names[i].as_py()) for i in chosen.tolist()]


def extracted_texts(texts: Sequence[str], extractor: Extractor) -> list[str]:
    return [page.text or "" for page in extractor.texts([page_of(text) for text in texts])]


SECONDS = 60.0  # a page takes a hundredth of one
_CODE = "import sys; sys.path[:] = {path!r}; from {module} import serve; serve()"
_MODULE = "neardup.documents.extraction.worker"


class Worker:
    """One process that extracts one page at a time."""

    def __init__(self) -> None:
        import subprocess

        code = _CODE.format(path=sys.path, module=_MODULE)
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def answer(self, page: Page, how: str, seconds: float) -> Extracted | None:
        """None if the process crashed, or was killed because it took too long."""
        timer = threading.Timer(seconds, self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            pickle.dump((page, how), self._pipe_in, pickle.HIGHEST_PROTOCOL)
            self._pipe_in.flush()
            extracted: Extracted = pickle.load(self._pipe_out)
        except (EOFError, OSError, pickle.UnpicklingError):
            self.close()
            return None
        finally:
            timer.cancel()
        return extracted

    @property
    def _pipe_in(self) -> Any:
        return self._process.stdin

    @property
    def _pipe_out(self) -> Any:
        return self._process.stdout

    @property
    def open(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._pipe_in, self._pipe_out):
            with suppress(OSError):  # what was not written is not wanted any more
                pipe.close()


class Pool:
    def __init__(self, workers: int) -> None:
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="neardup-extract")
        self._idle: queue.LifoQueue[Worker] = queue.LifoQueue()
        atexit.register(self.close)

    def answers(
        self, pages: Sequence[Page], how: str, seconds: float = SECONDS
    ) -> list[Extracted | None]:
        return list(self._threads.map(lambda page: self._answer(page, how, seconds), pages))

    def _answer(self, page: Page, how: str, seconds: float) -> Extracted | None:
        worker = self._take()
        extracted = worker.answer(page, how, seconds)
        if worker.open:
            self._idle.put(worker)
        return extracted

    def _take(self) -> Worker:
        while True:
            try:
                worker = self._idle.get_nowait()
            except queue.Empty:
                return Worker()
            if worker.open:
                return worker
            worker.close()

    def close(self) -> None:
        while not self._idle.empty():
            self._idle.get_nowait().close()


@functools.cache
def shared_pool(workers: int) -> Pool:
    """Processes are kept for the next run, because starting one takes as long as fifty pages."""
    return Pool(workers)
