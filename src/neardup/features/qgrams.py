"""Character q-grams and the measure ``doc_q`` on them (Montanari & Puglisi 2012).

The normal form for q-grams has no white space and no punctuation (category P); symbols and digits
stay. Its q-grams are all overlapping runs of q characters, without padding. The paper distinguishes
upper and lower case, as ``Text(case="keep")`` does; the default folds case.
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
    """``features`` are sorted sets of 32-bit hashes; ``characters`` are lengths of normal forms."""

    features: Ragged
    characters: npt.NDArray[np.int64]


def qgram_sets(texts: Ragged, q: int, text: Text, least: int = 0, every: int = 1) -> QgramSets:
    """The q-grams of each text; a text of fewer than q or ``least`` characters has an empty set.

    Only one of ``every`` q-grams is kept. It is chosen by its hash, so texts that share a q-gram
    either all keep it or all drop it."""
    values, ends, characters = _native.qgram_sets(
        texts.values, texts.offsets, text.native(), q, least, every
    )
    return QgramSets(Ragged(values, ends), characters)


def sampled_grams(texts: Ragged, q: int, text: Text, most: int) -> Ragged:
    """Samples of about ``most`` q-grams of each text, of long texts with their levels
    (``native/features/gram_samples.hpp``). Each row begins with the level of the sample."""
    return Ragged(*_native.sample_grams(texts.values, texts.offsets, text.native(), q, most))


def features_of_samples(samples: Ragged) -> npt.NDArray[np.uint32]:
    """The features of all samples in their order, without the levels."""
    return _native.gram_features(samples.values)


def qgrams(text: str, q: int = 4, options: Text | None = None) -> list[str]:
    """All q-grams in the order of the text, repeats included."""
    form = qgram_form(text, options)
    return [form[i : i + q] for i in range(len(form) - q + 1)]


def qgram_form(text: str, options: Text | None = None) -> str:
    """The normal form for q-grams."""
    values, _ = buffers([text])
    return _native.qgram_form(values, (options or Text()).native()).decode()


def doc_q(a: str, b: str, q: int = 4, options: Text | None = None) -> float:
    """|A∩B| / max(|A|, |B|) of the distinct q-grams; 0 if a text has none."""
    grams_a, grams_b = set(qgrams(a, q, options)), set(qgrams(b, q, options))
    return len(grams_a & grams_b) / max(len(grams_a), len(grams_b), 1)


def check_characters_only(text: Text, method: str) -> None:
    """Raises an error for text options that change words, because q-grams have none."""
    for name in ("stop_words", "stem"):
        if getattr(text, name):
            raise SettingsError(
                f"{method}: text.{name} is {getattr(text, name)!r}, but q-grams are of characters.",
                hint=f"leave text.{name} out, or take features that are made of words.",
            )


def positional_qgrams(string: str, q: int = 2) -> list[tuple[int, str]]:
    """All q-grams of a string as it is, with their places from 1 on (Gravano et al. 2001)."""
    return [(i + 1, string[i : i + q]) for i in range(len(string) - q + 1)]
