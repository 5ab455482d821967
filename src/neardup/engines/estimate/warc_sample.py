"""Samples of WARC files, from their start: where a later record begins, only reading tells."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from typing import IO

import numpy as np

from neardup.documents import Columns
from neardup.documents.warc import WarcSource, write_record
from neardup.documents.warc_records import Record
from neardup.engines.estimate.pieces import Piece, Trial, unpacking

_EVERY_PAGE = np.ones(1 << 20, np.bool_)
MOST_BYTES = 32 << 20  # a second of extraction each


def size(source: WarcSource) -> float:
    return source.path.stat().st_size


def each(source: WarcSource) -> float:  # noqa: ARG001 (as of other formats)
    """0: only reading would tell."""
    return 0.0


def pieces(source: WarcSource, columns: Columns, budget: float) -> Iterator[Piece]:
    before = 0
    with source.path.open("rb") as raw:
        stream = unpacking(raw, source.codec) if source.codec else raw
        for chunk in source.chunks_of(stream, columns):
            taken, before = raw.tell() - before, raw.tell()
            yield Piece(chunk, taken, [len(chunk.pages)], continues=True)
            if before >= min(budget, MOST_BYTES):
                return
        # Records that are no pages may follow the last one.
        if size(source) > before:
            yield Piece(source.nothing(columns), size(source) - before, [0], continues=True)


class _Enough(Exception):  # noqa: N818 (no error)
    pass


def rewrite(source: WarcSource, limit: float) -> Trial:
    """Into a file that goes away."""
    with source.path.open("rb") as raw, tempfile.TemporaryFile() as out:
        stream = unpacking(raw, source.codec) if source.codec else raw

        def write(record: Record, content: IO[bytes]) -> None:
            write_record(out, source.codec, record, content)
            if raw.tell() >= limit:
                raise _Enough

        with suppress(_Enough):
            source.copy_from(stream, _EVERY_PAGE, write)
        return Trial(raw.tell() / max(1.0, size(source)), out.tell())
