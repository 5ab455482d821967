"""A file of JSON rows that only grows: what was added is on the disk before ``add`` returns.

Whatever moment a process dies at, the rows that were acknowledged are there; half a row at the end
is set aside in ``FILE.torn`` when the next row is added, and readers leave it out. Writers on one
machine wait for each other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from neardup.errors import InputError

TORN = ".torn"
Row = dict[str, Any]


def read_rows(path: Path) -> list[Row]:
    """Changes nothing; a file that is not there holds no row."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    lines = enumerate(_cut(data)[0].splitlines(), 1)
    return [_row(line, path, number) for number, line in lines if line.strip()]


@contextmanager
def adding(path: Path) -> Iterator[Adding]:
    """The folder of the file is made where it is missing. Alone until the end: what is read inside
    is what the rows that are added follow."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        _lock(file)
        _repair(path, file)
        yield Adding(path, file)
    finally:
        os.close(file)
        if new:
            _sync_folder(path.parent)


class Adding:
    def __init__(self, path: Path, file: int) -> None:
        self._path, self._file = path, file

    def rows(self) -> list[Row]:
        return read_rows(self._path)

    def add(self, rows: Iterable[Row]) -> None:
        for row in rows:
            _write(self._file, json.dumps(row).encode() + b"\n")


def _row(line: bytes, path: Path, number: int) -> Row:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InputError(
            f"{path}, line {number} is no JSON: {error}.", hint="restore the file from a copy."
        ) from error
    if not isinstance(row, dict):
        raise InputError(
            f"{path}, line {number} is no row: expected an object, got {type(row).__name__}.",
            hint="restore the file from a copy.",
        )
    return row


def _cut(data: bytes) -> tuple[bytes, bytes]:
    """Whole rows, and half a row. A row that lacks only its line end is whole: no shorter piece of
    a JSON object is one."""
    end = data.rfind(b"\n") + 1
    tail = data[end:]
    try:
        if isinstance(json.loads(tail), dict):
            return data, b""
    except ValueError:
        pass
    return data[:end], tail


def _repair(path: Path, file: int) -> None:
    """What is cut off is first safe elsewhere; dying in between only writes it there twice."""
    data = path.read_bytes()
    whole, tail = _cut(data)
    if tail:
        torn = path.with_name(path.name + TORN)
        aside = os.open(torn, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            _write(aside, tail + b"\n")
        finally:
            os.close(aside)
        os.ftruncate(file, len(whole))
        os.fsync(file)
    elif data and not data.endswith(b"\n"):
        _write(file, b"\n")


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
    os.fsync(file)


def _lock(file: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows: one writer at a time is up to the user
        return
    fcntl.flock(file, fcntl.LOCK_EX)


def _sync_folder(folder: Path) -> None:
    """A new file is there after a power cut only when its folder is on the disk too."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
