"""The native CSV scanner as Python sees it: records, their fields, their bytes.

What a record is, is defined once in ``native/documents/csv.hpp``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.documents.columns import Mask, mask_for
from neardup.documents.streams import fault_of
from neardup.errors import InputError

DELIMITERS = ",;\t|"
MARK = b"\xef\xbb\xbf"
HEADER_BYTES = 1 << 24
RECORD_BYTES = 1 << 30  # a longer record is an unclosed quote, and would fill the memory


class Records(NamedTuple):
    """The records of a chunk; ``fields`` are the asked columns, in ascending order."""

    starts: npt.NDArray[np.int64]
    widths: npt.NDArray[np.int64]
    fields: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]]
    open: bool

    def __len__(self) -> int:
        return len(self.starts)

    def array(self, field: int, valid: Mask) -> pa.Array:
        """A field as large_binary without copying; null where ``valid`` is false."""
        offsets, values = self.fields[field]
        bitmap = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
        buffers = [bitmap, pa.py_buffer(offsets), pa.py_buffer(values)]
        return pa.Array.from_buffers(pa.large_binary(), len(self), buffers)


def scan(chunk: bytes, delimiter: str, columns: Sequence[int] = ()) -> Records:
    return Records(*_native.scan_csv(chunk, delimiter, list(columns)))


def strings(array: pa.Array) -> pa.Array:
    """Bytes that are not UTF-8 become U+FFFD, so that other columns cannot stop a table."""
    try:
        return array.cast(pa.large_string())
    except pa.ArrowInvalid:
        texts = [value.decode("utf-8", "replace") for value in array.to_pylist()]
        return pa.array(texts, pa.large_string())


class Header(NamedTuple):
    """``data`` is the bytes of the first record, with what stands before it."""

    data: bytes
    names: list[str]
    delimiter: str


def as_utf8(values: pa.Array, encoding: str | None) -> pa.Array:
    """Fields of a file in another encoding."""
    if encoding in (None, "utf-8"):
        return values
    return pa.array([_utf8(v, str(encoding)) for v in values.to_pylist()], pa.large_binary())


def _utf8(value: bytes | None, encoding: str) -> bytes | None:
    try:
        return None if value is None else value.decode(encoding).encode()
    except UnicodeDecodeError:
        return b"\xff"  # rejected like text that is not UTF-8


def header_of(stream: IO[bytes], delimiters: str, encoding: str | None = None) -> Header:
    """The first record, cut at the delimiter that gives the most columns; in doubt the first."""
    data, size = b"", 1 << 16
    while block := stream.read(size):
        data, size = data + block, size + len(block)
        body = data.removeprefix(MARK)
        if len(data) > HEADER_BYTES or all(len(scan(body, sign)) > 1 for sign in delimiters):
            break
    found = [_header(data, sign, encoding or "utf-8") for sign in delimiters]
    return max(found, key=lambda header: len(header.names))


def _header(data: bytes, delimiter: str, encoding: str) -> Header:
    body = data.removeprefix(MARK)
    starts = scan(body, delimiter).starts.tolist()
    end = starts[1] if len(starts) > 1 else len(body)
    found = scan(body[:end], delimiter)
    columns = range(int(found.widths[0]) if len(found) else 0)
    fields = scan(body[:end], delimiter, columns).fields
    names = [values.tobytes().decode(encoding, "replace") for _, values in fields]
    return Header(data[: len(data) - len(body) + end], names, delimiter)


def whole_records(stream: IO[bytes], delimiter: str, size: int, file: str) -> Iterator[bytes]:
    """Chunks of about ``size`` bytes that end where a record ends, however long that record is.
    The piece of a record before a fault is left out."""
    rest = b""
    # Reading as much again as is already there keeps the work for a long record linear.
    while block := stream.read(asked := max(size, len(rest))):
        data = rest + block
        at_end = len(block) < asked and not fault_of(stream)
        end = len(data) if at_end else _native.whole_csv_records(data, delimiter)
        if end:
            yield data[:end]
        rest = data[end:]
        if len(rest) > RECORD_BYTES:
            raise InputError(
                f"{file} has a record of more than {RECORD_BYTES >> 20} MB.",
                hint="look for a quote that is not closed.",
            )
    if rest and not fault_of(stream):
        yield rest


class Selection(NamedTuple):
    data: bytes
    documents: int
    last_kept: bool


def select(chunk: bytes, delimiter: str, keep: Mask, *, previous_kept: bool = True) -> Selection:
    """The kept records byte for byte; a blank line goes with the record before it."""
    starts = scan(chunk, delimiter).starts
    mask = mask_for(keep, len(starts))
    kept = np.concatenate(([previous_kept], mask))
    places = np.concatenate(([0], starts, [len(chunk)]))
    edges = np.flatnonzero(np.diff(kept.astype(np.int8), prepend=0, append=0))
    runs = places[edges].reshape(-1, 2).tolist()
    return Selection(b"".join(chunk[i:j] for i, j in runs), len(starts), bool(kept[-1]))
