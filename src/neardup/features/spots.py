"""Spot signatures: a stop word and the content words after it (Theobald et al. 2008).

An antecedent is a stop word that begins spots. From each of its occurrences one goes ``distance``
words on, antecedents and stop words not counted, and takes the word; ``chain`` times. Where the
text ends before, there is no spot. Navigation, headlines and lists have few stop words and so few
spots: what is compared is running text.
"""

from __future__ import annotations

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


def checked_antecedents(given: object) -> Antecedents:
    """ "auto", the name of a language (or several, with commas), or the words themselves."""
    if isinstance(given, str):
        names = [AUTO if name.strip() == AUTO else language(name) for name in given.split(",")]
        unknown = [name for name in names if name != AUTO and name not in STOP_WORDS]
        if not unknown:
            return ",".join(names)
        raise SettingsError(
            f"There is no list of antecedents for {unknown[0]!r}.",
            hint=f"the lists are {', '.join(sorted(STOP_WORDS))}; or give the words as a list.",
        )
    if isinstance(given, tuple | list | set | frozenset) and given:
        chosen = sorted(given) if isinstance(given, set | frozenset) else given
        if all(isinstance(word, str) for word in chosen):
            return tuple(chosen)
    raise SettingsError(
        f"Antecedents are {given!r}; expected a language or words.",
        hint="for example antecedents='german' or antecedents=('the', 'is', 'a').",
    )


@lru_cache(maxsize=64)
def antecedent_words(antecedents: Antecedents, text: Text) -> frozenset[str]:
    """Cut, normalised and stemmed as the texts are."""
    if not isinstance(antecedents, str):
        chosen = list(antecedents)
    else:
        names = STOP_WORDS if AUTO in antecedents.split(",") else antecedents.split(",")
        chosen = [word for name in names for word in STOP_WORDS[name]]
    return frozenset(words(" ".join(chosen), _plain(text, ())))


@lru_cache(maxsize=64)
def antecedent_hashes(antecedents: Antecedents, text: Text) -> npt.NDArray[np.uint64]:
    found = sorted(antecedent_words(antecedents, text))
    return np.sort(_native.hash_words(*buffers(found)))


@lru_cache(maxsize=64)
def spot_text(antecedents: Antecedents, text: Text) -> Text:
    """The options with stop words that are antecedents left in: they are skipped all the same."""
    if not text.stop_words:
        return text
    chosen = text.stop_words
    listed = STOP_WORDS[chosen] if isinstance(chosen, str) else chosen
    begins = antecedent_words(antecedents, text)
    cut = [word for entry in listed for word in words(entry, _plain(text, (), stem=False))]
    return _plain(text, tuple(w for w in cut if not {*words(w, _plain(text, ()))} & begins))


def _plain(text: Text, stop_words: tuple[str, ...], *, stem: bool = True) -> Text:
    return Text(
        case=text.case,
        digits=text.digits,
        punctuation=text.punctuation,
        diacritics=text.diacritics,
        stop_words=stop_words,
        stem=text.stem if stem else None,
    )


def spot_sets(
    hashes: Ragged, antecedents: npt.NDArray[np.uint64], distance: int, chain: int
) -> Ragged:
    """Multisets as sets of 32-bit features: the n-th occurrence of a spot is its own feature."""
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
    given, options = checked_antecedents(antecedents), options or Text()
    begins = antecedent_words(given, options)
    content: list[str] = []
    found = []
    for word in words(text, spot_text(given, options)):
        if word in begins:
            found.append((word, len(content)))
        else:
            content.append(word)
    reach = distance * chain
    return [
        ":".join([word, *content[before + distance - 1 : before + reach : distance]])
        for word, before in found
        if before + reach <= len(content)
    ]
