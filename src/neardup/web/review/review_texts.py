"""The documents read once into a file of their own, to be shown and searched at once.

Reading goes on in a thread, outside the folder of the run, and takes as much of the disk as the
texts have bytes; the file goes away at the end. A text that is asked for before it is there is read
where it stands. A search goes through ids, titles and texts, without regard to case, in any script:
every word, or passage in "quotes", has to be there. It answers with what has been read so far, and
``progress`` says how much that is.
"""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import NeardupError
from neardup.report.run_view import coded
from neardup.schema import Array
from neardup.web.review.review_source import Read, Source

WORKERS = 2
SCHEMA = pa.schema([("text", pa.large_string())])
_TERM = re.compile(r'"([^"]+)"|(\S+)')


@dataclass(frozen=True)
class Progress:
    """``share`` None: nobody knows. ``fault``: why texts cannot be read."""

    read: int
    share: float | None
    done: bool
    fault: str | None


class Texts:
    """The texts of the documents of a source, by row of the decisions."""

    def __init__(self, source: Source, count: int) -> None:
        self._source, self._count = source, count
        self._lock = threading.Lock()
        self._batches: list[tuple[Array, pa.Array]] = []  # rows, texts in the mapped file
        self._place = np.full((count, 2), -1, np.int32)  # batch and row in it, by document
        self._progress = Progress(0, 0.0, False, None)
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.dates: pa.Array | None = None
        self.titles: pa.Array | None = None
        self.sources: tuple[Array, list[str]] | None = None

    def begin(self) -> None:
        """Starts to read, once."""
        with self._lock:
            if self._thread is None:
                self._folder = tempfile.TemporaryDirectory(prefix="neardup-review-")
                self._thread = threading.Thread(target=self._read_all, daemon=True)
                self._thread.start()

    def wait(self, seconds: float | None = None) -> None:
        self.begin()
        assert self._thread
        self._thread.join(seconds)

    def close(self) -> None:
        self._stop.set()
        if self._thread:
            self._thread.join()
        self._batches = []
        if self._folder:
            self._folder.cleanup()

    @property
    def progress(self) -> Progress:
        return self._progress

    @property
    def version(self) -> int:
        """Another one where more has been read."""
        return len(self._batches) + self._progress.done

    def of(self, ids: Sequence[str], rows: Sequence[int]) -> dict[str, str]:
        """The texts by id; ``rows`` are those of the ids, −1 for what is no document of this
        run."""
        found, missing = {}, []
        for id, row in zip(ids, rows, strict=True):
            text = self._at(row) if row >= 0 else None
            if text is None:
                missing.append(id)
            else:
                found[id] = text
        return found | self._elsewhere(missing)

    def there(self, row: int) -> str | None:
        """The text of a row if it has been read already, else None."""
        return self._at(row) if row >= 0 else None

    def title(self, row: int) -> str | None:
        """The title of a row; None if it has none, or is not read yet."""
        if self.titles is None or row < 0:
            return None
        written: str | None = self.titles[row].as_py()
        return " ".join(written.split()) if written else None

    def _at(self, row: int) -> str | None:
        batch, place = self._place[row].tolist()
        if batch < 0:
            return None
        text: str = self._batches[batch][1][place].as_py()
        return text

    def _elsewhere(self, ids: Iterable[str]) -> dict[str, str]:
        wanted = list(ids)
        if not wanted:
            return {}
        try:
            return self._source.texts(wanted)
        except (NeardupError, OSError, LookupError):
            return {}

    def search(self, q: str, ids: pa.Array) -> Array:
        """Which documents have every term of ``q`` in their id, their title or their text."""
        names = [ids] if self.titles is None else [ids, self.titles]
        found = np.ones(self._count, np.bool_)
        for term in sorted(terms(q), key=len, reverse=True):  # long ones are rare
            named = [np.asarray(pc.fill_null(_has(column, term), False)) for column in names]
            found &= np.logical_or.reduce(named) | self._with(term, found)
        return found

    def _with(self, term: str, among: Array) -> Array:
        made = np.zeros(self._count, np.bool_)

        def look(batch: tuple[Array, pa.Array]) -> None:
            rows, texts = batch
            left = np.flatnonzero(among[rows])
            if len(left) * 3 < len(rows):  # a copy of a few is cheaper than a look at all
                rows, texts = rows[left], texts.take(pa.array(left))
            if len(rows):
                made[rows[np.asarray(_has(texts, term))]] = True

        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(look, list(self._batches)))
        return made

    def _read_all(self) -> None:
        fault = None
        try:
            self._spool()
        except NeardupError as error:
            fault = str(error)
        except (OSError, LookupError, pa.ArrowException) as error:
            fault = f"The documents cannot be read: {error}."
        before = self._progress
        self._progress = Progress(before.read, before.share, True, fault)

    def _spool(self) -> None:
        """What was read before a fault counts."""
        read: list[Read] = []
        try:
            for number, some in enumerate(self._source.read()):
                if self._stop.is_set():
                    return
                self._store(number, some.rows, some.texts)
                read.append(some._replace(texts=None))
                done = self._progress.read + len(some.rows)
                self._progress = Progress(done, some.share, False, None)
        finally:
            if read:
                self._take_columns(read)

    def _take_columns(self, read: list[Read]) -> None:
        by_row = _by_row(np.concatenate([some.rows for some in read]), self._count)
        self.dates = _values([some.dates for some in read], by_row)
        self.titles = _values([some.titles for some in read], by_row)
        own = _values([some.sources for some in read], by_row)
        self.sources = None if own is None else coded(pa.chunked_array([own]))

    def _store(self, number: int, rows: Array, texts: pa.Array) -> None:
        """Writes texts to the disk and maps them: what is mapped may leave the memory again."""
        assert self._folder
        there = texts.is_valid()
        rows, texts = rows[np.asarray(there)], texts.filter(there)
        path = Path(self._folder.name) / f"{number}.arrow"
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, SCHEMA) as writer:
            writer.write_batch(pa.record_batch([texts], schema=SCHEMA))
        with pa.memory_map(str(path)) as mapped:
            column = pa.ipc.open_file(mapped).get_batch(0).column(0)
        self._batches.append((rows, column))
        self._place[rows, 1] = np.arange(len(rows))
        self._place[rows, 0] = number


def terms(q: str) -> list[str]:
    """Words, and passages in quotes."""
    return [quoted or word for quoted, word in _TERM.findall(q)]


def _has(texts: pa.Array, term: str) -> Any:
    return pc.match_substring(texts, term, ignore_case=True)


def _by_row(rows: Array, count: int) -> pa.Array:
    """Where the value of each document stands; null where it was not read."""
    place = np.full(count, -1, np.int64)
    place[rows] = np.arange(len(rows))
    return pa.array(place, mask=place < 0)


def _values(parts: list[pa.Array], by_row: pa.Array) -> pa.Array | None:
    """The values by row; None if no document has any."""
    whole = pa.chunked_array(parts).combine_chunks().take(by_row)
    return None if whole.null_count == len(whole) else whole
