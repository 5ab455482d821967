"""The evidence of a whole collection, and candidate pairs scored on it in blocks of bounded memory.

Evidence is in memory while it is small, and in a spool file when it is not. It is appended in the
order of the documents and read back for chosen documents only. Peak memory is ``limit`` plus what
one call of ``take`` returns, whatever the size of the collection.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.classes import dataclass
from neardup.documents.source import chunk_results
from neardup.errors import DataError
from neardup.methods.base import Comparisons, Method, Scores
from neardup.schema import Array, Growing, Ragged, offsets_of

T = TypeVar("T")
SPOOLED_BLOCK = 1 << 19  # values that are rewritten at a time in a file
SMALL = 1 << 20  # bytes of small collections, for which large pages would take longer


class EvidenceStore:
    """The spool file lies in ``folder`` without a name there, and vanishes with the store.
    ``room`` is memory that another store has handed over."""

    def __init__(
        self,
        dtype: npt.DTypeLike,
        *,
        limit: int,
        folder: Path | None = None,
        room: Array | None = None,
    ) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self._dtype = self.dtype  # of what is stored
        self.limit = limit
        self.folder = folder
        self._room = room
        self._values = _room(self._dtype, min(limit, SMALL))  # as long as it is in memory
        self._held = 0
        self._ends = _no_ends()
        self._part_counts: list[int] = []
        self._file: IO[bytes] | None = None

    def append(self, evidence: Ragged) -> None:
        values = evidence.values[evidence.offsets[0] : evidence.offsets[-1]]
        self._ends.append(evidence.offsets[1:] - evidence.offsets[0] + self.total)
        self._part_counts.append(len(evidence))
        held = self._held + len(values)
        if self._file is None and self._values.nbytes == SMALL < held * self._dtype.itemsize:
            small, self._values = self._values, self._large_room()
            self._values[: self._held] = small[: self._held]
        if self._file is None and held > len(self._values):
            self._spool()
        if self._file is None:
            self._values[self._held : held] = values
            self._held = held
        else:
            self._write(values)

    def bound(self, limit: int) -> None:
        """A lower limit: memory is needed for something else."""
        self.limit = min(self.limit, max(limit, 0))
        if self._file is None and self.held > self.limit:
            self._spool()
        elif self._file is None:
            self._values = self._values[: max(self.limit // self._dtype.itemsize, self._held)]

    def _spool(self) -> None:
        self._file = self._new_file()
        self._write(self._values[: self._held])
        self._values, self._held = np.empty(0, self._dtype), 0

    def _new_file(self) -> IO[bytes]:
        file = tempfile.TemporaryFile(dir=self.folder, prefix="neardup-evidence-")  # noqa: SIM115
        weakref.finalize(self, file.close)
        return file

    def _large_room(self) -> Array:
        if self._room is None or self._room.nbytes < SMALL:
            return _room(self._dtype, self.limit)
        size = min(self._room.nbytes, self.limit) // self._dtype.itemsize * self._dtype.itemsize
        return self._room[:size].view(self._dtype)

    def _write(self, values: Array) -> None:
        assert self._file is not None
        self._file.write(np.ascontiguousarray(values).view(np.uint8).data)
        self._file.flush()

    def __len__(self) -> int:
        return len(self._ends) - 1

    @property
    def total(self) -> int:
        """Values of all documents."""
        return int(self._ends.values[-1])

    @property
    def size(self) -> int:
        """Bytes of all documents, in memory or on disk."""
        return self.total * self.value_bytes

    @property
    def value_bytes(self) -> int:
        return self._dtype.itemsize

    @property
    def held(self) -> int:
        """Bytes in memory."""
        return self._held * self._dtype.itemsize

    @property
    def lengths(self) -> Array:
        return np.diff(self._ends.values)

    def lengths_of(self, documents: Array) -> Array:
        ends = self._ends.values
        return np.asarray(ends[1:][documents] - ends[documents])

    def blocks(self, values: int) -> Iterator[Array]:
        """All documents, in runs that have about so many values."""
        ends = self._ends.values
        first = 0
        while first < len(self):
            last = max(
                int(np.searchsorted(ends, ends[first] + values, side="right")) - 1, first + 1
            )
            yield np.arange(first, last)
            first = last

    @property
    def whole(self) -> Ragged | None:
        """The evidence of all documents where it lies; None if it is in a file."""
        if self._file is not None:
            return None
        return Ragged(self._values[: self._held], self._ends.values)

    def take(self, documents: Array) -> Ragged:
        """The evidence of these documents, which must be in ascending order."""
        place = self._values if self._file is None else self._file
        values = self._read_back(place, documents, self._dtype)
        return Ragged(values, offsets_of(self.lengths_of(documents)))

    def _read_back(self, place: Array | IO[bytes], documents: Array, dtype: np.dtype[Any]) -> Array:
        """The values of these documents from an array or a file that has those of all."""
        starts = self._ends.values[documents] * dtype.itemsize
        sizes = self.lengths_of(documents) * dtype.itemsize
        out = np.empty(int(sizes.sum()) // dtype.itemsize, dtype)
        if isinstance(place, np.ndarray):
            _native.gather_memory(place.view(np.uint8), starts, sizes, out.view(np.uint8))
        elif not _native.gather_file(place.fileno(), starts, sizes, out.view(np.uint8)):
            raise DataError(
                "The spool file of the evidence could not be read back.",
                hint=f"is the disk of {self.folder or tempfile.gettempdir()} full or failing?",
            )
        return out

    def rewrite(
        self, change: Callable[[int, Ragged], Array], workers: int
    ) -> Iterator[tuple[int, int]]:
        """Replaces the evidence by other values of the same sizes, block by block, and yields the
        first document of each block, and that after its last, in order. ``change`` is given the
        first document and the evidence of a block, which it may change in place."""

        def block(bounds: tuple[int, int]) -> tuple[int, int]:
            self._rewrite(*bounds, change)
            return bounds

        return chunk_results(pairwise(self._cuts()), block, workers)

    def _cuts(self) -> list[int]:
        """Where blocks that are rewritten at a time begin and end."""
        if self._file is None:
            cuts: list[int] = np.cumsum([0, *self._part_counts]).tolist()
            return cuts
        return [0, *(int(block[-1]) + 1 for block in self.blocks(SPOOLED_BLOCK))]

    def _rewrite(self, first: int, last: int, change: Callable[[int, Ragged], Array]) -> None:
        begin, end = self._ends.values[[first, last]]
        rows = self._ends.values[first : last + 1] - begin
        if self._file is None:
            held = self._values[begin:end]
            changed = change(first, Ragged(held, rows))
            if changed is not held:
                held[:] = changed
        else:
            stored = self.take(np.arange(first, last)).values
            place = int(begin) * self._dtype.itemsize
            os.pwrite(self._file.fileno(), change(first, Ragged(stored, rows)).data, place)

    @property
    def spooled(self) -> int:
        """Bytes on disk."""
        return os.fstat(self._file.fileno()).st_size if self._file else 0

    def hand_over(self) -> Array:
        """Closes the store and gives its memory to another one: memory that was used before costs
        a fraction of fresh memory."""
        room = self._values.view(np.uint8)
        self.close()
        return room

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._room, self._values = None, np.empty(0, self._dtype)
        self._ends = _no_ends()


def _no_ends() -> Growing:
    ends = Growing(np.int64)
    ends.append(np.zeros(1, np.int64))
    return ends


def _room(dtype: np.dtype[Any], limit: int) -> Array:
    """An array of as many bytes, or of as many as the system promises. Memory that is not used yet
    costs nothing, and a large array has large pages."""
    try:
        return np.empty(limit // dtype.itemsize, dtype)
    except MemoryError:
        return _room(dtype, limit // 2)


BLOCK_BYTES = 32 << 20
# Where evidence is read in place: pairs of a block, and documents of which each block may see all.
FEWEST_PAIRS, BLOCK_PAIRS, MOST_DOCUMENTS = 1 << 10, 1 << 14, 1 << 18


@dataclass(frozen=True)
class Pairs:
    """Verified pairs of documents, by index. The order of the two documents has no meaning."""

    a: npt.NDArray[np.int64]
    b: npt.NDArray[np.int64]
    score: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.a)

    @classmethod
    def none(cls) -> Pairs:
        return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))

    @classmethod
    def concat(cls, parts: list[Pairs]) -> Pairs:
        if not parts:
            return cls.none()
        return cls(
            np.concatenate([p.a for p in parts]),
            np.concatenate([p.b for p in parts]),
            np.concatenate([p.score for p in parts]),
        )

    def where(self, mask: Array) -> Pairs:
        return Pairs(self.a[mask], self.b[mask], self.score[mask])

    def mapped(self, names: Array) -> Pairs:
        """The same pairs with other numbers: document ``i`` becomes ``names[i]``."""
        return Pairs(names[self.a].astype(np.int64), names[self.b].astype(np.int64), self.score)

    def alone(self, documents: int) -> tuple[Array, Pairs]:
        """The documents, of so many, that are in pairs, and the pairs numbered by them."""
        paired = np.zeros(documents, np.bool_)
        paired[self.a] = paired[self.b] = True
        number = np.cumsum(paired, dtype=np.int32) - np.int32(1)
        return np.flatnonzero(paired), self.mapped(number)

    def distinct(self) -> Pairs:
        """Each pair once, sorted, with the smaller number first."""
        a, b = np.minimum(self.a, self.b), np.maximum(self.a, self.b)
        order = np.lexsort((b, a))
        a, b, score = a[order], b[order], self.score[order]
        new = np.ones(len(a), bool)
        new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
        return Pairs(a[new], b[new], score[new])


# Evidence and pairs of its rows → scores; ``forms`` adds the digest of each row's normal form.
ScorePairs = Callable[..., Scores]


@dataclass
class Verifier:
    """``score`` gets the evidence of some documents and pairs of them. If ``forms`` has the digest
    of the normal form of each document, it also gets the digests of these documents. ``in_place``:
    the score reads nothing but the evidence of its pairs, so it may get that of all documents."""

    score: ScorePairs
    store: EvidenceStore
    forms: Array | None = None
    workers: int = 1
    progress: Callable[[int], None] = lambda _: None
    in_place: bool = False
    scored: int = 0
    refused: int = 0

    def scoring(self, score: ScorePairs, forms: Array) -> Verifier:
        """A verifier of the same documents with a different score; it counts separately."""
        return replace(self, score=score, forms=forms, scored=0, refused=0)

    def scores(self, a: Array, b: Array) -> Scores:
        """One score for each pair, in the order of the pairs."""
        self.scored += len(a)
        parts = self._of_blocks(self._score, a, b)
        self.refused += sum(p.refused for p in parts)
        passed = np.concatenate([np.empty(0, np.bool_), *(p.passed for p in parts)])
        return Scores(passed, np.concatenate([np.empty(0), *(p.score for p in parts)]))

    def _blocks(self, a: Array, b: Array) -> list[slice]:
        """Runs of pairs whose evidence fits a block (a single larger pair is its own block)."""
        if not len(a):
            return []
        if self._whole is not None:
            # No worker waits long for the last block of another one.
            size = min(max(len(a) // (4 * self.workers), FEWEST_PAIRS), BLOCK_PAIRS)
            return [slice(i, i + size) for i in range(0, len(a), size)]
        sizes = self.store.lengths_of(a) + self.store.lengths_of(b)
        volume = np.cumsum(sizes * self.store.dtype.itemsize)
        cuts = np.flatnonzero(np.diff(volume // BLOCK_BYTES)) + 1
        edges = [0, *cuts.tolist(), len(a)]
        return [slice(i, j) for i, j in pairwise(edges)]

    def _of_blocks(self, work: Callable[[Array, Array], T], a: Array, b: Array) -> list[T]:
        blocks = self._blocks(a, b)
        if len(blocks) < 2:
            return [work(a[part], b[part]) for part in blocks]
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(lambda part: work(a[part], b[part]), blocks))

    def _score(self, a: Array, b: Array) -> Scores:
        documents, evidence, first, second = self._taken(a, b)
        forms = [] if self.forms is None else [self.forms[documents]]
        scores = self.score(evidence, first, second, *forms)
        self.progress(len(a))
        return scores

    def compared(self, method: Method, a: Array, b: Array) -> Comparisons:
        """The pairs compared to their end, in the order given."""
        none = np.empty(0, np.bool_)

        def of_block(a: Array, b: Array) -> Comparisons:
            return method.comparisons(*self._taken(a, b)[1:])

        parts = [Comparisons(np.empty(0), none, none), *self._of_blocks(of_block, a, b)]
        return Comparisons(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    @property
    def _whole(self) -> Ragged | None:
        """All evidence, if it can be read where it lies."""
        return self.store.whole if self.in_place and len(self.store) <= MOST_DOCUMENTS else None

    def _taken(self, a: Array, b: Array) -> tuple[Array | slice, Ragged, Array, Array]:
        """The documents of the pairs, their evidence, and the pairs of its rows."""
        if (whole := self._whole) is not None:
            return slice(None), whole, np.asarray(a, np.int64), np.asarray(b, np.int64)
        documents, local = np.unique(np.concatenate([a, b]), return_inverse=True)
        local = local.astype(np.int64)
        return documents, self.store.take(documents), local[: len(a)], local[len(a) :]
