"""Pieces of a source for a sample, and trials of writing a source back: what all formats share.

A *piece* is a run of documents that stand side by side. Its place is drawn with a fixed seed, so
the same input gives the same sample, and two places that are far apart are both in the sample with
a known probability.
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
PLACES = 16  # row groups or record batches that are looked into
TRIED_BYTES = CHUNK_BYTES  # that are written on trial
LEAST_PIECE = 1 << 16
SIP_BYTES = 1 << 12  # of a packed file that are read at a time
_SEED = 17  # same input, same sample


class Piece(NamedTuple):
    """A chunk, the bytes of the input it stands for, and how many documents or blank lines each of
    its pieces has. ``continues``: the first of them begins where the chunk before it ended."""

    chunk: Chunk
    size: float
    parts: Sequence[int]
    continues: bool = False


class Trial(NamedTuple):
    """Which share of a source was written, and how many bytes that became."""

    share: float
    written: float


def places(space: float, piece: float, budget: float) -> list[int]:
    """Where pieces begin: at the start, and at drawn places."""
    drawn = np.random.default_rng(_SEED).random(max(0, round(budget / piece) - 1))
    return sorted({0, *(drawn * max(0.0, space - piece)).astype(np.int64).tolist()})


def some_of(count: int, wanted: float) -> list[int]:
    """Numbers below ``count``, drawn without repetition."""
    drawn = np.random.default_rng(_SEED).permutation(count)
    return sorted(drawn[: max(1, round(min(wanted, count)))].tolist()) if count else []


def chunkfuls(blocks: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Short pieces gathered to the length of a chunk, because a run reads such chunks."""
    gathered: list[bytes] = []
    for block in blocks:
        gathered.append(block)
        if sum(map(len, gathered)) >= CHUNK_BYTES:
            yield gathered
            gathered = []
    if gathered:
        yield gathered


def unpacking(raw: IO[bytes], codec: str | None) -> IO[bytes]:
    """The bytes of a packed file, or of one in UTF-16; ``raw.tell()`` is how much of the file was
    read for them."""
    packing = packing_of(codec)
    if packing is None:
        return transcoded(raw, codec)
    sips = cast(IO[bytes], _Sips(raw))
    if packing == "xz":
        return transcoded(unpacked(lzma.open(sips)), codec)
    return transcoded(unpacked(pa.CompressedInputStream(pa.PythonFile(sips, "r"), packing)), codec)


class _Sips(io.RawIOBase):
    """A file that gives little at a time, so that unpacking does not read far ahead."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._raw.read(SIP_BYTES if size < 0 else min(size, SIP_BYTES))


@contextmanager
def packing(file: IO[bytes], codec: str | None) -> Iterator[Any]:
    """A stream that packs into ``file``, which stays open: ``file.tell()`` is the packed size. An
    Arrow stream over ``file`` would, left open, write to a closed file and print a warning."""
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
    """The start of a file, up to a budget of unpacked bytes: the bytes on disk of each piece."""

    def __init__(self, size: float, budget: float) -> None:
        self._size, self._budget = size, budget
        self._before = self._unpacked = 0.0

    @property
    def enough(self) -> bool:
        return self._unpacked >= self._budget

    def taken(self, raw: IO[bytes], stream: IO[bytes], data: bytes) -> float:
        """The bytes on disk of ``data``, the piece that was read last."""
        self._unpacked += len(data)
        at = float(raw.tell())
        if self.enough and at >= self._size:
            # The whole file was read ahead, but maybe not unpacked: less than a buffer is left, and
            # where little becomes much its share has to be counted.
            at = self._size * self._unpacked / (self._unpacked + _rest_of(stream))
        taken, self._before = at - self._before, at
        return taken


def _rest_of(stream: IO[bytes]) -> int:
    """How many bytes follow, counted up to a bound beyond which it hardly matters."""
    count = 0
    while count < TRIED_BYTES and (data := stream.read(1 << 16)):
        count += len(data)
    return count


def piece_of(budget: float) -> int:
    """How many bytes to unpack at a time: as many as a run does, if the budget allows it."""
    return int(min(CHUNK_BYTES, max(budget, LEAST_PIECE)))
