"""Files in object stores: a :class:`Remote` stands in a source where a ``Path`` does.

Nothing is copied to this machine: a source reads a remote file as it reads a local one, as often as
it needs (docs/decisions/0010-remote-files.md). A file that is not the same any more when it is
opened again stops the run, and so does a store that fails: that is no fault of a document.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import IO, Any, TypeAlias, cast

from neardup.documents.stores import Address, Store, store_of, unreachable
from neardup.errors import ChangedError, InputError

READ_BYTES = 8 << 20  # a request each: few and long ones
WILDCARDS = "*?["


@dataclass(frozen=True)
class Remote:
    """A file or a folder of a store, with the methods of a ``Path`` that sources use."""

    store: Store
    address: Address
    info: Any  # as it was when it was found

    def __str__(self) -> str:
        return self.address.shown

    def as_posix(self) -> str:
        return str(self)

    @property
    def name(self) -> str:
        return PurePosixPath(self.address.key).name or self.address.host

    @property
    def suffixes(self) -> list[str]:
        return PurePosixPath(self.name).suffixes

    def __truediv__(self, name: str) -> Remote:
        """A file of this folder."""
        info = SimpleNamespace(path=f"{self.info.path}/{name}")
        return Remote(self.store, self.address._replace(key=f"{self.address.key}/{name}"), info)

    def resolve(self) -> Remote:
        return self

    def is_dir(self) -> bool:
        return bool(self.info.type.name == "Directory")

    def stat(self) -> SimpleNamespace:
        return SimpleNamespace(st_size=self.info.size or 0, st_mtime_ns=self.info.mtime_ns)

    @property
    def found(self) -> tuple[int, ...] | None:
        """What tells a file from another one that has come into its place."""
        return _stamp(self.info)

    def now(self) -> tuple[int, ...] | None:
        """The same as the store says it is at this moment; None if the file is gone."""
        try:
            info = self.store.files.get_file_info(self.info.path)
        except OSError as error:
            raise unreachable(str(self), error) from error
        return _stamp(info)

    def open(self, mode: str = "rb", buffering: int = READ_BYTES) -> IO[bytes]:  # noqa: ARG002 (as Path)
        return cast(IO[bytes], io.BufferedReader(self.raw(), READ_BYTES))

    def raw(self) -> io.RawIOBase:
        """Unbuffered: for readers that know what they want, such as Parquet's."""
        try:
            if self.now() != self.found:
                raise ChangedError(
                    f"{self} was changed or removed during the run.", hint="run again."
                )
            return _Stream(self.store.files.open_input_file(self.info.path), str(self))
        except OSError as error:
            raise unreachable(str(self), error) from error

    def read_bytes(self) -> bytes:
        try:
            with self.store.files.open_input_file(self.info.path) as file:
                return bytes(file.read())
        except OSError as error:
            raise unreachable(str(self), error) from error

    def files(self) -> Iterator[tuple[str, Remote]]:
        """What lies below a folder, by its path there; hidden ones (a dot first) left out."""
        for info in _listing(self.store, self.address, self.info.path, recursive=True):
            name = info.path[len(self.info.path) :].lstrip("/")
            if not any(part.startswith(".") for part in name.split("/")):
                yield name, _found(self.store, self.address, info)


Place: TypeAlias = Path | Remote


def _stamp(info: Any) -> tuple[int, ...] | None:
    """Size and time. In whole seconds, because a store may give more of them when it lists files
    (MinIO) than when it is asked for one."""
    return (info.size, (info.mtime_ns or 0) // 10**9) if info.type.name == "File" else None


class _Stream(io.RawIOBase):
    """Errors of the store are errors of the run: an ``OSError`` in the middle of an archive would
    be taken for its end."""

    def __init__(self, file: Any, shown: str) -> None:
        self._file, self._shown = file, shown

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return int(self._file.readinto(buffer))
        except OSError as error:
            raise unreachable(self._shown, error) from error

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def remote_files(address: Address) -> list[Remote]:
    """The file or folder of this name; else, sorted, the files that match it as a pattern."""
    address = address._replace(key=address.key.rstrip("/"))
    store = store_of(address)
    try:
        info = store.files.get_file_info(store.path(address.key))
    except OSError as error:
        raise unreachable(address.shown, error) from error
    if info.type.name != "NotFound":
        return [Remote(store, address, info)]
    if not any(sign in address.key for sign in WILDCARDS):
        raise InputError(
            f"{address.shown} does not exist.",
            hint="check bucket and key; they are taken as written, %20 is not a space.",
        )
    matches = sorted(_matching(store, address), key=str)
    if not matches:
        raise InputError(
            f"No file matches {address.shown}.", hint="check the pattern; ** goes into sub-folders."
        )
    return matches


def _matching(store: Store, address: Address) -> Iterator[Remote]:
    parts = address.key.split("/")
    plain = next(i for i, part in enumerate(parts) if any(sign in part for sign in WILDCARDS))
    top, pattern = store.path("/".join(parts[:plain])), parts[plain:]
    for info in _listing(store, address, top, recursive=pattern != [pattern[0]] or "**" in pattern):
        if fits(info.path[len(top) :].lstrip("/").split("/"), pattern):
            yield _found(store, address, info)


def fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """As ``glob`` has it: ``**`` is any number of folders, and hidden names must be named."""
    if not pattern or not parts:
        return not parts and all(part == "**" for part in pattern)
    first, *rest = pattern
    hidden = parts[0].startswith(".") and not first.startswith(".")
    if first == "**":
        return fits(parts, rest) or (not hidden and fits(parts[1:], pattern))
    return not hidden and fnmatchcase(parts[0], first) and fits(parts[1:], rest)


def _listing(store: Store, address: Address, top: str, *, recursive: bool) -> Iterator[Any]:
    from pyarrow import fs

    try:
        found = store.files.get_file_info(fs.FileSelector(top, recursive=recursive))
    except FileNotFoundError:
        return
    except OSError as error:
        raise unreachable(address.shown, error) from error
    yield from (info for info in found if info.type.name == "File")


def _found(store: Store, address: Address, info: Any) -> Remote:
    key = info.path[len(store.base) :].lstrip("/")
    return Remote(store, address._replace(key=key), info)
