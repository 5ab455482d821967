"""Evidence that is stored without weights, and later weighed, in six bytes a value.

A value that is feature and weight takes four bytes while documents are counted. Its weight is
stored beside it when all are, in two bytes: nothing is written twice. Other values are numbers
below 2**32, such as the sizes at the head of a profile. What is read back has 64 bits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import numpy as np

from neardup import _native
from neardup.matching.evidence import EvidenceStore
from neardup.schema import Array, Ragged

BLOCK = 1 << 18  # values that are weighed at a time
_FEATURE, _WEIGHT, _VALUE = np.dtype(np.uint32), np.dtype(np.uint16), np.dtype(np.uint64)


class WeightedEvidenceStore(EvidenceStore):
    """Features are appended, ``rewrite`` weighs them once, and ``take`` gives both."""

    def __init__(self, *, limit: int, folder: Path | None = None) -> None:
        super().__init__(_FEATURE, limit=limit, folder=folder)
        self.dtype = _VALUE
        self._weights: Array | IO[bytes] = np.empty(0, _WEIGHT)

    @property
    def value_bytes(self) -> int:
        return _FEATURE.itemsize + _WEIGHT.itemsize

    @property
    def held(self) -> int:
        weights = self._weights.nbytes if isinstance(self._weights, np.ndarray) else 0
        return super().held + weights

    @property
    def whole(self) -> Ragged | None:
        """None: the values do not lie anywhere as they are read."""
        return None

    def take(self, documents: Array) -> Ragged:
        features = super().take(documents)
        weights = self._read_back(self._weights, documents, _WEIGHT)
        return Ragged(_native.join(features.values, weights), features.offsets)

    def rewrite(
        self, change: Callable[[int, Ragged], Array], workers: int
    ) -> Iterator[tuple[int, int]]:
        """Weighs all features; ``change`` gives values of 64 bits for them."""
        in_memory = self._file is None and self.size <= self.limit
        self._weights = np.empty(self.total, _WEIGHT) if in_memory else self._new_file()
        return super().rewrite(change, workers)

    def _cuts(self) -> list[int]:
        return [0, *(int(block[-1]) + 1 for block in self.blocks(BLOCK))]

    def _rewrite(self, first: int, last: int, change: Callable[[int, Ragged], Array]) -> None:
        features = super().take(np.arange(first, last))
        weights = np.empty(len(features.values), _WEIGHT)
        fits = _native.divide(change(first, features), features.values, weights)
        assert fits, "a weight has 16 bits"
        begin = int(self._ends.values[first])
        if isinstance(self._weights, np.ndarray):
            self._weights[begin : begin + len(weights)] = weights
        else:
            os.pwrite(self._weights.fileno(), weights.data, begin * _WEIGHT.itemsize)

    @property
    def spooled(self) -> int:
        weights = (
            0 if isinstance(self._weights, np.ndarray) else os.fstat(self._weights.fileno()).st_size
        )
        return super().spooled + weights

    def close(self) -> None:
        super().close()
        if not isinstance(self._weights, np.ndarray):
            self._weights.close()
        self._weights = np.empty(0, _WEIGHT)
