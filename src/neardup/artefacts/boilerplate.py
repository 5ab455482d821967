"""Shingles that do not count: those of given texts, such as a notice that all documents carry.

Frozen as the 64-bit hashes of the shingles, sorted, so that a run stores what it ignored and every
engine ignores the same, whatever became of the texts.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import NothingToCount, why_unreadable
from neardup.errors import InputError, SettingsError, SignatureError
from neardup.schema import Ragged
from neardup.text.text_options import Text
from neardup.text.words import word_map

FORMAT = 1
_DESCRIPTION = b"neardup boilerplate"


@dataclass(frozen=True, eq=False)
class Boilerplate:
    hashes: npt.NDArray[np.uint64]
    words: int
    text: Text

    kind: ClassVar[str] = "boilerplate"

    @functools.cached_property
    def digest(self) -> str:
        digest = hashlib.sha256(json.dumps(self._options(), sort_keys=True).encode())
        digest.update(self.hashes.data)
        return digest.hexdigest()[:32]

    def _options(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "words": self.words,
            "shingles": len(self.hashes),
            "text": asdict(self.text),
        }

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, **self._options(), "digest": self.digest}

    def save(self, path: Path) -> None:
        described = json.dumps({**self._options(), "digest": self.digest}).encode()
        schema = pa.schema([("hash", pa.uint64())], metadata={_DESCRIPTION: described})
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            writer.write_table(pa.table([pa.array(self.hashes)], schema=schema))


def boilerplate_of(texts: Sequence[str], words: int, text: Text) -> Boilerplate:
    given = Ragged.of_texts(list(texts))
    known = word_map(given.values, given.offsets, text)
    read = Ragged(*_native.word_hashes(given.values, given.offsets, text.native(), known))
    shingles = [_native.shingle_hashes(read[i], words) for i in range(len(read))]
    hashes = np.unique(np.concatenate([np.empty(0, np.uint64), *shingles]))
    return Boilerplate(hashes, words, text)


def load_boilerplate(path: Path, words: int, text: Text) -> Boilerplate:
    try:
        with pa.OSFile(str(path), "rb") as source:
            table = pa.ipc.open_file(source).read_all()
        said = json.loads((table.schema.metadata or {})[_DESCRIPTION])
    except (OSError, pa.ArrowException, KeyError, ValueError) as error:
        reason = why_unreadable(error, "it is none that a run has stored")
        raise InputError(
            f"The boilerplate {path} cannot be read: {reason}.",
            hint="give texts as a list, or --boilerplate FILE on the command line.",
        ) from error
    made = Boilerplate(table["hash"].to_numpy(), words, text)
    if made.digest != said.get("digest"):
        raise SignatureError(
            f"The boilerplate {path} is of {said.get('words')}-word shingles of "
            f"{said.get('text')}, or has changed; the method asks for {words} words of {text}.",
            hint="give the texts again.",
        )
    return made


def checked(given: object, method: str) -> tuple[str, ...] | str:
    """Texts, or the file of a run's boilerplate."""
    if isinstance(given, str):
        return given
    if isinstance(given, tuple | list) and all(isinstance(text, str) for text in given):
        return tuple(given)
    raise SettingsError(
        f"{method}: boilerplate is {given!r}; expected texts.",
        hint="give a list of texts, or --boilerplate FILE on the command line.",
    )


@dataclass(frozen=True)
class BoilerplateNeed:
    """Known from the parameters alone: nothing is counted."""

    given: tuple[str, ...] | str
    words: int
    text: Text
    name: str = "boilerplate"
    columns: tuple[str, ...] = ()

    @property
    def file(self) -> str | None:
        return self.given if isinstance(self.given, str) else None

    def ready(self) -> Boilerplate:
        if isinstance(self.given, str):
            return self.load(Path(self.given))
        return boilerplate_of(self.given, self.words, self.text)

    def load(self, path: Path) -> Boilerplate:
        return load_boilerplate(path, self.words, self.text)

    def counter(self) -> NothingToCount:
        return NothingToCount(self)
