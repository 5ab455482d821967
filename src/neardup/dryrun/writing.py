"""How fast the documents of a file can be written back, measured on its beginning.

Lines go to a nameless temporary file, row groups to memory; nothing stays.
"""

from __future__ import annotations

import tempfile
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.documents.jsonl import JsonlSource
from neardup.documents.lines import select
from neardup.documents.parquet import ParquetSource
from neardup.documents.streams import CHUNK_BYTES, parquet_file, whole_lines
from neardup.dryrun.sample import size_of

TRIED = 4 * CHUNK_BYTES
_EVERY_LINE = np.ones(CHUNK_BYTES, np.bool_)


def seconds_to_write(source: Any) -> float:
    """For the whole of the file, if all of it were kept."""
    if not size_of(source):
        return 0.0
    began = time.perf_counter()
    tried = _rows(source) if isinstance(source, ParquetSource) else _lines(source)
    return (time.perf_counter() - began) / max(tried, 1e-9)


def _lines(source: JsonlSource) -> float:
    """Says which share of the file was written."""
    with source.path.open("rb") as raw, tempfile.TemporaryFile() as file:
        stream: Any = raw
        out: Any = file
        if source.codec:
            stream = pa.CompressedInputStream(pa.PythonFile(raw, "r"), source.codec)
            out = pa.CompressedOutputStream(pa.PythonFile(file, "w"), source.codec)
        for data in whole_lines(stream):
            out.write(select(data, _EVERY_LINE).data)
            if raw.tell() >= TRIED:
                break
        return float(raw.tell() / size_of(source))


def _rows(source: ParquetSource) -> float:
    rows = pq.ParquetFile(**parquet_file(source.path)).metadata.num_rows
    batches, read, size = [], 0, 0
    for batch, _ in source.filtered(np.ones(rows, np.bool_)):
        batches.append(batch)
        read, size = read + batch.num_rows, size + batch.nbytes
        if size >= TRIED:
            break
    if batches:
        table = pa.Table.from_batches(batches)
        pq.write_table(table, pa.BufferOutputStream(), compression=source.codec())
    return float(read / max(rows, 1))
