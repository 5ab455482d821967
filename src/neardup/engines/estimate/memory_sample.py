"""Samples of lists and tables in memory: runs of rows at drawn places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.documents import Columns
from neardup.documents.lists import ListSource, json_line
from neardup.documents.memory_tables import TableSource
from neardup.engines.estimate.pieces import Piece, Trial, places

RUN = 200
_LOOKED_AT = 500
Source = ListSource | TableSource


def size(source: Source) -> float:
    """What the documents would take as lines, or as a table, by a look at some of them."""
    return each(source) * _rows(source)


def each(source: Source) -> float:
    step = max(1, _rows(source) // _LOOKED_AT)
    chosen = np.arange(_rows(source)) % step == 0
    kept, _ = source.kept(chosen)
    if isinstance(source, TableSource):
        return float(source.table(kept).nbytes / max(1, int(chosen.sum())))
    return float(np.mean([len(_line(item)) for item in kept])) if kept else 0.0


def _rows(source: Source) -> int:
    return source.rows if isinstance(source, TableSource) else len(source.items)


def _line(item: Any) -> bytes:
    return json_line(item if isinstance(item, dict) else {"text": item})


def pieces(source: Source, columns: Columns, budget: float) -> Iterator[Piece]:
    rows, bytes_of_row = _rows(source), each(source)
    wanted = budget / max(bytes_of_row, 1e-9)
    if wanted >= rows:
        starts, run = list(range(0, rows, source.chunk_rows)), source.chunk_rows
    else:
        starts, run = places(rows, RUN, wanted), RUN
    end = 0
    for start in (start for start in starts if start >= end):
        end = min(start + run, rows)
        (chunk,) = _part(source, start, end).chunks(columns)
        yield Piece(chunk, (end - start) * bytes_of_row, [end - start], continues=run != RUN)


def _part(source: Source, start: int, end: int) -> Source:
    if isinstance(source, ListSource):
        return replace(source, items=source.items[start:end])
    given = source.slice

    def part(names: list[str], first: int, count: int) -> Any:
        return given(names, start + first, min(count, end - start - first))

    return replace(source, rows=end - start, slice=part)


def rewrite(source: Source, limit: float) -> Trial:
    """Into memory."""
    rows = _rows(source)
    tried = min(rows, max(1, round(limit / max(each(source), 1e-9))))
    kept, _ = source.kept(np.arange(rows) < tried)
    if isinstance(source, ListSource):
        written = sum(len(_line(item)) for item in kept)
    else:
        sink = pa.BufferOutputStream()
        pq.write_table(source.table(kept), sink, compression="zstd")
        written = sink.tell()
    return Trial(tried / max(1, rows), written)
