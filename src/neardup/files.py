"""Files that survive a crash: append-only files of JSON rows, and files that appear whole.

``adding`` opens a file of JSON rows for appending. Rows are on the disk before ``add`` returns, and
an acknowledged row is never lost. An incomplete row at the end, left by a crash, is moved to
``FILE.torn`` when the next row is added; readers ignore it. Writers on one machine wait for each
other.

``whole_file`` writes a file under a temporary name and renames it when it is on the disk (fsync):
a crash or a power cut at any moment leaves the old file or the new one. ``draft.py`` does the same
for folders.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from neardup.errors import InputError, NeardupError, UsageError

TORN = ".torn"
DRAFT, LOCK = ".neardup-part", ".neardup-lock"
Row = dict[str, Any]


class Lines(NamedTuple):
    """Complete lines with their numbers, and an incomplete row at the end, which is ignored."""

    lines: list[tuple[int, bytes]]
    torn: str | None


def read_lines(path: Path) -> Lines:
    """Reads without changing the file; a missing file has no lines."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Lines([], None)
    except OSError as error:
        raise InputError(
            f"Cannot read {path}: {error.strerror}.", hint="it should be a file of JSON rows."
        ) from error
    complete, tail = _split(data)
    numbered = [(n, line) for n, line in enumerate(complete.splitlines(), 1) if line.strip()]
    return Lines(numbered, _shown(tail))


def from_json(written: str | bytes) -> Any:
    """``json.loads``, which raises a ``ValueError`` also if a value is nested too deeply."""
    try:
        return json.loads(written)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_rows(path: Path) -> list[Row]:
    return [_row(line, path, number) for number, line in read_lines(path).lines]


@contextmanager
def adding(path: Path) -> Iterator[Adding]:
    """Opens the file, and makes its folder if it is missing. The caller has exclusive access, so no
    row comes between those that are read and those that are added."""
    try:
        make_folder(path.parent)
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
            sync([path.parent])


class Adding:
    """Appends to a file of rows. ``set_aside`` is an incomplete row that was moved away."""

    def __init__(self, path: Path, file: int, set_aside: str | None) -> None:
        self._path, self._file = path, file
        self.set_aside = set_aside

    def rows(self) -> list[Row]:
        return read_rows(self._path)

    def add(self, rows: Iterable[Mapping[str, Any]], *, together: bool = False) -> None:
        """Each row is on the disk before the next one is written; rows that belong ``together`` are
        written at once."""
        lines = (json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
        for line in [b"".join(lines)] if together else lines:
            _write(self._file, line)


def _row(line: bytes, path: Path, number: int) -> Row:
    try:
        row = from_json(line)
    except ValueError as error:
        raise InputError(
            f"{path}, line {number} is not JSON: {error}.", hint="restore the file from a copy."
        ) from error
    if not isinstance(row, dict):
        raise InputError(
            f"{path}, line {number} is not a row: expected an object, got {type(row).__name__}.",
            hint="restore the file from a copy.",
        )
    return row


def _split(data: bytes) -> tuple[bytes, bytes]:
    """Complete rows, and an incomplete one. A row that lacks only its line end is complete, because
    no proper beginning of a JSON object is a JSON object."""
    end = data.rfind(b"\n") + 1
    tail = data[end:]
    try:
        if isinstance(from_json(tail), dict):
            return data, b""
    except ValueError:
        pass
    return data[:end], tail


def _repair(path: Path, file: int) -> str | None:
    """An incomplete row is first saved elsewhere; a crash before it is removed here only saves it
    twice."""
    data = path.read_bytes()
    complete, tail = _split(data)
    if tail:
        torn = os.open(
            path.with_name(path.name + TORN), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644
        )
        try:
            _write(torn, tail + b"\n")
        finally:
            os.close(torn)
        os.ftruncate(file, len(complete))
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


def _lock(file: int, *, wait: bool = True) -> None:
    try:
        import fcntl
    except ImportError:  # on Windows the user must ensure that there is one writer at a time
        return
    fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def locked(path: Path, busy: Callable[[], NeardupError]) -> Iterator[None]:
    """Allows one process at a time; raises ``busy()`` if there is another one. The file is removed
    at the end; one that a killed process left locks nothing."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT)
        try:
            _lock(file, wait=False)
        except OSError as error:
            os.close(file)
            raise busy() from error
        # The previous holder may have removed the file; a lock on a removed file protects nothing.
        if _is_open_as(file, path):
            break
        os.close(file)
    try:
        yield
    finally:
        if _is_open_as(file, path):
            path.unlink(missing_ok=True)
        os.close(file)


@contextmanager
def only_writer(path: Path, lock: Path | None = None) -> Iterator[None]:
    """Refuses a second process that wants to write ``path`` meanwhile. Missing parents are made,
    and removed if nothing was written."""
    lock = lock or path.with_name(f".{path.name}{LOCK}")
    made: list[Path] = []
    try:
        with ExitStack() as stack:
            try:
                made = make_folder(lock.parent)
                stack.enter_context(locked(lock, lambda: _busy(path)))
            except OSError as error:
                raise UsageError(
                    f"{path} cannot be written: {error.strerror}.",
                    hint=f"get the right to write in {_existing(path.parent)}, or name another "
                    "place.",
                ) from error
            yield
    finally:
        with suppress(OSError):  # not empty
            for folder in made:
                folder.rmdir()


def _busy(path: Path) -> UsageError:
    return UsageError(
        f"Another process is writing {path}.", hint="wait until it is done, or name another place."
    )


def _existing(folder: Path) -> Path:
    return next((path for path in (folder, *folder.parents) if path.exists()), folder)


def _is_open_as(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except OSError:
        return False


def unwritable(path: Path, error: OSError) -> InputError:
    return InputError(
        f"Cannot write to {path}: {error.strerror}. What was acknowledged before is safe.",
        hint="is there room on the disk, and may you write there?",
    )


_AT_ONCE = 8


def write(path: Path, data: bytes) -> None:
    """Writes a file that is either complete or absent."""
    write_all({path: data})


def write_all(contents: Mapping[Path, bytes]) -> None:
    """The caller syncs the folders, after whatever else it renames in them."""
    parts = {path: path.with_name(f".{path.name}.part") for path in contents}
    for path, data in contents.items():
        parts[path].write_bytes(data)
    sync(parts.values())
    for path, part in parts.items():
        part.replace(path)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yields the path of a ``.part`` file that becomes ``path`` only if there was no error, and is
    on the disk afterwards. The files of a draft are synced together when it is published."""
    part = path.with_name(path.name + ".part")
    alone = not any(name.endswith(DRAFT) for name in path.parts)
    try:
        yield part
        if alone:
            sync([part])
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if alone:
        sync([path.parent])


def write_text(path: Path, text: str) -> None:
    with whole_file(path) as part:
        part.write_text(text, "utf-8")


def check_parent(path: Path) -> None:
    """Raises before the work that the folder of a file to write does not exist."""
    if not path.parent.is_dir():
        raise UsageError(
            f"{path} cannot be written: the folder {path.parent} does not exist.",
            hint=f"make it (mkdir -p {path.parent}), or name another.",
        )


def make_folder(folder: Path) -> list[Path]:
    """Makes a folder and its missing parents, on the disk too; returns those that were missing,
    the innermost first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    sync(path.parent for path in missing)
    return missing


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace") + b"\n"


def copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    with suppress(OSError):  # some file systems have no times and permissions
        shutil.copystat(source, target)
    sync([target])


def sync(paths: Iterable[Path]) -> None:
    """Syncs files, or folders after renaming in them. If many are synced concurrently, a file
    system writes its journal once for all: 64 files in 15 ms instead of 260."""
    listed = list(paths)
    if len(listed) < 2:
        for path in listed:
            _sync(path)
        return
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(_sync, listed))


def _sync(path: Path) -> None:
    if os.name == "nt" and path.is_dir():  # Windows cannot open folders
        return
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that cannot sync folders
            raise
    finally:
        os.close(handle)


def sync_tree(folder: Path) -> None:
    """Syncs everything in a folder, and the folder."""
    sync(path for path in [*folder.rglob("*"), folder] if not path.is_symlink())


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def free(path: Path, taken: Callable[[Path], bool]) -> Path:
    """``path``, or a name like ``a~2.txt`` if it exists or is ``taken``."""
    candidate, number = path, 1
    while os.path.lexists(candidate) or taken(candidate):
        number += 1
        candidate = path.with_name(f"{path.stem}~{number}{path.suffix}")
    return candidate
