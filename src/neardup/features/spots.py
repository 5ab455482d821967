"""Spot signatures: a stop word and content words that follow it (Theobald et al. 2008).

An antecedent is a stop word at which spots begin. A spot consists of an antecedent and ``chain``
content words, each ``distance`` content words after the one before; antecedents and stop words are
skipped. If the text ends earlier, there is no spot. Navigation, headlines and lists have few stop
words and therefore few spots, so the comparison is based on running text.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.errors import SettingsError
from neardup.schema import Ragged
from neardup.text.stopwords import STOP_WORDS
from neardup.text.text_options import Text, language
from neardup.text.words import buffers, words

AUTO = "auto"
Antecedents = tuple[str, ...] | str


def checked_antecedents(value: object) -> Antecedents:
    """``value`` is "auto", names of languages separated by commas, or the words themselves."""
    if isinstance(value, str):
        names = [AUTO if name.strip() == AUTO else language(name) for name in value.split(",")]
        unknown = [name for name in names if name != AUTO and name not in STOP_WORDS]
        if not unknown:
            return ",".join(names)
        raise SettingsError(
            f"There is no list of antecedents for {unknown[0]!r}.",
            hint=f"the lists are {', '.join(sorted(STOP_WORDS))}; or give the words as a list.",
        )
    if isinstance(value, tuple | list | set | frozenset) and value:
        listed = sorted(value) if isinstance(value, set | frozenset) else value
        if all(isinstance(word, str) for word in listed):
            return tuple(listed)
    raise SettingsError(
        f"Antecedents are {value!r}; expected a language or words.",
        hint="for example antecedents='german' or antecedents=('the', 'is', 'a').",
    )


@lru_cache(maxsize=64)
def antecedent_words(antecedents: Antecedents, text: Text) -> frozenset[str]:
    """The antecedents, tokenized, normalised and stemmed like the texts."""
    if not isinstance(antecedents, str):
        listed = list(antecedents)
    else:
        names = STOP_WORDS if AUTO in antecedents.split(",") else antecedents.split(",")
        listed = [word for name in names for word in STOP_WORDS[name]]
    return frozenset(words(" ".join(listed), replace(text, stop_words=())))


@lru_cache(maxsize=64)
def antecedent_hashes(antecedents: Antecedents, text: Text) -> npt.NDArray[np.uint64]:
    return np.sort(_native.hash_words(*buffers(antecedent_words(antecedents, text))))


@lru_cache(maxsize=64)
def spot_text(antecedents: Antecedents, text: Text) -> Text:
    """The text options without those stop words that are antecedents: these must stay in the text
    to begin spots, and are skipped as content words anyway."""
    if not text.stop_words:
        return text
    listed = STOP_WORDS[text.stop_words] if isinstance(text.stop_words, str) else text.stop_words
    all_words = replace(text, stop_words=())
    unstemmed = replace(all_words, stem=None)
    begins = antecedent_words(antecedents, text)
    tokens = [word for entry in listed for word in words(entry, unstemmed)]
    skipped = tuple(word for word in tokens if not begins.intersection(words(word, all_words)))
    return replace(text, stop_words=skipped)


def spot_sets(
    hashes: Ragged, antecedents: npt.NDArray[np.uint64], distance: int, chain: int
) -> Ragged:
    """Multisets of spots as sets of 32-bit features: the n-th occurrence of a spot in a text is a
    feature of its own."""
    return Ragged(*_native.spot_sets(hashes.values, hashes.offsets, antecedents, distance, chain))


def spots(
    text: str,
    antecedents: Antecedents = AUTO,
    *,
    distance: int = 1,
    chain: int = 2,
    options: Text | None = None,
) -> list[str]:
    """The spots of a text in order, as ``antecedent:word:word``."""
    antecedents, options = checked_antecedents(antecedents), options or Text()
    begins = antecedent_words(antecedents, options)
    content: list[str] = []
    occurrences = []  # antecedents, each with the number of content words before it
    for word in words(text, spot_text(antecedents, options)):
        if word in begins:
            occurrences.append((word, len(content)))
        else:
            content.append(word)
    reach = distance * chain
    return [
        ":".join([word, *content[before + distance - 1 : before + reach : distance]])
        for word, before in occurrences
        if before + reach <= len(content)
    ]
