"""The native JSON Lines scanner as Python sees it, and its sentences for people.

The numbers are those of ``native/documents/jsonl.hpp``; what a line is, is defined once in
``native/documents/lines.hpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native

OK, BLANK = 0, 1
ABSENT, NULL, STRING, NUMBER, TRUE, FALSE, OBJECT, ARRAY = range(8)
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
    """One asked field of all lines of a chunk."""

    types: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]
    values: npt.NDArray[np.uint8]

    def array(self) -> pa.Array:
        """As large_string without copying; absent and null are null."""
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


def sentence(status: int, byte: int) -> str:
    """Why a line was rejected."""
    if status in _EXPECTED:
        return f"line is not valid JSON: expected {_EXPECTED[status]} at byte {byte}"
    return _SENTENCES[status].format(byte=byte)


class Selection(NamedTuple):
    data: bytes
    documents: int
    last_kept: bool


def select(
    chunk: bytes,
    keep: npt.NDArray[np.bool_],
    *,
    start_of_file: bool = False,
    previous_kept: bool = True,
) -> Selection:
    """The kept lines of a chunk byte for byte; a blank line goes with the document before it."""
    mask = np.ascontiguousarray(keep).view(np.uint8)
    return Selection(*_native.select_lines(chunk, mask, start_of_file, previous_kept))


def count(chunk: bytes) -> int:
    return int(_native.count_lines(chunk))
