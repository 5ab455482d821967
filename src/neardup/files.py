"""A file of JSON rows that only grows: what was added is on the disk before ``add`` returns.

Whatever moment a process dies at, the rows that were acknowledged are there; half a row at the end
is set aside in ``FILE.torn`` when the next row is added, and readers leave it out. Writers on one
machine wait for each other.

Writing and moving files so that they are whole or not there, also after a crash.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from neardup.errors import InputError

TORN = ".torn"
Row = dict[str, Any]


class Lines(NamedTuple):
    """Whole lines with their numbers, and half a row at the end, which counts for nothing."""

    lines: list[tuple[int, bytes]]
    torn: str | None


def read_lines(path: Path) -> Lines:
    """Changes nothing; a file that is not there holds no line."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Lines([], None)
    except OSError as error:
        raise InputError(
            f"Cannot read {path}: {error.strerror}.", hint="it should be a file of JSON rows."
        ) from error
    whole, tail = _cut(data)
    numbered = [(n, line) for n, line in enumerate(whole.splitlines(), 1) if line.strip()]
    return Lines(numbered, _shown(tail))


def read_rows(path: Path) -> list[Row]:
    return [_row(line, path, number) for number, line in read_lines(path).lines]


@contextmanager
def adding(path: Path) -> Iterator[Adding]:
    """The folder of the file is made where it is missing. Alone until the end: what is read inside
    is what the rows that are added follow."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = not path.exists()
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError as error:
        raise unwritable(path, error) from error
    try:
        _lock(file)
        yield Adding(path, file, _repair(path, file))
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        os.close(file)
        if new:
            _sync_folder(path.parent)


class Adding:
    """``set_aside`` is half a row that was found there, and moved away."""

    def __init__(self, path: Path, file: int, set_aside: str | None) -> None:
        self._path, self._file = path, file
        self.set_aside = set_aside

    def rows(self) -> list[Row]:
        return read_rows(self._path)

    def add(self, rows: Iterable[Mapping[str, Any]], *, together: bool = False) -> None:
        """Each row is on the disk before the next is written; those that mean nothing apart go
        ``together``, with one write."""
        lines = (json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
        for line in [b"".join(lines)] if together else lines:
            _write(self._file, line)


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


def _repair(path: Path, file: int) -> str | None:
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
    return _shown(tail)


def _shown(tail: bytes) -> str | None:
    return tail.decode("utf-8", "replace") if tail else None


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


def unwritable(path: Path, error: OSError) -> InputError:
    return InputError(
        f"Cannot write to {path}: {error.strerror}. What was acknowledged before is safe.",
        hint="is there room on the disk, and may you write there?",
    )


_AT_ONCE = 8


def write(path: Path, data: bytes) -> None:
    """Whole under its name, or not there."""
    write_all({path: data})


def write_all(contents: Mapping[Path, bytes]) -> None:
    parts = {path: path.with_name(f".{path.name}.part") for path in contents}
    for path, data in contents.items():
        parts[path].write_bytes(data)
    sync(parts.values())
    for path, part in parts.items():
        part.replace(path)


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace") + b"\n"


def copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    with suppress(OSError):  # not every file system has times and rights
        shutil.copystat(source, target)
    sync([target])


def sync(paths: Iterable[Path]) -> None:
    """Files, or folders after renaming in them. Asked for many at once, a file system writes its
    journal once for all: 64 files in 15 ms, one after the other in 260."""
    known = list(paths)
    if len(known) < 2:
        for path in known:
            _sync(path)
        return
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(_sync, known))


def _sync(path: Path) -> None:
    if os.name == "nt" and path.is_dir():  # cannot be opened there
        return
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def free(path: Path, taken: Callable[[Path], bool]) -> Path:
    """``path``, or as ``a~2.txt`` where there is one already, or where it is ``taken``."""
    made, number = path, 1
    while os.path.lexists(made) or taken(made):
        number += 1
        made = path.with_name(f"{path.stem}~{number}{path.suffix}")
    return made
