"""Boilerplate: shingles or grams of given texts, such as a legal notice, that methods ignore.

The artefact holds the sorted hashes of the shingles of words, or the features of the character
grams. A run therefore stores what it ignored, and every engine ignores the same, even if the texts
are no longer available.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import (
    DAMAGE,
    NothingToCount,
    StoredTable,
    stored_table,
    why_unreadable,
)
from neardup.classes import dataclass
from neardup.documents.collection import collect
from neardup.documents.columns import Columns
from neardup.documents.encodings import decoded
from neardup.documents.extraction.extractor import Extraction
from neardup.documents.file_formats import KINDS, is_known
from neardup.errors import InputError, SettingsError, SignatureError
from neardup.features.qgrams import features_of_samples, sampled_grams
from neardup.schema import Ragged
from neardup.text.text_options import Text
from neardup.text.words import word_hashes

FORMAT = 1
AUTO = "auto"  # texts that a source repeats, which the engine finds
MOST_CHARACTERS = 1 << 24  # of a text whose grams are all taken


@dataclass(frozen=True, eq=False)
class Boilerplate(StoredTable):
    hashes: npt.NDArray[np.uint64]
    words: int  # or characters, by ``unit``
    text: Text
    unit: str = "words"

    kind: ClassVar[str] = "boilerplate"
    compression: ClassVar[str | None] = None

    def options(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "words": self.words,
            "shingles": len(self.hashes),
            "text": asdict(self.text),
            **({} if self.unit == "words" else {"unit": self.unit}),
        }

    def tables(self) -> Iterable[pa.Table]:
        return [pa.table({"hash": pa.array(self.hashes)})]

    def content(self) -> Iterable[npt.NDArray[Any]]:
        return [self.hashes]


def boilerplate_of(
    texts: Sequence[str], words: int, text: Text, unit: str = "words"
) -> Boilerplate:
    if unit == "characters":
        grams = sampled_grams(Ragged.of_texts(list(texts)), words, text, MOST_CHARACTERS)
        features = np.unique(features_of_samples(grams)).astype(np.uint64)
        return Boilerplate(features, words, text, unit)
    tokens = word_hashes(Ragged.of_texts(list(texts)), text)
    shingles = [_native.shingle_hashes(tokens[i], words) for i in range(len(tokens))]
    hashes = np.unique(np.concatenate([np.empty(0, np.uint64), *shingles]))
    return Boilerplate(hashes, words, text)


def load_boilerplate(path: Path, words: int, text: Text, unit: str = "words") -> Boilerplate:
    try:
        table, described = stored_table(path, Boilerplate.kind)
        _ = table["hash"]
    except (OSError, *DAMAGE) as error:
        reason = why_unreadable(error, "no run has written it")
        raise InputError(
            f"The boilerplate {path} cannot be read: {reason}.",
            hint="give texts as a list, or --boilerplate FILE on the command line.",
        ) from error
    boilerplate = Boilerplate(table["hash"].to_numpy().astype(np.uint64), words, text, unit)
    if boilerplate.digest != described.get("digest"):
        raise SignatureError(
            f"The boilerplate {path} is of runs of {described.get('words')} "
            f"{described.get('unit', 'words')} of {described.get('text')}, or has changed; the "
            f"method asks for {words} {unit} of {text}.",
            hint="give the texts again.",
        )
    return boilerplate


@dataclass(frozen=True)
class BoilerplateNeed:
    """``source`` is the texts, or the file in which a run stored its boilerplate."""

    source: tuple[str, ...] | str
    words: int
    text: Text
    unit: str = "words"
    name: str = "boilerplate"
    columns: tuple[str, ...] = ()

    @property
    def file(self) -> str | None:
        return self.source if isinstance(self.source, str) else None

    def ready(self) -> Boilerplate:
        if isinstance(self.source, str):
            return self.load(Path(self.source))
        return boilerplate_of(self.source, self.words, self.text, self.unit)

    def load(self, path: Path) -> Boilerplate:
        return load_boilerplate(path, self.words, self.text, self.unit)

    def counter(self) -> NothingToCount:
        return NothingToCount(self)


def texts_of(path: Path, column: str = "text") -> list[str]:
    """The texts of a file of boilerplate. A file of no known format is one text, and all text of
    pages counts, because boilerplate is what an extractor would leave out."""
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
        content = decoded(path.read_bytes())
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.") from error
    if content.text is None:
        raise SettingsError(f"{path} cannot be read: {content.reason}.", hint="give a text file.")
    return content.text
