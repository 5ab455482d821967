"""JSON Lines files: one object a line, read in chunks of whole lines, kept byte for byte.

A line that is broken, or whose text or id cannot be used, is rejected with a sentence; reading
goes on. A column that no line of a file's first chunk has is a mistake in the settings: a stop.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import IO

import numpy as np
import pyarrow as pa

from neardup import schema
from neardup.documents import lines
from neardup.documents.columns import (
    Columns,
    DocumentBatch,
    LostChunk,
    Mask,
    Rejected,
    generated_ids,
    refuse_missing,
)
from neardup.documents.json import parsed, table_of
from neardup.documents.lost import Watch, lost_from_here
from neardup.documents.remote import Place
from neardup.documents.streams import CHUNK_BYTES, fault_of, open_binary, unreadable, whole_lines
from neardup.errors import InputError


@dataclass(frozen=True)
class JsonlChunk:
    """Whole lines of a file, the first of them line ``first_row``."""

    file: str
    data: bytes
    first_row: int
    columns: Columns

    def read(self) -> DocumentBatch:
        return _Parsed(self).batch()


class _Parsed:
    def __init__(self, chunk: JsonlChunk) -> None:
        self.chunk = chunk
        self.columns = chunk.columns
        names = dict.fromkeys((self.columns.text, self.columns.id_name, *self.columns.delivered))
        self.scan = lines.scan(chunk.data, list(names), start_of_file=chunk.first_row == 1)
        self.text = self.scan.fields[self.columns.text]
        self.id = self.scan.fields[self.columns.id_name]

    def batch(self) -> DocumentBatch:
        self._check_columns()
        used = (self.text.types == lines.STRING) & (self.id.types <= lines.NUMBER)
        lost = ~used & (self.scan.status != lines.BLANK)
        rejected = [self._rejected(int(i)) for i in np.flatnonzero(lost)]
        size = len(self.chunk.data)
        return DocumentBatch(self.chunk.file, self._records(used), rejected, len(used), size)

    @cached_property
    def ids(self) -> pa.Array:
        import pyarrow.compute as pc

        ids = self.id.array()
        if ids.null_count == 0:
            return ids
        return pc.coalesce(ids, generated_ids(self.chunk.file, self._rows()))

    def _rows(self) -> pa.Array:
        first = self.chunk.first_row
        return pa.array(np.arange(first, first + len(self.scan.status), dtype=np.int64))

    def _records(self, used: Mask) -> pa.RecordBatch:
        extra = self.columns.delivered
        arrays = [self._rows(), self.ids, self.text.array()]
        arrays += [self.scan.fields[name].array() for name in extra]
        types = dict.fromkeys(extra, pa.large_string())
        if not used.all():
            mask = pa.array(used)
            arrays = [array.filter(mask) for array in arrays]
        return pa.RecordBatch.from_arrays(arrays, schema=schema.documents(types))

    def _rejected(self, i: int) -> Rejected:
        status = int(self.scan.status[i])
        row = self.chunk.first_row + i
        if status != lines.OK:
            reason = lines.sentence(status, int(self.scan.position[i]))
            return Rejected(self.chunk.file, row, reason, None)
        if self.id.types[i] > lines.NUMBER:
            kind = lines.KINDS[self.id.types[i]]
            reason = f"{self.columns.id_name} is {kind}; expected a string or a number"
            return Rejected(self.chunk.file, row, reason, None)
        reason = text_reason(self.columns.text, lines.KINDS[self.text.types[i]])
        return Rejected(self.chunk.file, row, reason, self.ids[i].as_py())

    def _check_columns(self) -> None:
        whole = np.flatnonzero(self.scan.status == lines.OK)
        if self.chunk.first_row > 1 or len(whole) == 0:
            return
        missing = [n for n in self.columns.required if not self.scan.fields[n].types.any()]
        if missing:
            line = self.chunk.data.split(b"\n", int(whole[0]) + 1)[int(whole[0])]
            refuse_missing(missing, list(parsed(line.decode("utf-8-sig"))), self.chunk.file)


def text_reason(name: str, kind: str) -> str:
    if kind == "absent":
        return f"{name} is missing"
    return f"{name} is null" if kind == "null" else f"{name} is {kind}; expected a string"


@dataclass
class JsonlSource:
    """One file. Remembers where chunks began, so that a few texts can be fetched again."""

    path: Place
    file: str
    codec: str | None = None
    chunk_bytes: int = CHUNK_BYTES
    watch: Watch = field(default_factory=Watch)
    _marks: list[tuple[int, int]] = field(default_factory=lambda: [(1, 0)])
    _lost: Rejected | None = field(default=None, init=False)

    @property
    def form(self) -> str:
        return "jsonl"

    def chunks(self, columns: Columns) -> Iterator[JsonlChunk | LostChunk]:
        for row, data in self._blocks(tolerant=True):
            yield JsonlChunk(self.file, data, row, columns)
        if self._lost:
            yield LostChunk(self._lost, dict.fromkeys(columns.delivered, pa.large_string()))

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:
        found: dict[int, str] = {}
        for row in sorted(set(rows)):
            if row not in found:
                found |= self._texts_near(row, set(rows), columns.text)
        return [found[row] for row in rows]

    def copy(self, keep: Mask, out: LineWriter) -> int:
        """Writes the kept lines; says how many documents there are."""
        position, last_kept = 0, True
        for row, data in self._blocks():
            picked = lines.select(
                data, keep[position:], start_of_file=row == 1, previous_kept=last_kept
            )
            position, last_kept = position + picked.documents, picked.last_kept
            out.write(picked.data)
        out.end_file()
        return position + (self._lost is not None)

    def kept(self, keep: Mask) -> tuple[pa.Table, int]:
        position, objects = 0, []
        for row, data in self._blocks():
            picked = lines.select(data, keep[position:], start_of_file=row == 1)
            position += picked.documents
            text = picked.data.decode("utf-8-sig", "replace")
            objects += [parsed(line) for line in text.split("\n") if line.strip()]
        return table_of(objects), position + (self._lost is not None)

    def _blocks(
        self, row: int = 1, offset: int = 0, *, tolerant: bool = False
    ) -> Iterator[tuple[int, bytes]]:
        """Chunks with the row each begins with, from a place where a line begins. ``_lost`` is
        then what stands for the rest, where not all could be read; a disk that fails is borne only
        if ``tolerant``, because what is written must be what was read."""
        self._lost = None
        try:
            with open_binary(self.path, self.codec) as stream:
                if offset:
                    stream.seek(offset)
                for data in whole_lines(stream, self.chunk_bytes):
                    yield row, data
                    row, offset = row + lines.count(data), offset + len(data)
                    self._mark(row, offset)
                if fault := fault_of(stream):
                    self._lost = Rejected(self.file, row, fault, None)
        except (OSError, pa.ArrowException) as error:
            if row == 1 or not tolerant:
                raise unreadable(self.path, error) from error
            self._lost = Rejected(self.file, row, lost_from_here(error), None)

    def _mark(self, row: int, offset: int) -> None:
        if self.codec is None and row > self._marks[-1][0]:
            self._marks.append((row, offset))

    def _texts_near(self, wanted: int, rows: set[int], column: str) -> dict[int, str]:
        """The asked rows of the chunk that holds row ``wanted``; of an archive, which can only be
        read from its start, those of all chunks."""
        found: dict[int, str] = {}
        last = wanted if self.codec is None else max(rows)
        mark = self._marks[bisect_right(self._marks, wanted, key=itemgetter(0)) - 1]
        for first, data in self._blocks(*mark):
            end = first + lines.count(data)
            if near := sorted(row for row in rows if first <= row < end):
                found |= _texts_in(data, first, near, column)
            if last < end:
                return found
        if self._lost and self._lost.row == last:
            return found | {last: ""}
        raise IndexError(f"{self.file} has no row {last}")


def _texts_in(data: bytes, first: int, rows: list[int], column: str) -> dict[int, str]:
    """Only the asked lines of a chunk are scanned; ``rows`` are sorted."""
    asked, row, begin = [], first, 0
    for wanted in rows:
        while row < wanted:
            row, begin = row + 1, data.index(b"\n", begin) + 1
        end = data.find(b"\n", begin)
        asked.append(data[begin:] if end < 0 else data[begin:end])
    scan = lines.scan(b"\n".join(asked), [column], start_of_file=rows[0] == 1)
    text = scan.fields[column].array()
    return {row: text[i].as_py() or "" for i, row in enumerate(rows)}


_ARRAY = re.compile(rb"\[\s*\{")
_OBJECT = re.compile(rb"\{[ \t]*\r?\n")


def refuse_whole_json(start: bytes, file: str, *, named: bool) -> None:
    """Raises if what begins so is one JSON value, not a value a line. ``named``: as JSON, so that
    less is enough to tell."""
    begin = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    if _ARRAY.match(begin) or (named and begin[:1] == b"["):
        what, filter_ = "array", "'.[]'"
    elif named and _OBJECT.match(begin):
        what, filter_ = "object over several lines", "."
    else:
        return
    raise InputError(
        f"{file} is one JSON {what}; expected one object a line.",
        hint=f"convert it: jq -c {filter_} {file} > documents.jsonl",
    )


class LineWriter:
    """Joins the lines of several files: a missing last newline is added only if a line follows,
    and a byte order mark may stand only at the very start."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.started = False
        self._open_line = False
        self._new_file = True

    def write(self, data: bytes) -> None:
        if not data:
            return
        if self.started and self._new_file:
            data = data.removeprefix(b"\xef\xbb\xbf")
        if self._open_line:
            self._stream.write(b"\n")
        self._stream.write(data)
        self._open_line = not data.endswith(b"\n")
        self.started, self._new_file = True, False

    def end_file(self) -> None:
        self._new_file = True
