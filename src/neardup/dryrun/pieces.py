"""What every format gives an estimate: pieces of its documents, and a trial of writing them back.

A *piece* is a run of documents that stand side by side; where it stands is drawn, so that any two
places far from each other are both in the sample with a chance that is known.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.documents import Chunk
from neardup.documents.streams import CHUNK_BYTES, unpacked

PIECE_BYTES = 1 << 20
PLACES = 16  # row groups or record batches that are looked into
TRIED_BYTES = 4 * CHUNK_BYTES
_SEED = 17  # same input, same sample


class Piece(NamedTuple):
    """A chunk, the bytes of the input it stands for, and how many documents or blank lines each of
    its pieces has. ``continues``: the first of them goes on where the chunk before it ended."""

    chunk: Chunk
    size: float
    parts: Sequence[int]
    continues: bool = False


class Trial(NamedTuple):
    """How much of a source was written, and how many bytes it became."""

    share: float
    written: float


def places(space: float, piece: float, budget: float) -> list[int]:
    """Where pieces begin: at the start, and at places drawn apart from each other."""
    drawn = np.random.default_rng(_SEED).random(max(0, round(budget / piece) - 1))
    return sorted({0, *(drawn * max(0.0, space - piece)).astype(np.int64).tolist()})


def some_of(count: int, wanted: float) -> list[int]:
    """Numbers below ``count``, drawn without repetition."""
    drawn = np.random.default_rng(_SEED).permutation(count)
    return sorted(drawn[: max(1, round(min(wanted, count)))].tolist()) if count else []


def chunkfuls(blocks: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Many short pieces together as long as a chunk of a run, which is what is to be estimated."""
    gathered: list[bytes] = []
    for block in blocks:
        gathered.append(block)
        if sum(map(len, gathered)) >= CHUNK_BYTES:
            yield gathered
            gathered = []
    if gathered:
        yield gathered


def unpacking(raw: IO[bytes], codec: str) -> IO[bytes]:
    """The bytes of a packed file; ``raw.tell()`` says how much of it was taken."""
    if codec == "xz":
        return unpacked(lzma.open(raw))
    return unpacked(pa.CompressedInputStream(pa.PythonFile(raw, "r"), codec))


def packing(file: Any, codec: str | None) -> Any:
    if codec is None:
        return file
    if codec == "xz":
        return lzma.open(file, "wb")
    return pa.CompressedOutputStream(pa.PythonFile(file, "w"), codec)
