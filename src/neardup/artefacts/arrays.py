"""Named arrays of numbers with a description, stored as an Arrow IPC file with one row per array.

A file may come from an untrusted source. It is read message by message, without the footer, and is
refused before it takes memory if it is compressed, too large or has an unexpected layout. Reading
therefore never needs more memory than the size of the file.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.files import whole_file

Floats = npt.NDArray[np.float64]
Arrays = Mapping[str, Floats]
MOST_BYTES = 1 << 24
MOST_MESSAGES = 64
_LAYOUT = pa.schema(
    [
        ("name", pa.string()),
        ("shape", pa.list_(pa.int64())),
        ("values", pa.large_list(pa.float64())),
    ]
)
_MAGIC = b"ARROW1\0\0"
_HEADER, _COMPRESSION = 2, 3  # fields of the tables Message and RecordBatch (Arrow's Message.fbs)


_BROKEN = (ValueError, TypeError, struct.error, RecursionError, StopIteration, OSError)


class LayoutError(ValueError):
    """Why a file does not contain such arrays, as the end of a sentence."""


def arrays_digest(described: Mapping[str, Any], arrays: Arrays) -> str:
    digest = hashlib.sha256(json.dumps(described, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name], np.float64)
        digest.update(json.dumps([name, *array.shape]).encode())
        digest.update(array.data)
    return digest.hexdigest()[:32]


def save_arrays(path: Path, key: bytes, described: Mapping[str, Any], arrays: Arrays) -> None:
    """The file appears under its name only when it is complete."""
    schema = _LAYOUT.with_metadata({key: json.dumps(described, allow_nan=False).encode()})
    names = sorted(arrays)
    columns = [
        names,
        [list(arrays[name].shape) for name in names],
        [np.asarray(arrays[name], np.float64).reshape(-1) for name in names],
    ]
    rows = [pa.array(c, field.type) for c, field in zip(columns, schema, strict=True)]
    with (
        whole_file(path) as part,
        pa.OSFile(str(part), "wb") as sink,
        pa.ipc.new_file(sink, schema) as writer,
    ):
        writer.write_batch(pa.record_batch(rows, schema=schema))


def load_arrays(path: Path, key: bytes) -> tuple[dict[str, Any], dict[str, Floats]]:
    """Raises ``OSError`` for an unreadable file, :class:`LayoutError` for unexpected content."""
    if path.is_fifo():  # opening it would wait for a writer
        raise LayoutError("it is a pipe")
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise LayoutError(f"it is larger than {MOST_BYTES >> 20} MB")
    if not data.startswith(_MAGIC):
        raise LayoutError("it is not an Arrow file")
    try:
        return _read(data[len(_MAGIC) :], key)
    except LayoutError:
        raise
    except (*_BROKEN, pa.ArrowException) as error:
        raise LayoutError("it is damaged") from error


def _read(data: bytes, key: bytes) -> tuple[dict[str, Any], dict[str, Floats]]:
    messages = pa.ipc.MessageReader.open_stream(pa.BufferReader(data))
    schema = pa.ipc.read_schema(messages.read_next_message())
    described = json.loads((schema.metadata or {}).get(key, b"null"))
    if not isinstance(described, dict):
        raise LayoutError("it contains something else")
    if not schema.equals(_LAYOUT):
        raise LayoutError("its columns are different")
    arrays: dict[str, Floats] = {}
    for number, message in enumerate(messages):
        if number == MOST_MESSAGES or message.type != "record batch":
            raise LayoutError("its layout is different")
        if _is_compressed(message.metadata.to_pybytes()):
            raise LayoutError("it is compressed")
        batch = pa.ipc.read_record_batch(message, schema)
        batch.validate(full=True)
        arrays |= _arrays(batch)
    return described, arrays


def _arrays(batch: pa.RecordBatch) -> dict[str, Floats]:
    inner = (batch.column(name).flatten() for name in ("shape", "values"))
    if any(column.null_count for column in (*batch.columns, *inner)):
        raise LayoutError("values are missing")
    names, shapes = (batch.column(name).to_pylist() for name in ("name", "shape"))
    values = (batch.column("values")[i].values.to_numpy() for i in range(len(batch)))
    rows = zip(names, shapes, values, strict=True)
    return {name: _shaped(flat, shape) for name, shape, flat in rows}


def _shaped(values: Floats, shape: list[int]) -> Floats:
    if any(size < 0 for size in shape):
        raise LayoutError("an array has a negative size")
    return np.array(values, np.float64).reshape(shape)


def _is_compressed(metadata: bytes) -> bool:
    """Whether the table RecordBatch of a message names a compression. The sizes that a compressed
    message declares cannot be trusted."""

    def field(table: int, number: int) -> int:
        """A table of a flatbuffer begins with the distance back to the offsets of its fields."""
        (back,) = struct.unpack_from("<i", metadata, table)
        offsets = table - back
        (size,) = struct.unpack_from("<H", metadata, offsets)
        if 4 + 2 * number >= size:
            return 0
        (at,) = struct.unpack_from("<H", metadata, offsets + 4 + 2 * number)
        return table + at if at else 0

    (root,) = struct.unpack_from("<I", metadata, 0)
    header = field(root, _HEADER)
    (ahead,) = struct.unpack_from("<I", metadata, header)
    return field(header + ahead, _COMPRESSION) != 0
