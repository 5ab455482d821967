"""Character q-grams and ``doc_q``, the measure on them (Montanari & Puglisi, DDD).

The normal form for q-grams has neither white space nor punctuation (category P); symbols and digits
stay. All overlapping runs of q characters of it are q-grams; nothing is padded. The paper keeps
upper and lower case apart; ``Text(case="keep")`` does, the default folds them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.errors import SettingsError
from neardup.schema import Ragged
from neardup.text.text_options import Text
from neardup.text.words import buffers

MOST_CHARACTERS = _native.MOST_SHINGLE_WORDS  # a q-gram is hashed as a shingle of characters


class QgramSets(NamedTuple):
    """``features`` are sorted sets of 32-bit hashes; ``characters`` counts the normal form."""

    features: Ragged
    characters: npt.NDArray[np.int64]


def qgram_sets(texts: Ragged, q: int, text: Text, least: int = 0, every: int = 1) -> QgramSets:
    """Texts of fewer than q, or than ``least``, characters have an empty set. One of ``every``
    features is taken, chosen by its value: the same ones of all texts."""
    values, ends, count = _native.qgram_sets(
        texts.values, texts.offsets, text.native(), q, least, every
    )
    return QgramSets(Ragged(values, ends), count)


def qgrams(text: str, q: int = 4, options: Text | None = None) -> list[str]:
    """All q-grams in the order of the text, repeats included."""
    form = qgram_form(text, options)
    return [form[i : i + q] for i in range(len(form) - q + 1)]


def qgram_form(text: str, options: Text | None = None) -> str:
    """The normal form for q-grams."""
    values, _ = buffers([text])
    return _native.qgram_form(values, (options or Text()).native()).decode()


def doc_q(a: str, b: str, q: int = 4, options: Text | None = None) -> float:
    """|A∩B| / max(|A|, |B|) of the distinct q-grams; 0 where one has none."""
    one, other = set(qgrams(a, q, options)), set(qgrams(b, q, options))
    return len(one & other) / max(len(one), len(other), 1)


def check_characters_only(text: Text, method: str) -> None:
    """Options that change words cannot be obeyed where there are none."""
    for name in ("stop_words", "stem"):
        if getattr(text, name):
            raise SettingsError(
                f"{method}: text.{name} is {getattr(text, name)!r}, but q-grams are of characters.",
                hint=f"leave text.{name} out, or take features that are made of words.",
            )
