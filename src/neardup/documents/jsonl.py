"""JSON Lines files: one object for each line, read in blocks of whole lines, kept byte for byte.

A line that is broken, or whose text or id cannot be used, is rejected with a sentence, and reading
continues. A column that no line of a file's first chunk has is an error in the settings and stops
the run. The native scanner reads only the requested fields of a line; its numbers are those of
``native/documents/jsonl.hpp``, and ``native/documents/lines.hpp`` is the only definition of a line.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native, schema
from neardup.classes import dataclass
from neardup.documents.block_source import BlockSource, Selection
from neardup.documents.columns import (
    Chunk,
    Columns,
    DocumentBatch,
    LostChunk,
    Mask,
    Rejected,
    generated_ids,
    refuse_missing,
)
from neardup.documents.open_files import Limits, TooLong
from neardup.documents.source import Source
from neardup.documents.streams import CHUNK_BYTES, whole_block, whole_lines
from neardup.schema import Array

OK, BLANK = 0, 1
ABSENT, NULL, STRING, NUMBER, TRUE, FALSE, OBJECT, ARRAY, SURROGATE = range(9)
KINDS = ("absent", "null", "a string", "a number", "true", "false", "an object", "an array")
_EXPECTED = {
    8: "a value",
    9: "a key in double quotes",
    10: "a key in double quotes or '}'",
    11: "':'",
    12: "',' or '}'",
    13: "',' or ']'",
}
_SENTENCES = {
    2: "line is not a JSON object (byte {byte})",
    3: "line is not valid JSON: it ends at byte {byte} before its object does",
    4: "line is not valid UTF-8 at byte {byte}",
    5: "line is not valid JSON: unescaped control character in a string at byte {byte}",
    6: "line is nested more than 512 deep at byte {byte}",
    7: "line is not valid JSON: something follows the object at byte {byte}",
    14: "line is not valid JSON: unknown escape in a string at byte {byte}",
    15: "line is not valid JSON: malformed number at byte {byte}",
}


class Field(NamedTuple):
    """One requested field of all lines of a chunk."""

    types: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]
    values: npt.NDArray[np.uint8]
    places: npt.NDArray[np.int64]  # of each value in its line: the bytes from and to, two numbers

    def array(self) -> pa.Array:
        """The field as large_string without a copy; absent and null values are null."""
        valid = self.types > NULL
        bitmap = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
        buffers = [bitmap, pa.py_buffer(self.offsets), pa.py_buffer(self.values)]
        return pa.Array.from_buffers(pa.large_string(), len(self.types), buffers)


class Scan(NamedTuple):
    status: npt.NDArray[np.uint8]
    position: npt.NDArray[np.int64]
    fields: dict[str, Field]


def scan(chunk: bytes, names: Sequence[str], *, start_of_file: bool = False) -> Scan:
    # A name with a lone surrogate (from a command line) cannot be in valid UTF-8; "replace" keeps
    # it from being a crash: the column is then simply unknown.
    wanted = [name.encode("utf-8", "replace").decode() for name in names]
    status, position, fields = _native.scan_jsonl(chunk, wanted, start_of_file)
    return Scan(status, position, {n: Field(*f) for n, f in zip(names, fields, strict=True)})


def with_dotted(chunk: bytes, names: Iterable[str]) -> bytes:
    """Lines to scan for names such as ``_source.text``, which are paths into objects: a line has
    what a path leads to as one more member, unless it has a member of that very name."""
    dotted = [name for name in names if "." in name]
    if not dotted:
        return chunk
    return b"\n".join(_with_members(line, dotted) for line in chunk.split(b"\n"))


def _with_members(line: bytes, names: Sequence[str]) -> bytes:
    try:
        item = json.loads(line)
    except (ValueError, RecursionError):
        return line  # the scan has the reason
    values = {name: value_at(item, name) for name in names if isinstance(item, dict)}
    added = {n: v for n, v in values.items() if v is not None and n not in item}
    end = line.rstrip()
    return end[:-1] + b"," + json.dumps(added).encode()[1:] if added else line


def value_at(item: dict[str, Any], name: str) -> Any:
    """The member of that name, else what the path leads to; None if there is neither."""
    if name in item or "." not in name:
        return item.get(name)
    value: Any = item
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def sentence(status: int, byte: int) -> str:
    """The reason why a line was rejected."""
    if status in _EXPECTED:
        return f"line is not valid JSON: expected {_EXPECTED[status]} at byte {byte}"
    return _SENTENCES[status].format(byte=byte)


count = _native.count_lines


class _Digits(str):
    """An integer with more digits than Python converts."""

    __slots__ = ()


def _whole_number(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:
        return _Digits(digits)


def parsed(line: str) -> Any:
    """Like ``json.loads``, but it accepts numbers of some thousand digits."""
    return json.loads(line, parse_int=_whole_number)


def parsed_lines(data: bytes) -> list[Any]:
    lines = data.decode("utf-8-sig", "replace").split("\n")
    return [parsed(line) for line in lines if line.strip()]


def _json_text(value: Any) -> str:
    return str(value) if isinstance(value, _Digits) else json.dumps(value)


def table_of(objects: list[dict[str, Any]]) -> pa.Table:
    """Columns in the order of appearance; a column whose values have no common type is JSON
    text."""
    names = dict.fromkeys(name for item in objects for name in item)
    columns = [_column([item.get(name) for item in objects]) for name in names]
    return pa.Table.from_arrays(columns, names=[_without_lone_surrogates(name) for name in names])


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except UnicodeEncodeError:
        return _column([_without_lone_surrogates(value) for value in values])
    except (pa.ArrowException, TypeError, OverflowError):
        return pa.array([None if value is None else _json_text(value) for value in values])


def _without_lone_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return (
        json.loads(json.dumps(value)) if not isinstance(value, list | dict) else json.dumps(value)
    )


@dataclass(frozen=True)
class JsonlChunk:
    """Whole lines of a file, the first of them line ``first_row``."""

    file: str
    data: bytes
    first_row: int
    columns: Columns

    def read(self) -> DocumentBatch:
        columns, first = self.columns, self.first_row
        names = dict.fromkeys((columns.text, columns.id_name, *columns.delivered))
        data = with_dotted(self.data, names)
        status, position, fields = scan(data, list(names), start_of_file=first == 1)
        if first == 1:
            self._check_columns(status, fields)
        text, id = fields[columns.text], fields[columns.id_name]
        rows = pa.array(np.arange(first, first + len(status), dtype=np.int64))
        ids = id.array()
        if ids.null_count:
            ids = pc.coalesce(ids, generated_ids(self.file, rows))
        arrays = [rows, ids, text.array(), *(fields[name].array() for name in columns.delivered)]
        used = (text.types == STRING) & (id.types <= NUMBER)
        if not used.all():
            arrays = [array.filter(pa.array(used)) for array in arrays]
        types = dict.fromkeys(columns.delivered, pa.large_string())
        records = pa.RecordBatch.from_arrays(arrays, schema=schema.documents(types))
        lost = np.flatnonzero(~used & (status != BLANK)).tolist()
        rejected = [
            self._rejected(i, int(status[i]), int(position[i]), text, id, ids[i].as_py())
            for i in lost
        ]
        return DocumentBatch(self.file, records, rejected, len(used), len(self.data))

    def _rejected(
        self, i: int, status: int, byte: int, text: Field, id: Field, named: str
    ) -> Rejected:
        row, id_name = self.first_row + i, self.columns.id_name
        if status != OK:
            return Rejected(self.file, row, sentence(status, byte), None)
        for name, field in ((id_name, id), (self.columns.text, text)):
            if field.types[i] == SURROGATE:
                reason = f"{name} has a lone surrogate at byte {byte}"
                return Rejected(self.file, row, reason, None if field is id else named)
        if id.types[i] > NUMBER:
            reason = f"{id_name} is {KINDS[id.types[i]]}; expected a string or a number"
            return Rejected(self.file, row, reason, None)
        return Rejected(self.file, row, text_reason(self.columns.text, KINDS[text.types[i]]), named)

    def _check_columns(self, status: Array, fields: Mapping[str, Field]) -> None:
        whole = np.flatnonzero(status == OK)
        missing = [n for n in self.columns.required if not fields[n].types.any()]
        if missing and len(whole):
            line = self.data.split(b"\n", int(whole[0]) + 1)[int(whole[0])]
            refuse_missing(missing, parsed(line.decode("utf-8-sig")), self.file)


def text_reason(name: str, kind: str) -> str:
    if kind == "absent":
        return f"{name} is missing"
    return f"{name} is null" if kind == "null" else f"{name} is {kind}; expected a string"


@dataclass
class JsonlSource(BlockSource):
    has_header = False

    def whole(self, stream: IO[bytes], size: int) -> Iterator[bytes]:
        return whole_lines(stream, size, self.files.limits)

    count = staticmethod(count)
    starts = staticmethod(_native.line_starts)

    def chunk(self, data: bytes, first_row: int, columns: Columns) -> Chunk:
        return JsonlChunk(self.file, data, first_row, columns)

    def rows_chunk(self, data: bytes, first_row: int, columns: Columns) -> Chunk:
        """Only the first lines of a file must have all columns."""
        if first_row == 1:
            data, first_row = data.removeprefix(BOM_UTF8), 2
        return JsonlChunk(self.file, data, first_row, columns)

    def select(self, data: bytes, keep: Mask, row: int, *, last_kept: bool) -> Selection:
        """The kept lines byte for byte; a blank line belongs to the document before it."""
        mask = np.ascontiguousarray(keep).view(np.uint8)
        return Selection(*_native.select_lines(data, mask, row == 1, last_kept))

    def texts_in(
        self, data: bytes, first_row: int, rows: list[int], columns: Columns
    ) -> dict[int, str]:
        """No other lines of the block are scanned."""
        asked, row, begin = [], first_row, 0
        for wanted in rows:
            while row < wanted:
                row, begin = row + 1, data.index(b"\n", begin) + 1
            end = data.find(b"\n", begin)
            asked.append(data[begin:] if end < 0 else data[begin:end])
        data = with_dotted(b"\n".join(asked), [columns.text])
        scanned = scan(data, [columns.text], start_of_file=rows[0] == 1)
        text = scanned.fields[columns.text].array()
        return {row: text[i].as_py() or "" for i, row in enumerate(rows)}

    def block_at(self, stream: IO[bytes], place: int, size: int, *, at_start: bool) -> bytes:
        stream.seek(place)
        most = self.files.limits.document
        if not at_start:
            stream.readline(most)
        data = stream.read(size) + stream.readline(most)
        return data[: data.rfind(b"\n") + 1] if len(data) > most else data

    def kept(self, keep: Mask) -> tuple[pa.Table, int]:
        documents, objects = 0, []
        for position, selection in self.selections(keep):
            objects += parsed_lines(selection.data)
            documents = position + selection.documents
        return table_of(objects), documents + (self._lost is not None)

    def parts(self, part_bytes: int) -> Sequence[Any]:
        """Ranges of bytes of a plain file on this machine."""
        if self.codec is not None or not isinstance(self.path, Path):
            return [self]
        try:
            size = self.path.stat().st_size
        except OSError:  # the error is reported when the file is read
            return [self]
        if size <= part_bytes:
            return [self]
        begins = range(0, size, part_bytes)
        ends = [min(begin + part_bytes, size) for begin in begins]
        limits = self.files.limits
        return [
            LineRange(self.path, self.file, begin, end, limits)
            for begin, end in zip(begins, ends, strict=True)
        ]


@dataclass
class LineRange(Source):
    """The lines of a plain file that begin in a range of its bytes. ``first_row`` is None until the
    lines before the range are counted."""

    path: Path
    file: str
    begin: int
    end: int
    limits: Limits
    first_row: int | None = None

    def blocks(self) -> Iterator[bytes]:
        with self.path.open("rb") as stream:
            if self.begin:  # skip the rest of the line that began before
                stream.seek(self.begin - 1)
                while (line := stream.readline(CHUNK_BYTES)) and not line.endswith(b"\n"):
                    pass
            while (at := stream.tell()) < self.end:
                data = stream.read(min(CHUNK_BYTES, self.end - at))
                if not data:
                    return
                yield from whole_block(data, stream, self.limits)

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        row = self.first_row or 1
        for data in self.blocks():
            if isinstance(data, TooLong):
                types = dict.fromkeys(columns.delivered, pa.large_string())
                yield LostChunk(Rejected(self.file, row, data.reason, None), types)
            else:
                yield JsonlChunk(self.file, data, row, columns)
            row += count(data)

    def rows(self) -> int:
        return sum(map(count, self.blocks()))


_ARRAY = re.compile(rb"\[\s*\{")
_OBJECT = re.compile(rb"\{[ \t]*\r?\n")
# How the answers of Elasticsearch, OpenSearch and Solr begin, also filtered ones without a header.
_ANSWER = re.compile(
    rb'\{\s*"(?:(?:took|_scroll_id|responseHeader)"\s*:'
    rb'|hits"\s*:\s*\{\s*"(?:total|max_score|hits)"\s*:|response"\s*:\s*\{\s*"numFound"\s*:)'
)


def is_whole_json(start: bytes, *, named: bool) -> bool:
    """Whether the start of a file shows one JSON value instead of one for each line. ``named``: the
    file is named as JSON, so that weaker signs are enough."""
    begin = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    if _ARRAY.match(begin) or _ANSWER.match(begin):
        return True
    return named and (begin[:1] == b"[" or bool(_OBJECT.match(begin)))
