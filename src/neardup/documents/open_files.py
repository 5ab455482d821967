"""Files that stay open between readings: a run reads its input several times and opens it once.

Each reading has its own position, so threads may read one file at the same time. A path that leads
to a different file than before is opened again. A process keeps at most ``MOST_OPEN`` files open;
further files, and those of object stores, are opened for each reading.

``Limits`` keep the memory bounded whatever a file contains. What exceeds a limit is rejected with
its place and the reason, and reading goes on after it. A file of a few kilobytes may unpack to
terabytes, so the ratio of unpacked to packed bytes has a limit, which counts only above
``FREE_BYTES``, because small files of repeated text unpack well.
"""

from __future__ import annotations

import io
import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from neardup.classes import dataclass
from neardup.documents.remote import Place, Remote

FREE_BYTES = 200_000_000
MOST_COLUMNS = 100_000  # of a CSV file


@dataclass(frozen=True)
class Limits:
    """``document``: bytes of a line, a record or a file of one document. ``file``: unpacked bytes
    of a compressed file. ``ratio``: unpacked bytes for each packed one."""

    document: int = 100_000_000
    file: int = 1_000_000_000_000
    ratio: int = 2000

    def unpacking_fault(self, unpacked: int, packed: int) -> str | None:
        """The reason why unpacking stops, if a file of ``packed`` bytes has become so large."""
        if unpacked > self.file:
            return f"file unpacks to more than {shown(self.file)} (max_file); the rest is lost"
        if unpacked > FREE_BYTES and unpacked > self.ratio * max(packed, 1):
            return (
                f"file unpacks to more than {self.ratio:,} times its size (max_ratio); "
                "the rest is lost"
            )
        return None

    def document_fault(self, what: str, size: int) -> str:
        return f"{what} has {shown(size)}; the limit is {shown(self.document)} (max_document)"


def shown(size: int) -> str:
    units = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "KB"))
    for unit, name in units:
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"


LARGE_BATCH = 512 << 20  # bytes of a batch of rows that are decoded at a time


@contextmanager
def claims_of(file_size: float) -> Iterator[None]:
    """Reports a file as broken if a part of it asks for more memory than there is, although
    ``file_size`` bytes would fit. If they do not fit either, the memory is too small, and the error
    stays."""
    try:
        yield
    except MemoryError as error:
        bytearray(int(file_size))  # an error again if there is no memory
        raise OSError("it claims to hold more than fits into memory") from error


def longest_entry(column: pa.Array) -> int:
    """The bytes of the longest text in the dictionary of a column, which rows may repeat."""
    if not pa.types.is_dictionary(column.type) or not len(column.dictionary):
        return 0
    kind = column.dictionary.type
    if kind not in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
        return 0
    return int(pc.max(pc.binary_length(column.dictionary)).as_py() or 0)


class OverLimitError(OSError):
    """A file that cannot be read on, because nothing shows where what is too long ends."""


class TooLong(bytes):
    """A line or record above the limit, without its content: a block that counts as one rejected
    document. ``size`` is its length in the file."""

    size: int
    reason: str

    @classmethod
    def of(cls, what: str, size: int, limits: Limits) -> TooLong:
        block = cls(b"!\n")
        block.size, block.reason = size, limits.document_fault(what, size)
        return block


MOST_OPEN = 128
BUFFER_BYTES = 1 << 20
LINE_BYTES = 1 << 16  # in which the end of a line is looked for
_READS_AT = hasattr(os, "preadv")  # not on Windows


class OpenFiles:
    """The files of some sources, which are closed when no reference to them is left, and the limits
    of reading them."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._open: dict[Path, _Descriptor] = {}

    def __reduce__(self) -> tuple[type[OpenFiles], tuple[Limits]]:
        """Another process opens its own."""
        return OpenFiles, (self.limits,)

    def raw(self, path: Place) -> io.RawIOBase:
        """An unbuffered stream from the start of the file."""
        if isinstance(path, Remote):
            return path.raw()
        known = self._open.get(path)
        with suppress(OSError):  # it is gone, which opening it reports
            if known is not None and os.path.samestat(os.stat(path), known.status):
                return _Reading(known)
        file = path.open("rb", buffering=0)
        if not _READS_AT:
            return file
        descriptor = _Descriptor(file.fileno(), os.fstat(file.fileno()))
        weakref.finalize(descriptor, file.close)
        with _LOCK:
            if known is not None or len(_HELD) < MOST_OPEN:
                self._open[path] = descriptor
                _HELD.add(descriptor)
        return _Reading(descriptor)

    def stream(self, path: Place) -> IO[bytes]:
        if isinstance(path, Remote):
            return path.open()
        return cast("IO[bytes]", io.BufferedReader(self.raw(path), BUFFER_BYTES))

    def read_bytes(self, path: Place) -> bytes:
        if isinstance(path, Remote) or not _READS_AT:
            return path.read_bytes()
        with self.raw(path) as raw:
            return raw.readall()


@dataclass(frozen=True, eq=False)
class _Descriptor:
    """An open file, which is closed when no reading and no ``OpenFiles`` refers to it."""

    number: int
    status: os.stat_result


_HELD: weakref.WeakSet[_Descriptor] = weakref.WeakSet()
_LOCK = threading.Lock()


class _Reading(io.FileIO):
    """Reads an open file from a position of its own: that of the descriptor is never used."""

    read = io.RawIOBase.read  # type: ignore[assignment]  # calls ``readinto``
    tell = io.RawIOBase.tell  # calls ``seek``

    def __init__(self, descriptor: _Descriptor) -> None:
        super().__init__(descriptor.number, closefd=False)
        self._descriptor, self._at = descriptor, 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        before = {os.SEEK_SET: 0, os.SEEK_CUR: self._at}
        self._at = offset + (self._size() if whence == os.SEEK_END else before[whence])
        return self._at

    def readinto(self, buffer: Any) -> int:
        count = os.preadv(self.fileno(), [buffer], self._at)
        self._at += count
        return count

    def readall(self) -> bytes:
        """Reads in one piece, while the inherited method reads a few kilobytes at a time."""
        parts = []
        while part := os.pread(self.fileno(), max(1, self._size() - self._at), self._at):
            parts.append(part)
            self._at += len(part)
        return b"".join(parts)

    def up_to_line_end(self, place: int, size: int) -> int:
        """The bytes from ``place`` to the first line end after ``size`` of them; ``size`` itself if
        no line ends soon."""
        return size + os.pread(self.fileno(), LINE_BYTES, place + size).find(b"\n") + 1

    def _size(self) -> int:
        return os.fstat(self.fileno()).st_size
