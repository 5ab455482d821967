"""Files that stay open between readings: a run reads its input several times and opens it once.

Each reading has its own position, so threads may read one file at the same time. A path that leads
to a different file than before is opened again. A process keeps at most ``MOST_OPEN`` files open;
further files, and those of object stores, are opened for each reading.
"""

from __future__ import annotations

import io
import os
import threading
import weakref
from pathlib import Path
from typing import IO, Any, cast

from neardup.documents.input_limits import Limits
from neardup.documents.remote import Place, Remote

MOST_OPEN = 128
BUFFER_BYTES = 1 << 20
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
        return _Reading(self._descriptor(path)) if _READS_AT else path.open("rb", buffering=0)

    def stream(self, path: Place) -> IO[bytes]:
        if isinstance(path, Remote):
            return path.open()
        return cast(IO[bytes], io.BufferedReader(self.raw(path), BUFFER_BYTES))

    def read_bytes(self, path: Place) -> bytes:
        if isinstance(path, Remote) or not _READS_AT:
            return path.read_bytes()
        with self.raw(path) as raw:
            return raw.readall()

    def _descriptor(self, path: Path) -> _Descriptor:
        known = self._open.get(path)
        if known is not None and known.is_of(path):
            return known
        descriptor = _Descriptor(path)
        with _LOCK:
            if known is not None or len(_HELD) < MOST_OPEN:
                self._open[path] = descriptor
                _HELD.add(descriptor)
        return descriptor


class _Descriptor:
    """An open file, which is closed when no reading and no ``OpenFiles`` refers to it."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self.number = self._file.fileno()
        self._status = os.fstat(self.number)

    def is_of(self, path: Path) -> bool:
        try:
            return os.path.samestat(os.stat(path), self._status)
        except OSError:
            return False

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


_HELD: weakref.WeakSet[_Descriptor] = weakref.WeakSet()
_LOCK = threading.Lock()


class _Reading(io.RawIOBase):
    def __init__(self, descriptor: _Descriptor) -> None:
        self._descriptor: _Descriptor | None = descriptor
        self._number, self._at = descriptor.number, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        before = {os.SEEK_SET: 0, os.SEEK_CUR: self._at}
        self._at = offset + (self._size() if whence == os.SEEK_END else before[whence])
        return self._at

    def readinto(self, buffer: Any) -> int:
        count = os.preadv(self._open_number(), [buffer], self._at)
        self._at += count
        return count

    def readall(self) -> bytes:
        """Reads in one piece, while the inherited method reads a few kilobytes at a time."""
        parts = []
        while part := os.pread(self._open_number(), max(1, self._size() - self._at), self._at):
            parts.append(part)
            self._at += len(part)
        return b"".join(parts)

    def _size(self) -> int:
        return os.fstat(self._open_number()).st_size

    def _open_number(self) -> int:
        if self._descriptor is None:
            raise ValueError("I/O operation on closed file.")
        return self._number

    def close(self) -> None:
        self._descriptor = None
        super().close()
