"""Byte streams of files: compression by name, whole lines, output that appears only when whole."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import pyarrow as pa

from neardup.errors import InputError

CHUNK_BYTES = 8 << 20
CODECS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}


def open_binary(path: Path, codec: str | None) -> IO[bytes]:
    """A buffered stream of the decompressed bytes."""
    try:
        if codec is None:
            return path.open("rb", buffering=1 << 20)
        raw = pa.CompressedInputStream(pa.OSFile(str(path)), codec)
        return cast(IO[bytes], io.BufferedReader(raw, 1 << 20))
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path | str, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or str(error)
    return InputError(
        f"Cannot read {path}: {reason}.", hint="check that the file is whole and readable."
    )


def whole_lines(stream: IO[bytes], size: int = CHUNK_BYTES) -> Iterator[bytes]:
    """Chunks of about ``size`` bytes that end where a line ends, however long that line is."""
    while block := stream.read(size):
        yield block if block.endswith(b"\n") else block + stream.readline()


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Gives the path of a ``.part`` file that becomes ``path`` only if all went well."""
    part = path.with_name(path.name + ".part")
    try:
        yield part
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def writing(path: Path, codec: str | None) -> Iterator[IO[bytes]]:
    with whole_file(path) as part, part.open("wb", buffering=1 << 20) as file:
        if codec is None:
            yield file
            return
        with pa.CompressedOutputStream(pa.PythonFile(file, "w"), codec) as stream:
            yield cast(IO[bytes], stream)
