"""The words of all documents for the kernel: in memory, and beyond a limit in temporary files.

Words take four bytes each, and the grams that the search stores about five more. What does not fit
is in files that are mapped into memory, whose pages the system may drop; the kernel is the same, so
the answer is. ``release`` drops them between two slices of documents, which are so small that the
pages a slice can touch fit into the limit.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from neardup import _native
from neardup.schema import Array, Ragged, offsets_of

_SAMPLED = 2 / 9  # of the grams, with a window of eight
_GRAM_BYTES = 6  # for each word: each sampled gram takes 23
_SLICE = 2000  # documents between two signs of progress
_PAGE = 4096


class WordStore:
    def __init__(self, kernel: _native.Copies, memory: int, folder: Path | None = None) -> None:
        self.kernel, self._memory, self._folder = kernel, memory, folder
        self._file: IO[bytes] | None = None
        self._lengths: list[Array] = []  # of the documents in the file
        self._mapped: list[mmap.mmap] = []
        self._words = self._documents = 0

    def add(self, hashes: Ragged) -> None:
        """Adds documents; only the low halves of the hashes count."""
        self._words += len(hashes.values)
        self._documents += len(hashes)
        if self._file is None and self._words * 4 <= self._memory // 2:
            self.kernel.hold(hashes.values, hashes.offsets)
            return
        self._file = self._file or self._temporary()
        self._file.write(hashes.values[: hashes.offsets[-1]].astype(np.uint32).tobytes())
        self._lengths.append(hashes.lengths)

    def _temporary(self) -> IO[bytes]:
        return tempfile.TemporaryFile(dir=self._folder, prefix="neardup-words-")

    def begin(self) -> None:
        """Prepares the comparison, after all documents have been added."""
        if self._file is not None:
            self._file.flush()
            words = self._map(self._file, int(np.concatenate(self._lengths).sum()) * 4)
            offsets = offsets_of(np.concatenate(self._lengths))
            self.kernel.borrow(words.view(np.uint32), offsets)
        if self._words * _GRAM_BYTES + self.kernel.bytes > self._memory:
            samples = self.kernel.samples()
            self.release()
            entries, slots = (self._map(self._temporary(), n) for n in self.kernel.room(samples))
            self.kernel.lend(entries, slots, samples)
        else:
            self.kernel.reserve(round(self._words * _SAMPLED))

    def _map(self, file: IO[bytes], size: int) -> Any:
        """The file as an array of bytes; what was not written is zero."""
        file.truncate(max(size, 1))
        self._mapped.append(mmap.mmap(file.fileno(), max(size, 1)))
        file.close()
        return np.frombuffer(self._mapped[-1], np.uint8)[:size]

    def slices(self, order: Array) -> Iterator[Array]:
        """The documents in their order, as many at once as the memory allows."""
        at_once = _SLICE
        if self._mapped:
            touched = max(1, self._words // max(1, self._documents)) // 2 * _PAGE
            at_once = int(min(_SLICE, max(1, self._memory // 2 // max(1, touched))))
        for begin in range(0, len(order), at_once):
            yield order[begin : begin + at_once]
            self.release()

    def release(self) -> None:
        """Takes pages of files out of the memory of the process; they are read again if needed."""
        for mapped in self._mapped:
            if hasattr(mmap, "MADV_DONTNEED"):
                mapped.madvise(mmap.MADV_DONTNEED)
