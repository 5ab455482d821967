"""Samples of JSON Lines: plain files at drawn places, compressed ones from their start."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import numpy as np

from neardup.documents import Columns
from neardup.documents.jsonl import JsonlChunk, JsonlSource, count, select
from neardup.documents.streams import CHUNK_BYTES, open_binary, whole_lines
from neardup.engines.estimate import pieces as common
from neardup.engines.estimate.pieces import (
    Piece,
    Start,
    Trial,
    chunkfuls,
    packing,
    piece_of,
    places,
    unpacking,
)

_EVERY_LINE = np.ones(CHUNK_BYTES, np.bool_)


def size(source: JsonlSource) -> float:
    return source.path.stat().st_size


def each(source: JsonlSource) -> float:
    """Bytes on disk of a document; 0 where only reading would tell."""
    if source.codec:
        return 0.0
    with open_binary(source.path, None) as stream:
        start = stream.read(1 << 20)
    return len(start) / max(1, count(start))


def pieces(source: JsonlSource, columns: Columns, budget: float) -> Iterator[Piece]:
    if source.codec:
        yield from _from_start(source, columns, budget)
    elif budget < size(source):
        yield from _drawn(source, columns, budget)
    else:
        for chunk in source.chunks(columns):
            if isinstance(chunk, JsonlChunk):
                yield Piece(chunk, len(chunk.data), [count(chunk.data)], continues=True)


def _drawn(source: JsonlSource, columns: Columns, budget: float) -> Iterator[Piece]:
    for blocks in chunkfuls(_blocks(source, budget)):
        yield _joined(source, columns, blocks)


def _blocks(source: JsonlSource, budget: float) -> Iterator[bytes]:
    end = -1
    with open_binary(source.path, None) as stream:
        for start in places(size(source), common.PIECE_BYTES, budget):
            if start <= end:  # inside the piece before it
                continue
            stream.seek(start)
            if start:
                stream.readline()
            data = stream.read(common.PIECE_BYTES) + stream.readline()
            end = stream.tell()
            if data:
                yield data


def _joined(source: JsonlSource, columns: Columns, blocks: list[bytes]) -> Piece:
    data = b"".join(blocks)
    return Piece(JsonlChunk(source.file, data, 1, columns), len(data), list(map(count, blocks)))


def _from_start(source: JsonlSource, columns: Columns, budget: float) -> Iterator[Piece]:
    """The budget is of unpacked bytes: they are what a run works on."""
    with source.path.open("rb") as raw, unpacking(raw, source.codec or "") as stream:
        start = Start(size(source), budget)
        for data in whole_lines(stream, piece_of(budget)):
            chunk = JsonlChunk(source.file, data, 1, columns)
            yield Piece(chunk, start.taken(raw, stream, data), [count(data)], continues=True)
            if start.enough:
                return


def rewrite(source: JsonlSource, limit: float) -> Trial:
    """Into a nameless file."""
    with source.path.open("rb") as raw, tempfile.TemporaryFile() as file:
        stream, read = unpacking(raw, source.codec) if source.codec else raw, 0
        with packing(file, source.codec) as out:
            for data in whole_lines(stream, piece_of(limit)):
                out.write(select(data, _EVERY_LINE).data)
                read += len(data)
                if read >= limit:
                    break
        return Trial(raw.tell() / max(1.0, size(source)), file.tell())
