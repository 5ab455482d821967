"""What the name of an input shows: the format of a file, and the address of a store or a database.

A format is known by its extensions, which name compressions, archives and mailboxes too.

The address of a file is ``s3://bucket/key``, ``gs://…``, ``hdfs://…``, or any other that pyarrow.fs
supports. A key is used as written, as in the tools of the stores: ``%20`` and ``#`` have no special
meaning. Options of the store follow a last ``?``
(``?region=eu-west-1&endpoint_override=host:port&scheme=http``); a ``?`` that no ``name=``
follows is a wildcard. Passwords and keys in an address are used but never shown.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode

if TYPE_CHECKING:
    from neardup.documents.remote import Place

CODECS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz"}
SUFFIXES = {codec: suffix for suffix, codec in CODECS.items()}
JSONL = (".jsonl", ".ndjson", ".json")
CSV = (".csv", ".tsv")
ARROW = (".arrow", ".feather")
PARQUET = (".parquet", ".pq")
WARC = (".warc", ".wet")
SQLITE = (".db", ".sqlite", ".sqlite3")
TEXTS = (".txt", ".text", ".md", ".markdown", ".rst", ".adoc", ".org", ".tex")
XML = (".xml", ".rss", ".atom")
EML, MSG, MBOX = ".eml", ".msg", ".mbox"
ZIP, TAR = ".zip", ".tar"
SHORT = {".tgz": "gzip", ".tbz2": "bz2", ".txz": "xz", ".tzst": "zstd"}
# Kinds of pages, of which an extractor makes text.
HTML, PDF, TEXT, RTF = "html", "pdf", "text", "rtf"
DOCX, PPTX, ODF, EPUB = "docx", "pptx", "odf", "epub"
KINDS = {
    **dict.fromkeys((".html", ".htm", ".xhtml", ".xht"), HTML),
    ".pdf": PDF, ".rtf": RTF, ".epub": EPUB, ".odt": ODF, ".odp": ODF,
    ".docx": DOCX, ".docm": DOCX, ".pptx": PPTX, ".pptm": PPTX,
}  # fmt: skip
ALL_TEXT = "all-text"
HOWS = ("trafilatura", "resiliparse", ALL_TEXT, "none")
FORMATS = (*JSONL, *CSV, *ARROW, *PARQUET, *WARC, MBOX)
EXPECTED = (
    "expected .jsonl, .ndjson, .json, .csv, .tsv or .warc (also with .gz, .zst, .bz2 or .xz), "
    ".parquet, .arrow or .feather, .txt, .md or .rst, .html, .pdf, .docx, .odt, .pptx, .odp, .rtf, "
    ".epub or .xml (feeds: .rss and .atom too), .mbox, .eml or .msg, or a folder, .zip or .tar of "
    "such pages, messages and text files"
)


def is_known(path: Place) -> bool:
    """Whether the name of the file determines how it is read."""
    return named_format(path)[0] in (*FORMATS, *KINDS, *XML, EML, MSG)


def named_format(path: Place) -> tuple[str, str | None]:
    """The file extension of the format, and the compression after it."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    codec = CODECS.get(suffixes[-1]) if suffixes else None
    format_ = suffixes[-2] if codec and len(suffixes) > 1 else suffixes[-1] if suffixes else ""
    return format_, codec


def unpacked_name(name: str) -> str:
    """The name in lower case, without the extension of a compression."""
    stem, ending = os.path.splitext(name.lower())
    return stem if ending in CODECS else name.lower()


def is_mailbox(name: str) -> bool:
    """Whether a file is an mbox by its name; Apple Mail has folders with a file ``mbox``."""
    return unpacked_name(name).endswith(MBOX) or name.rpartition("/")[2] == MBOX[1:]


def is_archive(path: Place) -> bool:
    name = path.name.lower()
    packed = tuple(f"{TAR}{ending}" for ending in CODECS)
    return name.endswith((ZIP, TAR, *SHORT, *packed))


def list_name(folder: str) -> str:
    """The name of the list of files that were copied into a folder."""
    return f"{folder}.txt"


S3_OPTIONS = ("region", "scheme", "endpoint_override")
_SHOWN_OPTIONS = (*S3_OPTIONS, "project_id", "blob_storage_authority", "dfs_storage_authority")
# pathlib collapses two slashes into one.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/+)([^/]*)/*(.*)", re.DOTALL)
_OPTIONS = re.compile(r"(.*)\?(\w+=[^?]*)", re.DOTALL)
DATABASES = ("sqlite", "postgresql", "postgres")
_QUERY = re.compile(r"(?:^|&)query=", re.DOTALL)


class Address(NamedTuple):
    scheme: str
    login: str  # before the @
    host: str  # bucket, container or server
    key: str
    options: str

    @property
    def shown(self) -> str:
        """The address for people, ids and tables, without secrets and options."""
        name, _, _ = self.login.partition(":")
        user = f"{name}@" if name and self.scheme not in ("s3", "gs", "gcs") else ""
        wanted = ((name, self.option(name)) for name in ("table", "query") if self.is_database)
        named = "".join(f"?{name}={value}" for name, value in wanted if value)
        return f"{self.scheme}://{user}{self.host}/{self.key}{named}"

    @property
    def is_database(self) -> bool:
        return self.scheme in DATABASES

    def option(self, name: str) -> str | None:
        """An option of a database as written. A query goes on to the end, ``&`` and all."""
        before, *query = _QUERY.split(self.options, maxsplit=1)
        if name == "query":
            return query[0] if query else None
        parts = (part.partition("=") for part in before.split("&"))
        return next((value for key, _, value in parts if key == name), None)

    @property
    def rest(self) -> str:
        """The options of a database that are for its own library."""
        parts = _QUERY.split(self.options, maxsplit=1)[0].split("&")
        return "&".join(part for part in parts if not part.startswith("table="))

    @property
    def again(self) -> str:
        """The address that opens it again, as far as that may be written down."""
        kept = [(name, value) for name, value in parse_qsl(self.options) if name in _SHOWN_OPTIONS]
        kept = [] if self.is_database else kept
        return self.shown + ("?" + urlencode(kept, safe=":/") if kept else "")


def address_of(written: object) -> Address | None:
    """The address of a store; None for a path on this machine."""
    match = _ADDRESS.fullmatch(str(written))
    # One slash was two, unless that is how a relative path begins.
    if not match or (len(match[2]) == 1 and os.path.lexists(f"{match[1]}:")):
        return None
    scheme, slashes, authority, key = match[1].lower(), match[2], match[3], match[4]
    if scheme in DATABASES:
        return _database(scheme, str(written)[len(scheme) + 1 :])
    if len(slashes) > 2:  # no server is named
        authority, key = "", f"{authority}/{key}" if key else authority
    options = _OPTIONS.fullmatch(key)
    key, options_written = (options[1], options[2]) if options else (key, "")
    login, _, host = authority.rpartition("@")
    return Address(scheme, login, host, key, options_written)


def _database(scheme: str, written: str) -> Address:
    """``sqlite:///news.db`` names a file here; a fourth slash begins an absolute path."""
    place, _, options = written.partition("?")
    if scheme == "sqlite":
        return Address(scheme, "", "", re.sub("^/{1,3}", "", place), options)
    authority, _, key = place.lstrip("/").partition("/")
    login, _, host = authority.rpartition("@")
    return Address(scheme, login, host, key, options)


def local_path(address: Address) -> str | None:
    """``file:///a%20b`` → ``/a b``; None for other addresses."""
    if address.scheme != "file":
        return None
    key = address.key + (f"?{address.options}" if address.options else "")
    # Path("file:///a/b") has lost two slashes: what then looks like a server begins the path.
    top = "" if address.host in ("", "localhost") else f"/{address.host}"
    return unquote(f"{top}/{key}")
