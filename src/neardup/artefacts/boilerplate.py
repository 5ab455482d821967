"""Boilerplate: shingles of given texts, such as a legal notice, that methods ignore.

The artefact holds the sorted 64-bit hashes of the shingles. A run therefore stores what it ignored,
and every engine ignores the same shingles, even if the texts are no longer available.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
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
from neardup.errors import InputError, SettingsError, SignatureError
from neardup.schema import Ragged
from neardup.text.text_options import Text
from neardup.text.words import word_hashes

FORMAT = 1
AUTO = "auto"  # texts that a source repeats, which the engine finds


@dataclass(frozen=True, eq=False)
class Boilerplate(StoredTable):
    hashes: npt.NDArray[np.uint64]
    words: int
    text: Text

    kind: ClassVar[str] = "boilerplate"
    compression: ClassVar[str | None] = None

    def options(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "words": self.words,
            "shingles": len(self.hashes),
            "text": asdict(self.text),
        }

    def columns(self) -> dict[str, pa.Array]:
        return {"hash": pa.array(self.hashes)}

    def content(self) -> Iterable[npt.NDArray[Any]]:
        return [self.hashes]


def boilerplate_of(texts: Sequence[str], words: int, text: Text) -> Boilerplate:
    tokens = word_hashes(Ragged.of_texts(list(texts)), text)
    shingles = [_native.shingle_hashes(tokens[i], words) for i in range(len(tokens))]
    hashes = np.unique(np.concatenate([np.empty(0, np.uint64), *shingles]))
    return Boilerplate(hashes, words, text)


def load_boilerplate(path: Path, words: int, text: Text) -> Boilerplate:
    try:
        table, described = stored_table(path, Boilerplate.kind)
        _ = table["hash"]
    except (OSError, *DAMAGE) as error:
        reason = why_unreadable(error, "no run has written it")
        raise InputError(
            f"The boilerplate {path} cannot be read: {reason}.",
            hint="give texts as a list, or --boilerplate FILE on the command line.",
        ) from error
    boilerplate = Boilerplate(table["hash"].to_numpy().astype(np.uint64), words, text)
    if boilerplate.digest != described.get("digest"):
        raise SignatureError(
            f"The boilerplate {path} is of {described.get('words')}-word shingles of "
            f"{described.get('text')}, or has changed; the method asks for {words} words of "
            f"{text}.",
            hint="give the texts again.",
        )
    return boilerplate


def checked(value: object, method: str) -> tuple[str, ...] | str:
    """Texts, the file in which a run stored its boilerplate, or "auto"."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple | list) and all(isinstance(text, str) for text in value):
        return tuple(value)
    raise SettingsError(
        f"{method}: boilerplate is {value!r}; expected texts.",
        hint="give a list of texts, or --boilerplate FILE on the command line.",
    )


@dataclass(frozen=True)
class BoilerplateNeed:
    """``source`` is the texts, or the file in which a run stored its boilerplate."""

    source: tuple[str, ...] | str
    words: int
    text: Text
    name: str = "boilerplate"
    columns: tuple[str, ...] = ()

    @property
    def file(self) -> str | None:
        return self.source if isinstance(self.source, str) else None

    def ready(self) -> Boilerplate:
        if isinstance(self.source, str):
            return self.load(Path(self.source))
        return boilerplate_of(self.source, self.words, self.text)

    def load(self, path: Path) -> Boilerplate:
        return load_boilerplate(path, self.words, self.text)

    def counter(self) -> NothingToCount:
        return NothingToCount(self)
