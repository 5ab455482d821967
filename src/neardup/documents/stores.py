"""Object stores by address: ``s3://bucket/key``, ``gs://…``, ``hdfs://…``, what pyarrow.fs knows.

A key is taken as written, as the stores' own tools do: ``%20`` and ``#`` are themselves. Options of
the store follow a last ``?`` (``?region=eu-west-1&endpoint_override=host:port&scheme=http``); a
``?`` that no ``name=`` follows is a wildcard. Passwords and keys in an address are used and never
shown.
"""

from __future__ import annotations

import functools
import os
import re
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode

from neardup.errors import StoreError

CONNECT_SECONDS, REQUEST_SECONDS, ATTEMPTS = 10, 60, 4
GCS_SECONDS = 30  # pyarrow would try for 15 minutes
_S3_OPTIONS = ("region", "scheme", "endpoint_override")
_SHOWN_OPTIONS = (*_S3_OPTIONS, "project_id", "blob_storage_authority", "dfs_storage_authority")
# pathlib makes one slash of two.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/+)([^/]*)/*(.*)", re.DOTALL)
_OPTIONS = re.compile(r"(.*)\?(\w+=[^?]*)", re.DOTALL)


class Address(NamedTuple):
    scheme: str
    login: str  # before the @
    host: str  # bucket, container or server
    key: str
    options: str

    @property
    def shown(self) -> str:
        """For people, ids and tables: without what is secret, and without options."""
        name, _, _ = self.login.partition(":")
        user = f"{name}@" if name and self.scheme not in ("s3", "gs", "gcs") else ""
        return f"{self.scheme}://{user}{self.host}/{self.key}"

    @property
    def again(self) -> str:
        """What opens it again, as far as that may be written down."""
        kept = [(name, value) for name, value in parse_qsl(self.options) if name in _SHOWN_OPTIONS]
        return self.shown + ("?" + urlencode(kept, safe=":/") if kept else "")


def address_of(written: object) -> Address | None:
    """None for what is a path on this machine."""
    match = _ADDRESS.fullmatch(str(written))
    # One slash was two, unless that is how a relative path begins.
    if not match or (len(match[2]) == 1 and os.path.lexists(f"{match[1]}:")):
        return None
    scheme, slashes, authority, key = match[1].lower(), match[2], match[3], match[4]
    if len(slashes) > 2:  # no server is named
        authority, key = "", f"{authority}/{key}" if key else authority
    options = _OPTIONS.fullmatch(key)
    key, options_written = (options[1], options[2]) if options else (key, "")
    login, _, host = authority.rpartition("@")
    return Address(scheme, login, host, key, options_written)


def local_path(address: Address) -> str | None:
    """``file:///a%20b`` → ``/a b``; None for other addresses."""
    if address.scheme != "file":
        return None
    key = address.key + (f"?{address.options}" if address.options else "")
    # Path("file:///a/b") has lost two slashes: what then looks like a server begins the path.
    top = "" if address.host in ("", "localhost") else f"/{address.host}"
    return unquote(f"{top}/{key}")


class Store(NamedTuple):
    """A file system, and the path in it where keys begin."""

    files: Any
    base: str

    def path(self, key: str) -> str:
        return f"{self.base}/{key}".rstrip("/") if self.base or key else "/"


def store_of(address: Address) -> Store:
    try:
        return _store(address._replace(key=""))
    except (OSError, ValueError, NotImplementedError) as error:
        # pyarrow repeats the address that it was given, login and all; so no cause is shown either.
        said = str(error).replace(f"{address.login}@", "") if address.login else str(error)
        raise unreachable(address.shown, OSError(said)) from None


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
    """Made here and not by ``from_uri``, which knows no timeouts."""
    from pyarrow import fs

    options: dict[str, Any] = dict(parse_qsl(address.options))
    for name in options:
        if name not in _S3_OPTIONS:
            raise ValueError(f"option {name!r} is unknown; expected {', '.join(_S3_OPTIONS)}")
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
    """That of the environment, which other tools follow and pyarrow does not."""
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
        "expected s3, gs, hdfs, abfs or file; of the web, curl -L URL | neardup dedup -."
    ),
    "libjvm|libhdfs": "HDFS needs Java and Hadoop: set JAVA_HOME, HADOOP_HOME and CLASSPATH.",
    "unknown; expected": "correct what follows the ? of the address.",
}


def unreachable(shown: str, error: Exception) -> StoreError:
    """The store's first line, without numbers that only it understands."""
    said = re.split(r"\n| \(Request ID|; Details| error_info=", str(error))[0]
    said = said.removeprefix("google::cloud::Status(")
    hints = (hint for sign, hint in _HINTS.items() if re.search(sign, str(error), re.IGNORECASE))
    hint = next(hints, "check the address, the credentials and the network.")
    return StoreError(f"Cannot read {shown}: {said.rstrip('.')}.", hint=hint)
