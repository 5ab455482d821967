"""Samples of folders: runs of files at drawn places."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from neardup.documents import Columns
from neardup.documents.folder import CHUNK_FILES, Entry, FolderChunk, FolderSource
from neardup.engines.estimate.pieces import Piece, Trial, places

RUN = 20
FILE_BYTES = 4096  # opening a file costs about as much as reading so many bytes


def size(source: FolderSource) -> float:
    return float(sum(map(_weight, source.entries)))


def each(source: FolderSource) -> float:
    return size(source) / max(1, len(source.entries))


def _weight(entry: Entry) -> int:
    return entry.size + FILE_BYTES


def pieces(source: FolderSource, columns: Columns, budget: float) -> Iterator[Piece]:
    next(source.chunks(columns))  # a column that is not there stops it
    files = budget / max(1.0, each(source))
    whole = files >= len(source.entries)
    runs = _chunk_runs(source) if whole else _runs(source, files)
    for some in _gathered(runs, source.chunk_bytes):
        entries = [entry for run in some for entry in run]
        chunk = FolderChunk(source, entries, 1, columns)
        stands_for = float(sum(map(_weight, entries)))
        yield Piece(chunk, stands_for, [len(run) for run in some], continues=whole)


def _chunk_runs(source: FolderSource) -> Iterator[list[Entry]]:
    for start in range(0, len(source.entries), RUN):
        yield source.entries[start : start + RUN]


def _runs(source: FolderSource, files: float) -> Iterator[list[Entry]]:
    end = 0
    for start in places(len(source.entries), RUN, files):
        if start >= end:
            end = start + RUN
            yield source.entries[start:end]


def _gathered(runs: Iterator[list[Entry]], most: int) -> Iterator[list[list[Entry]]]:
    """As many runs as a chunk of a run has files and bytes."""
    some: list[list[Entry]] = []
    for run in runs:
        some.append(run)
        held = sum(entry.size for one in some for entry in one)
        if held >= most or len(some) * RUN >= CHUNK_FILES:
            yield some
            some = []
    if some:
        yield some


def _may_be_read(source: FolderSource, entry: Entry) -> bool:
    """A run rejects a local file that is locked; a store that refuses one stops it anyway."""
    path = source.locate(entry)
    return not isinstance(path, Path) or os.access(path, os.R_OK)


def rewrite(source: FolderSource, limit: float) -> Trial:
    """Copies into a folder that goes away."""
    good = np.array([entry.problem is None for entry in source.entries], bool)
    sizes = np.array([_weight(entry) for entry in source.entries], float)
    tried = good & (np.cumsum(sizes) - sizes < limit)
    for i in np.flatnonzero(tried).tolist():
        tried[i] = _may_be_read(source, source.entries[i])
    with tempfile.TemporaryDirectory() as name:
        source.copy_files(tried, Path(name))
    share = float(sizes[tried].sum() / max(1.0, sizes.sum()))
    return Trial(share, float((sizes[tried] - FILE_BYTES).sum()))
