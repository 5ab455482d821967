"""Inputs of which nothing can be read, and inputs that change during a run.

A file or folder that cannot be read is represented by one rejected document at its row 1, and the
run continues with the others. Readable inputs must not change until the kept documents are written.
"""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import IO, Any, cast
from zlib import crc32

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.classes import dataclass
from neardup.documents.columns import Chunk, Columns, LostChunk, Mask, Rejected
from neardup.documents.remote import WILDCARDS, Place, Remote
from neardup.documents.source import Source
from neardup.documents.streams import cause, fault_of
from neardup.errors import ChangedError, KeptError, UnreadableError
from neardup.schema import Array


@dataclass(frozen=True)
class LostSource(Source):
    """A file or folder that cannot be read. It counts as one document, which is rejected."""

    path: Place
    file: str
    error: UnreadableError
    is_file, is_lost, has_paths = True, True, True

    @property
    def rejected(self) -> Rejected:
        reason = f"nothing of it can be read: {self.error.reason}"
        return Rejected(self.file, 1, reason, None, self.file)

    def path_of(self, row: int) -> str:  # noqa: ARG002 (as of a folder)
        return self.file

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        yield LostChunk(self.rejected, dict.fromkeys(columns.found(()), pa.null()))

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:  # noqa: ARG002 (protocol)
        return ["" for _ in rows]

    def kept(self, keep: Mask) -> tuple[None, int]:  # noqa: ARG002 (protocol)
        return None, 1


@dataclass(eq=False)
class Watch:
    """Remembers the state of a file when it was read, and reports if it has changed.

    A source and everything made from it share one watch. If nothing was read in this process (the
    folder of an earlier run), there is nothing to compare with.
    """

    columns: Columns | None = None  # those that the run compares
    damage: list[str] = field(default_factory=list)  # what cannot be written of kept rows
    _seen: tuple[int, ...] | None = None
    _blocks: dict[tuple[int, int], int] = field(default_factory=dict)
    # Digests of the texts of a table; 0: not read yet.
    _rows: Array = field(default_factory=lambda: np.zeros(0, np.uint32))
    _lost: set[int] | None = None
    _damaged: tuple[int, str, int] = 0, "", 0  # rows and columns of the last sentence of damage

    def begin(self, path: Place, columns: Columns) -> None:
        self.columns, self.damage = columns, []
        # The state from the listing of a store is enough: it is also compared at each opening.
        self._seen = path.found if isinstance(path, Remote) else _stamp(path)
        self._lost = set()

    def check_block(self, row: int, data: bytes, file: str) -> None:
        """Refuses a block of a file whose content differs from that of an earlier reading; size and
        time of a file may stay the same. ``row`` is the first one of the block."""
        if self._seen is None:
            return
        whole = np.array([0, len(data)], np.int64)
        checksum = int(_native.bytes_digests(np.frombuffer(data, np.uint8), whole, 0)[0])
        # A source made from this one may read in blocks of another size.
        self.check_part(row, len(data), checksum, file)

    def stream(self, stream: IO[bytes], file: str) -> IO[bytes]:
        """The same for a file that is always read from its start: bytes are checked on their
        way."""
        return cast("IO[bytes]", io.BufferedReader(_Watched(stream, self, file), _STREAMED))

    def check_part(self, place: int, size: int, checksum: int, file: str) -> None:
        if self._seen and self._blocks.setdefault((place, size), checksum) != checksum:
            raise changed(file, "was changed")

    def check_rows(self, row: int, texts: pa.Array, file: str) -> None:
        """The same for rows of a table, whose batches may begin elsewhere at the next reading."""
        digests = None if self._seen is None else _text_digests(texts)
        if digests is None:
            return
        end = row - 1 + len(digests)
        if end > len(self._rows):
            self._rows.resize(max(end, 2 * len(self._rows)), refcheck=False)
        before = self._rows[row - 1 : end]
        if np.any((before != 0) & (before != digests)):
            raise changed(file, "was changed")
        before[:] = digests

    def expect(self, rows: Iterable[int]) -> None:
        """Records the rows that an earlier run could not use."""
        self._lost = set(rows)

    def lose(self, row: int) -> None:
        if self._lost is not None:
            self._lost.add(row)

    def was_read(self, row: int) -> bool:
        """Whether this run could read a row, which begins a part of the file."""
        return self.columns is not None and row not in (self._lost or ())

    def note_damage(
        self, file: str, reason: str, row: int, rows: int, columns: Iterable[pa.Field]
    ) -> None:
        names = ", ".join(repr(field.name) for field in columns)
        begin, before, end = self._damaged
        if self.damage and (before, end) == (names, row):  # one sentence for adjacent parts
            self.damage.pop()
        else:
            begin = row
        self._damaged = begin, names, row + rows
        self.damage.append(
            f"{file}: {reason}; rows {begin:,} to {row + rows - 1:,} were written without a value "
            f"of {names}, which cannot be read"
        )

    def check_lost(self, row: int, reason: str, file: str) -> None:
        """Refuses a part that was readable before: it had a different number of rows, so all later
        rows would move."""
        if self._lost is not None and row not in self._lost:
            raise UnreadableError(
                f"{file}, row {row}: {reason}, but it was read before.",
                hint="check the file; a column that was not compared may be broken.",
            )

    def check(self, path: Place, file: str) -> None:
        if self._seen is None:
            return
        now = _stamp(path)
        if now != self._seen:
            raise changed(file, "is gone" if now is None else "was changed")


_STREAMED = 1 << 20  # bytes with one checksum


class _Watched(io.RawIOBase):
    """Gives out bytes in parts that begin at the same places at every reading."""

    def __init__(self, stream: IO[bytes], watch: Watch, file: str) -> None:
        self._stream, self._watch, self._file = stream, watch, file
        self._at = self._crc = 0

    @property
    def fault(self) -> str | None:
        return fault_of(self._stream)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(min(len(buffer), _STREAMED - self._at % _STREAMED))
        buffer[: len(data)] = data
        self._at, self._crc = self._at + len(data), crc32(data, self._crc)
        if not data or self._at % _STREAMED == 0:
            part = _STREAMED if data else 0  # the end may be that of a part, too
            self._watch.check_part(self._at, part, self._crc, self._file)
            self._crc = 0 if data else self._crc  # the end may be read several times
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


def _text_digests(texts: pa.Array) -> Array | None:
    """None for types that are rare in files (views), whose change only size and time show."""
    if isinstance(texts, pa.DictionaryArray):
        words = _text_digests(texts.dictionary)
        places = texts.indices.fill_null(0).to_numpy(zero_copy_only=False)
        if words is None or not len(words):
            return None
        return np.asarray(words[np.clip(places, 0, len(words) - 1)])
    wide = pa.types.is_large_string(texts.type) or pa.types.is_large_binary(texts.type)
    if not (wide or pa.types.is_string(texts.type) or pa.types.is_binary(texts.type)):
        return None
    _, offsets, values = texts.buffers()
    if not len(texts) or values is None:
        return None
    last = texts.offset + len(texts) + 1  # a stranger's buffer may end in half a number
    ends = np.frombuffer(offsets, np.int64 if wide else np.int32, last)[texts.offset :]
    content = np.frombuffer(values, np.uint8)
    return _native.bytes_digests(content, ends.astype(np.int64), 0).astype(np.uint32) | 1


def changed(file: str, how: str) -> ChangedError:
    return ChangedError(
        f"{file} {how} after it was read, so its kept documents cannot be written.",
        hint="run again; if something still writes to the file, give a copy of it.",
    )


def damaged_kept(damage: Sequence[str], where: str) -> KeptError:
    return KeptError(
        f"{'. '.join(damage)}. {where}",
        hint="if you need these values, bring a sound copy of the file and run again.",
    )


def _stamp(path: Place) -> tuple[int, ...] | None:
    if isinstance(path, Remote):
        return path.now()
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


def check_unchanged(*sources: Any) -> None:
    for source in sources:
        if source.watch is not None:
            source.watch.check(source.path, source.file)


def lost_from_here(error: Exception) -> str:
    return f"file cannot be read from here on ({cause(error)}); the rest is lost"


def locked_folders(pattern: str) -> list[tuple[Path, UnreadableError]]:
    """Folders that a glob would search but may not read; the glob itself does not report them."""
    parts = Path(pattern).parts
    locked: dict[str, None] = {}
    for i in range(1, len(parts)):
        needed = os.X_OK | (os.R_OK if any(sign in parts[i] for sign in WILDCARDS) else 0)
        folders = glob.glob(os.path.join(*parts[:i], ""), recursive=True)
        locked |= dict.fromkeys(f for f in folders if not os.access(f, needed))
    return [(Path(place), _locked(Path(place))) for place in sorted(locked)]


def _locked(folder: Path) -> UnreadableError:
    try:
        os.listdir(folder)
        reason = "its files may not be opened"
    except OSError as error:
        reason = error.strerror or str(error)
    return UnreadableError(
        f"Cannot read {folder}: {reason}.", hint="check the permissions.", reason=reason
    )
