"""Files in object stores: a :class:`Remote` takes the place of a ``Path`` in a source.

No file is copied to this machine: a source reads a remote file like a local one, as often as it
needs (docs/decisions/0010-remote-files.md). If a file has changed when it is opened again, or a
store fails, the run stops, because that is no fault of a document.
"""

from __future__ import annotations

import functools
import io
import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import IO, Any, NamedTuple, TypeAlias, cast
from urllib.parse import parse_qsl, unquote

from neardup.classes import dataclass
from neardup.documents.file_formats import S3_OPTIONS, Address
from neardup.errors import ChangedError, InputError, StoreError

CONNECT_SECONDS, REQUEST_SECONDS, ATTEMPTS = 10, 60, 4
GCS_SECONDS = 30  # pyarrow would try for 15 minutes
LOCK = "~$"  # Word begins so the name of a file that says who has a document open
HIDDEN = (".", LOCK)


class Store(NamedTuple):
    """A file system, and the path in it at which keys begin."""

    files: Any
    base: str

    def path(self, key: str) -> str:
        return f"{self.base}/{key}".rstrip("/") if self.base or key else "/"


def store_of(address: Address) -> Store:
    try:
        return _store(address._replace(key=""))
    except (OSError, ValueError, NotImplementedError) as error:
        # pyarrow repeats the address that it was given, login and all; so no cause is shown either.
        message = str(error).replace(f"{address.login}@", "") if address.login else str(error)
        raise unreachable(address.shown, OSError(message)) from None


@functools.lru_cache(maxsize=16)
def _store(address: Address) -> Store:
    from pyarrow import fs

    if address.scheme == "s3":
        return Store(_s3(address), address.host)
    options = address.options
    if address.scheme in ("gs", "gcs") and "retry_limit_seconds=" not in options:
        options = "&".join(filter(None, (options, f"retry_limit_seconds={GCS_SECONDS}")))
    login = f"{address.login}@" if address.login else ""
    query = f"?{options}" if options else ""
    files, base = fs.FileSystem.from_uri(f"{address.scheme}://{login}{address.host}/{query}")
    return Store(files, base.rstrip("/"))


def _s3(address: Address) -> Any:
    """An S3 file system; ``from_uri`` does not support timeouts."""
    from pyarrow import fs

    options: dict[str, Any] = dict(parse_qsl(address.options))
    for name in options:
        if name not in S3_OPTIONS:
            raise ValueError(f"option {name!r} is unknown; expected {', '.join(S3_OPTIONS)}")
    if address.login:
        options["access_key"], _, options["secret_key"] = map(unquote, address.login.partition(":"))
    options = _s3_endpoint() | options
    if not options.keys() & {"region", "endpoint_override"}:
        options["region"] = fs.resolve_s3_region(address.host)
    return fs.S3FileSystem(
        connect_timeout=CONNECT_SECONDS,
        request_timeout=REQUEST_SECONDS,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS),
        **options,
    )


def _s3_endpoint() -> dict[str, Any]:
    """The endpoint in the environment, which other tools use and pyarrow ignores."""
    url = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    scheme, found, host = url.partition("://")
    return {"scheme": scheme, "endpoint_override": host.rstrip("/")} if found else {}


_HINTS = {
    "NO_SUCH_BUCKET": "check the name of the bucket.",
    "ACCESS_DENIED|403|PERMISSION_DENIED|INVALID_ACCESS_KEY|SIGNATURE|UNAUTHENTICATED": (
        "check the credentials that the store's own tools use (for S3 AWS_PROFILE or "
        "AWS_ACCESS_KEY_ID), and what they may read."
    ),
    "NETWORK_CONNECTION|UNAVAILABLE|CURL|timed? ?out": "check the network and the endpoint.",
    "Unrecognized filesystem": (
        "expected s3, gs, hdfs, abfs, file, sqlite or postgresql; of the web, "
        "curl -L URL | neardup dedup -."
    ),
    "libjvm|libhdfs": "HDFS needs Java and Hadoop: set JAVA_HOME, HADOOP_HOME and CLASSPATH.",
    "unknown; expected": "correct what follows the ? of the address.",
}


def unreachable(shown: str, error: Exception) -> StoreError:
    """An error with the first line of the store's message, without its internal numbers."""
    message = re.split(r"\n| \(Request ID|; Details| error_info=", str(error))[0]
    message = message.removeprefix("google::cloud::Status(")
    hints = (hint for sign, hint in _HINTS.items() if re.search(sign, str(error), re.IGNORECASE))
    hint = next(hints, "check the address, the credentials and the network.")
    return StoreError(f"Cannot read {shown}: {message.rstrip('.')}.", hint=hint)


READ_BYTES = 8 << 20  # bytes of a request: few long requests are faster
WILDCARDS = "*?["


@dataclass(frozen=True)
class Remote:
    """A file or a folder of a store, with the methods of a ``Path`` that sources use."""

    store: Store
    address: Address
    info: Any  # the state when the file was found

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
        """The state that distinguishes the file from a different one in its place."""
        return _stamp(self.info)

    def now(self) -> tuple[int, ...] | None:
        """The current state in the store; None if the file is gone."""
        try:
            info = self.store.files.get_file_info(self.info.path)
        except OSError as error:
            raise unreachable(str(self), error) from error
        return _stamp(info)

    def open(self, mode: str = "rb", buffering: int = READ_BYTES) -> IO[bytes]:  # noqa: ARG002 (as Path)
        return cast("IO[bytes]", io.BufferedReader(self.raw(), READ_BYTES))

    def raw(self) -> io.RawIOBase:
        """An unbuffered stream, for readers that know what they need, such as that of Parquet."""
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
        """The files below a folder, by their paths in it; hidden ones are left out."""
        for info in _listing(self.store, self.address, self.info.path, recursive=True):
            name = info.path[len(self.info.path) :].lstrip("/")
            if not any(part.startswith(HIDDEN) for part in name.split("/")):
                yield name, _found(self.store, self.address, info)


Place: TypeAlias = Path | Remote


def _stamp(info: Any) -> tuple[int, ...] | None:
    """Size and time, in whole seconds, because a store may return more digits when it lists files
    (MinIO) than for a single file."""
    return (info.size, (info.mtime_ns or 0) // 10**9) if info.type.name == "File" else None


class _Stream(io.RawIOBase):
    """Errors of the store are errors of the run: an ``OSError`` in the middle of a compressed file
    would look like its end."""

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
    """The file or folder of this name; otherwise the files that match it as a pattern, sorted."""
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
    """Matches like ``glob``: ``**`` is any number of folders, and hidden names must be named."""
    if not pattern or not parts:
        return not parts and all(part == "**" for part in pattern)
    first, *rest = pattern
    hidden = parts[0].startswith(HIDDEN) and not first.startswith(HIDDEN)
    if first == "**":
        return fits(parts, rest) or (not hidden and fits(parts[1:], pattern))
    return not hidden and fnmatchcase(parts[0], first) and fits(parts[1:], rest)


def _listing(store: Store, address: Address, top: str, *, recursive: bool) -> Iterator[Any]:
    from pyarrow import fs

    try:
        infos = store.files.get_file_info(fs.FileSelector(top, recursive=recursive))
    except FileNotFoundError:
        return
    except OSError as error:
        raise unreachable(address.shown, error) from error
    yield from (info for info in infos if info.type.name == "File")


def _found(store: Store, address: Address, info: Any) -> Remote:
    key = info.path[len(store.base) :].lstrip("/")
    return Remote(store, address._replace(key=key), info)
