"""Named arrays of numbers with a description, as one Arrow IPC file: a row an array.

A file may come from anywhere. It is read message by message, without the footer: what is
compressed, laid out in another way or too large is refused before it takes memory, so that no file
needs more than its own size.
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

from neardup.documents.streams import whole_file

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
    """Why a file holds no such arrays, as the end of a sentence."""


def arrays_digest(described: Mapping[str, Any], arrays: Arrays) -> str:
    digest = hashlib.sha256(json.dumps(described, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name], np.float64)
        digest.update(json.dumps([name, *array.shape]).encode())
        digest.update(array.data)
    return digest.hexdigest()[:32]


def save_arrays(path: Path, key: bytes, described: Mapping[str, Any], arrays: Arrays) -> None:
    """The file appears only when it is whole."""
    written = json.dumps(described, allow_nan=False).encode()
    schema = _LAYOUT.with_metadata({key: written})
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
    """Raises ``OSError`` where the file cannot be read, :class:`LayoutError` for what is in it."""
    if path.is_fifo():  # would wait for a writer
        raise LayoutError("it is a pipe")
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise LayoutError(f"it is larger than {MOST_BYTES >> 20} MB")
    if not data.startswith(_MAGIC):
        raise LayoutError("it is no Arrow file")
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
        raise LayoutError("it is another file")
    if not schema.equals(_LAYOUT):
        raise LayoutError("its columns are others")
    arrays: dict[str, Floats] = {}
    for number, message in enumerate(messages):
        if number == MOST_MESSAGES or message.type != "record batch":
            raise LayoutError("it is laid out in another way")
        if _is_compressed(message.metadata.to_pybytes()):
            raise LayoutError("it is compressed")
        batch = pa.ipc.read_record_batch(message, schema)
        batch.validate(full=True)
        arrays |= {row["name"]: _shaped(row["values"], row["shape"]) for row in _rows(batch)}
    return described, arrays


def _rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    inner = (batch.column(name).flatten() for name in ("shape", "values"))
    if any(column.null_count for column in (*batch.columns, *inner)):
        raise LayoutError("values are missing")
    names, shapes = (batch.column(name).to_pylist() for name in ("name", "shape"))
    values = (batch.column("values")[i].values.to_numpy() for i in range(len(batch)))
    return [
        {"name": name, "shape": shape, "values": some}
        for name, shape, some in zip(names, shapes, values, strict=True)
    ]


def _shaped(values: Floats, shape: list[int]) -> Floats:
    if any(size < 0 for size in shape):
        raise LayoutError("an array has no shape")
    return np.array(values, np.float64).reshape(shape)


def _is_compressed(metadata: bytes) -> bool:
    """Whether the table RecordBatch of a message names a compression: what it says of its size can
    be any number. Tables of a flatbuffer begin with the distance to the list of their fields."""

    def field(table: int, number: int) -> int:
        (back,) = struct.unpack_from("<i", metadata, table)
        listed = table - back
        (size,) = struct.unpack_from("<H", metadata, listed)
        if 4 + 2 * number >= size:
            return 0
        (at,) = struct.unpack_from("<H", metadata, listed + 4 + 2 * number)
        return table + at if at else 0

    (root,) = struct.unpack_from("<I", metadata, 0)
    header = field(root, _HEADER)
    (ahead,) = struct.unpack_from("<I", metadata, header)
    return field(header + ahead, _COMPRESSION) != 0
