"""What every format gives an estimate: pieces of its documents, and a trial of writing them back.

A *piece* is a run of documents that stand side by side; where it stands is drawn, so that any two
places far from each other are both in the sample with a chance that is known.
"""

from __future__ import annotations

import io
import lzma
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, NamedTuple, cast

import numpy as np
import pyarrow as pa

from neardup.documents import Chunk
from neardup.documents.streams import CHUNK_BYTES, packing_of, transcoded, unpacked

PIECE_BYTES = 1 << 20
PLACES = 16  # row groups or record batches that are looked into
TRIED_BYTES = CHUNK_BYTES  # that are written on trial
LEAST_PIECE = 1 << 16
SIP_BYTES = 1 << 12  # of a packed file that are read at a time
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
    """The bytes of a packed file, or of one in UTF-16; ``raw.tell()`` says how much of it was
    taken."""
    packing = packing_of(codec)
    if packing is None:
        return transcoded(raw, codec)
    sips = cast(IO[bytes], _Sips(raw))
    if packing == "xz":
        return transcoded(unpacked(lzma.open(sips)), codec)
    return transcoded(unpacked(pa.CompressedInputStream(pa.PythonFile(sips, "r"), packing)), codec)


class _Sips(io.RawIOBase):
    """A file that gives little at a time, so that who unpacks it does not read far ahead."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._raw.read(SIP_BYTES if size < 0 else min(size, SIP_BYTES))


@contextmanager
def packing(file: IO[bytes], codec: str | None) -> Iterator[Any]:
    """A stream that packs into ``file``, which stays open: ``file.tell()`` then says how much that
    became. Left open itself, Arrow would write to a file that is gone, and complain on its own."""
    codec = packing_of(codec)
    if codec is None:
        yield file
    elif codec == "xz":
        with lzma.open(file, "wb") as out:
            yield out
    else:
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, codec) as out:
            yield out
        file.write(sink.getvalue())


class Start:
    """The beginning of a file, up to a budget of unpacked bytes: how many bytes on disk each piece
    stands for."""

    def __init__(self, size: float, budget: float) -> None:
        self._size, self._budget = size, budget
        self._before = self._unpacked = 0.0

    @property
    def enough(self) -> bool:
        return self._unpacked >= self._budget

    def taken(self, raw: IO[bytes], stream: IO[bytes], data: bytes) -> float:
        """Of the piece ``data``, the last one that was read."""
        self._unpacked += len(data)
        at = float(raw.tell())
        if self.enough and at >= self._size:
            # All was read ahead, but maybe not unpacked. It is less than a buffer, and where little
            # becomes much the share of what is left has to be counted.
            at = self._size * self._unpacked / (self._unpacked + _rest_of(stream))
        taken, self._before = at - self._before, at
        return taken


def _rest_of(stream: IO[bytes]) -> int:
    """How many bytes follow; beyond so many it hardly matters how many."""
    count = 0
    while count < TRIED_BYTES and (data := stream.read(1 << 16)):
        count += len(data)
    return count


def piece_of(budget: float) -> int:
    """How much to unpack at a time: as a run does, if the budget has room for it."""
    return int(min(CHUNK_BYTES, max(budget, LEAST_PIECE)))
