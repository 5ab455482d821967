"""The texts of some documents of a run, read again from its inputs in one pass.

A text is asked for by a key of 64 bits: the digest that the run has of it, so that a changed input
gives no wrong text, and a million copies are one; or where it stands. Only what is asked for is
kept, in memory up to a limit and then on disk. What cannot be read again is left out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.documents import Chunk, Collection, Columns, DocumentBatch
from neardup.documents.lost import Watch
from neardup.errors import NeardupError
from neardup.matching.evidence import EvidenceStore
from neardup.progress import LOG, Progress, Silent
from neardup.schema import Array, Ragged

TEXT_SEED = 7  # of the text digests (native/methods/reading.hpp)
Keys = Callable[[DocumentBatch], npt.NDArray[np.uint64]]


@dataclass(frozen=True)
class Means:
    """What a pass may use: threads, bytes in memory, a folder for what is beyond."""

    workers: int = 1
    limit: int = 256 << 20
    folder: Path | None = None
    progress: Progress = field(default_factory=Silent)


@dataclass(frozen=True)
class Again:
    """``slot`` says of each key that was asked for where its text is in the store, or −1."""

    slot: npt.NDArray[np.int64]
    store: EvidenceStore

    @property
    def lengths(self) -> Array:
        """In bytes, by key; 0 for those that were not found."""
        stored = np.concatenate([self.store.lengths, [0]])
        return np.asarray(stored[self.slot])

    def texts(self, numbers: Array) -> tuple[Ragged, Array]:
        """The texts of some of the keys, all found; and where each number's is among them."""
        slots, where = np.unique(self.slot[numbers], return_inverse=True)
        return self.store.take(slots), where.astype(np.int64)


def text_keys(batch: DocumentBatch) -> npt.NDArray[np.uint64]:
    texts = Ragged.of_strings(batch.records.column("text"))
    return _native.bytes_digests(texts.values, texts.offsets, TEXT_SEED)


def place_keys(files: Sequence[str]) -> Keys:
    """Keys by file and row; ``files`` are numbered as they stand here."""
    number = {file: i for i, file in enumerate(files)}

    def keys(batch: DocumentBatch) -> npt.NDArray[np.uint64]:
        return places(
            np.full(batch.records.num_rows, number.get(batch.file, len(files))),
            batch.records.column("row").to_numpy(),
        )

    return keys


def places(file: Array, row: Array) -> npt.NDArray[np.uint64]:
    return np.asarray(file).astype(np.uint64) << np.uint64(40) | np.asarray(row).astype(np.uint64)


def reread(
    wanted: npt.NDArray[np.uint64],
    inputs: Sequence[tuple[Collection, Columns]],
    keys: Keys,
    means: Means,
) -> Again:
    """The texts with the keys ``wanted``, sorted and distinct. It ends when it has all of them."""
    store = EvidenceStore(np.uint8, limit=means.limit, folder=means.folder)
    found = Again(np.full(len(wanted), -1, np.int64), store)
    left, stored = len(wanted), 0
    for batch, numbers, rows in _batches(wanted, inputs, keys, means.workers):
        fresh = found.slot[numbers] < 0
        fresh[fresh] = _first(numbers[fresh])
        numbers, rows = numbers[fresh], rows[fresh]
        texts = batch.records.column("text").take(pa.array(rows))
        store.append(Ragged.of_strings(texts))
        found.slot[numbers] = stored + np.arange(len(numbers))
        stored, left = stored + len(numbers), left - len(numbers)
        means.progress.advance(len(batch), batch.size)
        if not left:
            break
    return found


def _first(numbers: Array) -> Array:
    """The first of equal ones."""
    first = np.zeros(len(numbers), np.bool_)
    first[np.unique(numbers, return_index=True)[1]] = True
    return first


_Found = tuple[DocumentBatch, Array, Array]


def _batches(
    wanted: Array, inputs: Sequence[tuple[Collection, Columns]], keys: Keys, workers: int
) -> Iterator[_Found]:
    """Each batch, in order, with the numbers of the keys it has and the rows that have them."""

    def look(chunk: Chunk) -> _Found:
        batch = chunk.read()
        there = keys(batch)
        number = np.minimum(np.searchsorted(wanted, there), len(wanted) - 1)
        rows = np.flatnonzero(wanted[number] == there)
        return batch, number[rows], rows

    waiting: deque[Future[_Found]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for chunk in _chunks(inputs):
                waiting.append(pool.submit(look, chunk))
                if len(waiting) > workers:
                    yield from _done(waiting.popleft())
            while waiting:
                yield from _done(waiting.popleft())
        finally:
            for future in waiting:
                future.cancel()


def _done(future: Future[_Found]) -> Iterator[_Found]:
    try:
        yield future.result()
    except (NeardupError, OSError, pa.ArrowException) as error:
        LOG.warning("texts could not be read again: %s", error)


def _chunks(inputs: Sequence[tuple[Collection, Columns]]) -> Iterator[Chunk]:
    for collection, columns in inputs:
        for source in collection.sources:
            try:
                yield from untouched(source).chunks(columns)
            except (NeardupError, OSError, pa.ArrowException) as error:
                LOG.warning("%s could not be read again: %s", source.file, error)


def untouched(source: Any) -> Any:
    """A twin with a watch of its own: what was noted when documents were taken in must stay."""
    return replace(source, watch=Watch()) if hasattr(source, "watch") else source
