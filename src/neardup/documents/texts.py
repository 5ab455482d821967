"""The texts of an input, whatever it is: for what is compared with documents, such as boilerplate.

A file whose name tells no format is one text. Of pages it is all their text: what is given as
boilerplate is what an extractor would leave out.
"""

from __future__ import annotations

from pathlib import Path

from neardup.documents.collection import collect
from neardup.documents.columns import Columns
from neardup.documents.encodings import decoded
from neardup.documents.extraction.extractor import Extraction
from neardup.documents.extraction.page import KINDS
from neardup.documents.paths import is_known
from neardup.errors import SettingsError


def texts_of(path: Path, column: str = "text") -> list[str]:
    if not path.exists():
        raise SettingsError(f"{path} does not exist.", hint="check the path.")
    if path.is_file() and not is_known(path):
        return [_text(path)]
    of_pages = Extraction("all-text") if path.is_dir() or path.suffix.lower() in KINDS else None
    chunks = collect([path], extraction=of_pages).chunks(Columns(text=column))
    batches = (chunk.read() for chunk in chunks)
    return [text for batch in batches for text in batch.records["text"].to_pylist()]


def _text(path: Path) -> str:
    try:
        found = decoded(path.read_bytes())
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.") from error
    if found.text is None:
        raise SettingsError(f"{path} cannot be read: {found.reason}.", hint="give a text file.")
    return found.text
