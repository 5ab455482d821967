"""Pieces of a source for a sample, and trials of writing a source back, for all formats.

A *piece* is a run of adjacent documents. Its place is random with a fixed seed, so the same input
gives the same sample, and two distant documents are both in the sample with a known probability.
"""

from __future__ import annotations

import io
import lzma
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, NamedTuple, cast

import numpy as np
import pyarrow as pa

from neardup.documents.columns import Chunk
from neardup.documents.streams import CHUNK_BYTES, packing_of, transcoded, unpacked

PIECE_BYTES = 1 << 20
PLACES = 16  # row groups or record batches in a sample
TRIED_BYTES = CHUNK_BYTES  # bytes that are written on trial
LEAST_PIECE = 1 << 16
SIP_BYTES = 1 << 12  # bytes of a compressed file that are read at a time
_SEED = 17  # same input, same sample


class Piece(NamedTuple):
    """A chunk, the bytes of the input that it represents, and the number of documents or blank
    lines of each of its pieces. ``continues``: the first of them begins at the end of the chunk
    before."""

    chunk: Chunk
    size: float
    parts: Sequence[int]
    continues: bool = False


class Trial(NamedTuple):
    """The share of a source that was written, and the resulting number of bytes."""

    share: float
    written: float


def places(space: float, piece: float, budget: float) -> list[int]:
    """The places where pieces begin: the start, and random places."""
    drawn = np.random.default_rng(_SEED).random(max(0, round(budget / piece) - 1))
    return sorted({0, *(drawn * max(0.0, space - piece)).astype(np.int64).tolist()})


def some_of(count: int, wanted: float) -> list[int]:
    """Random numbers below ``count``, without repetition."""
    drawn = np.random.default_rng(_SEED).permutation(count)
    return sorted(drawn[: max(1, round(min(wanted, count)))].tolist()) if count else []


def chunkfuls(blocks: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Short pieces, gathered to the length of a chunk, because a run reads such chunks."""
    gathered: list[bytes] = []
    for block in blocks:
        gathered.append(block)
        if sum(map(len, gathered)) >= CHUNK_BYTES:
            yield gathered
            gathered = []
    if gathered:
        yield gathered


def unpacking(raw: IO[bytes], codec: str | None) -> IO[bytes]:
    """The bytes of a compressed file, or of one in UTF-16; ``raw.tell()`` is the number of bytes of
    the file that were read for them."""
    packing = packing_of(codec)
    if packing is None:
        return transcoded(raw, codec)
    sips = cast("IO[bytes]", _Sips(raw))
    if packing == "xz":
        return transcoded(unpacked(lzma.open(sips)), codec)
    return transcoded(unpacked(pa.CompressedInputStream(pa.PythonFile(sips, "r"), packing)), codec)


class _Sips(io.RawIOBase):
    """A file that returns little at a time, so that unpacking does not read far ahead."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._raw.read(SIP_BYTES if size < 0 else min(size, SIP_BYTES))


@contextmanager
def packing(file: IO[bytes], codec: str | None) -> Iterator[Any]:
    """A stream that compresses into ``file``, which stays open, so that ``file.tell()`` is the
    compressed size. An Arrow stream over ``file`` that is left open would write to a closed file
    and print a warning."""
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
    """The start of a file, up to a budget of unpacked bytes, with the bytes on disk of each
    piece."""

    def __init__(self, size: float, budget: float) -> None:
        self._size, self._budget = size, budget
        self._before = self._unpacked = 0.0

    @property
    def enough(self) -> bool:
        return self._unpacked >= self._budget

    def taken(self, raw: IO[bytes], stream: IO[bytes], data: bytes) -> float:
        """The bytes on disk of ``data``, the last piece that was read."""
        self._unpacked += len(data)
        at = float(raw.tell())
        if self.enough and at >= self._size:
            # The whole file was read ahead, but maybe not unpacked: less than a buffer is left, and
            # where little becomes much its share has to be counted.
            at = self._size * self._unpacked / (self._unpacked + _rest_of(stream))
        taken, self._before = at - self._before, at
        return taken


def _rest_of(stream: IO[bytes]) -> int:
    """The number of bytes that follow, counted up to a limit above which it hardly matters."""
    count = 0
    while count < TRIED_BYTES and (data := stream.read(1 << 16)):
        count += len(data)
    return count


def piece_of(budget: float) -> int:
    """The number of bytes to unpack at a time: as many as in a run, if the budget allows it."""
    return int(min(CHUNK_BYTES, max(budget, LEAST_PIECE)))
