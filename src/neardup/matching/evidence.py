"""Evidence of a whole collection: in memory while it is small, in a spool file when it is not.

Evidence is appended in the order of the documents and read back for chosen documents only. Peak
memory is ``limit`` plus what one call of ``take`` returns, whatever the size of the collection.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.errors import DataError
from neardup.schema import Array, Ragged, offsets_of


class EvidenceStore:
    """The spool file lies in ``folder`` without a name there, and vanishes with the store."""

    def __init__(self, dtype: npt.DTypeLike, *, limit: int, folder: Path | None = None) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.limit = limit
        self.folder = folder
        self._parts: list[Array] = []
        self._part_bytes = 0
        self._lengths: list[Array] = []
        self._starts: Array | None = None
        self._part_counts: list[int] = []
        self._file: IO[bytes] | None = None

    def append(self, evidence: Ragged) -> None:
        values = evidence.values[evidence.offsets[0] : evidence.offsets[-1]]
        self._lengths.append(evidence.lengths)
        self._starts = None
        self._parts.append(values.copy())  # trimmed: a kernel's buffer has room to spare
        self._part_counts.append(len(evidence))
        self._part_bytes += values.nbytes
        if self._file is not None or self._part_bytes > self.limit:
            self._spill()

    def _spill(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self.folder, prefix="neardup-evidence-")  # noqa: SIM115
        for part in self._parts:
            self._file.write(part.view(np.uint8).data)
        self._file.flush()
        self._parts, self._part_bytes = [], 0

    @property
    def lengths(self) -> Array:
        self._settle()
        return self._lengths[0]

    def _settle(self) -> Array:
        """Byte offsets of all documents."""
        if self._starts is None:
            self._lengths = [np.concatenate([np.empty(0, np.int64), *self._lengths])]
            self._starts = offsets_of(self._lengths[0] * self.dtype.itemsize)
        return self._starts

    def take(self, documents: Array) -> Ragged:
        """The evidence of these documents, which must be in ascending order."""
        starts = self._settle()[documents]
        lengths = self._lengths[0][documents]
        out = np.empty(int(lengths.sum()), self.dtype)
        sizes = lengths * self.dtype.itemsize
        if self._file is None:
            self._take_memory(documents, starts, sizes, out.view(np.uint8))
        elif not _native.gather_file(self._file.fileno(), starts, sizes, out.view(np.uint8)):
            raise DataError(
                "The spool file of the evidence could not be read back.",
                hint=f"is the disk of {self.folder or tempfile.gettempdir()} full or failing?",
            )
        return Ragged(out, offsets_of(lengths))

    def rewrite(self, change: Callable[[int, Ragged], Array], workers: int) -> None:
        """Replaces the evidence by other values of the same sizes, block by block. ``change`` is
        given the number of the first document of a block and the evidence of the block."""
        starts = self._settle()
        ends = np.cumsum([0, *self._part_counts])

        def block(at: int) -> None:
            first, last = int(ends[at]), int(ends[at + 1])
            offsets = offsets_of(self._lengths[0][first:last])
            if self._file is None:
                self._parts[at] = change(first, Ragged(self._parts[at], offsets))
                return
            begin, size = int(starts[first]), int(starts[last] - starts[first])
            stored = np.frombuffer(os.pread(self._file.fileno(), size, begin), self.dtype)
            os.pwrite(self._file.fileno(), change(first, Ragged(stored, offsets)).data, begin)

        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(block, range(len(self._part_counts))))

    def _take_memory(self, documents: Array, starts: Array, sizes: Array, out: Array) -> None:
        """The parts are never joined: while one large array is built, it needs its size twice."""
        cuts = np.searchsorted(documents, np.cumsum(self._part_counts))
        base, begin, done = 0, 0, 0
        for part, end in zip(self._parts, cuts.tolist(), strict=True):
            if end > begin:
                size = int(sizes[begin:end].sum())
                source = part.view(np.uint8)
                _native.gather_memory(
                    source, starts[begin:end] - base, sizes[begin:end], out[done : done + size]
                )
                done += size
            base += part.nbytes
            begin = end

    @property
    def spooled(self) -> int:
        """Bytes on disk."""
        return os.fstat(self._file.fileno()).st_size if self._file else 0

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._parts = []
