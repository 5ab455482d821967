"""Samples of CSV and TSV: plain files at drawn places, compressed ones from their start.

Whether a place is inside quotes only the whole file would say. So a block is read both ways, and
the way that gives fewer records of another width than the header counts: good enough for an
estimate.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO

import numpy as np

from neardup import _native
from neardup.documents import Columns, csv
from neardup.documents.csv import CsvChunk, CsvSource, Header
from neardup.documents.streams import CHUNK_BYTES, open_binary
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

_EVERY_RECORD = np.ones(CHUNK_BYTES, np.bool_)
_LONGEST = 64 << 20  # a record that is longer is passed over


def size(source: CsvSource) -> float:
    return source.path.stat().st_size


def each(source: CsvSource) -> float:
    """Bytes on disk of a document; 0 where only reading would tell."""
    if source.codec:
        return 0.0
    with open_binary(source.path, None) as stream:
        start = stream.read(1 << 20)
    return len(start) / max(1, len(csv.scan(start, source.header.delimiter)))


def pieces(source: CsvSource, columns: Columns, budget: float) -> Iterator[Piece]:
    source.check(columns)
    if source.codec or budget >= size(source):
        yield from _from_start(source, columns, budget)
    else:
        yield from _drawn(source, columns, budget)


def _drawn(source: CsvSource, columns: Columns, budget: float) -> Iterator[Piece]:
    for blocks in chunkfuls(_blocks(source, budget)):
        yield _joined(source, columns, blocks)


def _blocks(source: CsvSource, budget: float) -> Iterator[bytes]:
    first, end = len(source.header.data), -1
    with open_binary(source.path, None) as stream:
        for place in places(size(source) - first, common.PIECE_BYTES, budget):
            if place <= end:  # inside the piece before it
                continue
            data = _records_at(stream, first + place, source.header, at_start=place == 0)
            end = stream.tell() - first
            if data:
                yield data


def _records_at(stream: IO[bytes], place: int, header: Header, *, at_start: bool) -> bytes:
    wanted = common.PIECE_BYTES
    while wanted <= _LONGEST:
        stream.seek(place)
        data = stream.read(wanted)
        found = _whole(data, header) if at_start else aligned(data, header)
        if found or len(data) < wanted:
            return found
        wanted *= 4
    return b""


def aligned(data: bytes, header: Header) -> bytes:
    """The whole records of a block that begins anywhere."""
    tries = [data, b'"' + data]
    scans = [csv.scan(one, header.delimiter) for one in tries]
    # The first one begins anywhere. Lines of a quoted text may fit by accident; records all fit.
    misfits = [int((scan.widths[1:] != len(header.names)).sum()) for scan in scans]
    best = int(misfits[1] < misfits[0])
    starts = scans[best].starts
    return _whole(tries[best][int(starts[1]) :], header) if len(starts) > 1 else b""


def _whole(data: bytes, header: Header) -> bytes:
    return data[: _native.whole_csv_records(data, header.delimiter)]


def _joined(source: CsvSource, columns: Columns, blocks: list[bytes]) -> Piece:
    data, sign = b"".join(blocks), source.header.delimiter
    chunk = CsvChunk(source.file, data, 1, columns, source.header, source.encoding)
    return Piece(chunk, len(data), [len(csv.scan(block, sign)) for block in blocks])


def _from_start(source: CsvSource, columns: Columns, budget: float) -> Iterator[Piece]:
    header = source.header
    with source.path.open("rb") as raw:
        stream = unpacking(raw, source.codec) if source.codec else raw
        stream.read(len(header.data))
        start, piece = Start(size(source), budget), piece_of(budget)
        for data in csv.whole_records(stream, header.delimiter, piece, source.file):
            chunk = CsvChunk(source.file, data, 1, columns, header, source.encoding)
            rows = len(csv.scan(data, header.delimiter))
            yield Piece(chunk, start.taken(raw, stream, data), [rows], continues=True)
            if start.enough:
                return


def rewrite(source: CsvSource, limit: float) -> Trial:
    """Into a nameless file."""
    sign = source.header.delimiter
    with source.path.open("rb") as raw, tempfile.TemporaryFile() as file:
        stream, read = unpacking(raw, source.codec) if source.codec else raw, 0
        with packing(file, source.codec) as out:
            for data in csv.whole_records(stream, sign, piece_of(limit), source.file):
                out.write(csv.select(data, sign, _EVERY_RECORD).data)
                read += len(data)
                if read >= limit:
                    break
        return Trial(raw.tell() / max(1.0, size(source)), file.tell())
