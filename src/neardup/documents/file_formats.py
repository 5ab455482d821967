"""The formats of files by their names: extensions, compressions, archives and mailboxes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

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
