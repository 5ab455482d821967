"""Samples of Arrow files: drawn record batches of the file format, a stream from its start.

Batches are the unit: one that is compressed has to be unpacked whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pyarrow as pa
import pyarrow.ipc as ipc

from neardup.documents import Columns
from neardup.documents.arrow import ArrowSource, batch_of, pieces_of, sound
from neardup.documents.columns import LostRows
from neardup.documents.memory_tables import check_columns, chunk_of, wanted
from neardup.engines.estimate.pieces import Piece, Trial, some_of


def size(source: ArrowSource) -> float:
    return source.path.stat().st_size


def each(source: ArrowSource) -> float:
    batch, share = next(_batches(source, None, 0), (None, 0.0))
    return size(source) * share / batch.num_rows if batch is not None and batch.num_rows else 0.0


def pieces(source: ArrowSource, columns: Columns, budget: float) -> Iterator[Piece]:
    there = source.schema().names
    check_columns(columns, there, source.file)
    for batch, share in _batches(source, wanted(columns, there), budget):
        for i, part in enumerate(pieces_of(batch, source.chunk_rows)):
            chunk = chunk_of(part, source.file, 1, columns)
            stands_for = size(source) * share * part.num_rows / batch.num_rows
            go_on = i > 0 or source.is_stream
            yield Piece(chunk, stands_for, [part.num_rows], continues=go_on)


def _batches(
    source: ArrowSource, names: list[str] | None, budget: float
) -> Iterator[tuple[pa.RecordBatch, float]]:
    """With the share of the file that each batch is; at least one where there is one."""
    options = ipc.IpcReadOptions()
    if names is not None:
        there = source.schema().names
        options.included_fields = [there.index(name) for name in names]
    with source.opened(options) as (reader, _, file):
        if isinstance(reader, ipc.RecordBatchFileReader):
            yield from _of_file(reader, budget / size(source))
        else:
            yield from _of_stream(reader, file, size(source), budget)


def _of_file(
    reader: ipc.RecordBatchFileReader, part: float
) -> Iterator[tuple[pa.RecordBatch, float]]:
    count = reader.num_record_batches
    for i in some_of(count, part * count):
        batch = batch_of(reader, i)
        if not isinstance(batch, LostRows):  # a run rejects it
            yield batch, 1 / count


def _of_stream(
    reader: ipc.RecordBatchStreamReader, file: pa.NativeFile, whole: float, budget: float
) -> Iterator[tuple[pa.RecordBatch, float]]:
    """The last batch stands for what follows it, too."""
    held, before, end = None, 0, 0
    with suppress(pa.ArrowException, OSError):  # cut off: a run rejects what is lost
        for batch in map(sound, reader):
            if held is not None:
                yield held, (end - before) / whole
                if end >= budget:
                    return
                before = end
            held, end = batch, file.tell()
    if held is not None:
        yield held, 1 - before / whole


def rewrite(source: ArrowSource, limit: float) -> Trial:
    """Into memory."""
    sink, share = pa.BufferOutputStream(), 0.0
    compression = "lz4" if source.form == "feather" else None
    options = ipc.IpcWriteOptions(compression=compression)
    with ipc.new_stream(sink, source.schema(), options=options) as out:
        for batch, part in _batches(source, None, limit):
            out.write_batch(batch)
            share += part
    return Trial(share, sink.tell())
