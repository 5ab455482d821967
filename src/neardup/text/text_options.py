"""Text options, shared by every method: they define which words count as the same.

The defaults fold case, apply the compatibility normalisation NFKC, keep digits and accents, and
split words at punctuation. The options are part of every signature, so texts that were prepared
with different options are never compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.errors import MissingExtraError, SettingsError
from neardup.text.stopwords import LANGUAGE_CODES, STOP_WORDS

if TYPE_CHECKING:
    from neardup import _native

CHOICES = {
    "case": ("fold", "keep"),
    "digits": ("keep", "mask", "drop"),
    "punctuation": ("split", "remove"),
    "diacritics": ("keep", "strip"),
}


@dataclass(frozen=True)
class Text:
    """How a text becomes words.

    ``case``: "fold" ignores upper and lower case, "keep" distinguishes them.
    ``digits``: "keep"; "mask" writes every digit as 0, "drop" removes digits from words.
    ``punctuation``: "split" ends a word; "remove" joins what it separates (don't → dont).
    ``diacritics``: "keep"; "strip" removes accents from Latin, Greek and Cyrillic letters; in other
    scripts such marks are vowels and stay.
    ``stop_words``: the name or code of a language, or the words themselves.
    ``stem``: a Snowball language; needs the extra ``stem``.
    """

    case: str = "fold"
    digits: str = "keep"
    punctuation: str = "split"
    diacritics: str = "keep"
    stop_words: tuple[str, ...] | str = ()
    stem: str | None = None

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                hint = f"{name} is one of {', '.join(map(repr, choices))}."
                raise SettingsError(f"Text has no {name} {value!r}.", hint=hint)
        object.__setattr__(self, "stop_words", _stop_words(self.stop_words))
        if self.stem is not None:
            object.__setattr__(self, "stem", _stem(self.stem))

    def native(self) -> _native.TextOptions:
        """The options for the kernels; stop words and stems are passed as a word map."""
        from neardup import _native

        return _native.TextOptions(
            fold_case=self.case == "fold",
            digits=CHOICES["digits"].index(self.digits),
            punctuation=CHOICES["punctuation"].index(self.punctuation),
            strip_diacritics=self.diacritics == "strip",
        )


def _stop_words(value: object) -> tuple[str, ...] | str:
    if isinstance(value, str):
        name = language(value)
        if name in STOP_WORDS:
            return name
        raise SettingsError(
            f"There is no list of stop words for {value!r}.",
            hint=f"The lists are {', '.join(sorted(STOP_WORDS))}; or give the words as a tuple.",
        )
    if isinstance(value, tuple | list | set | frozenset) and all(isinstance(w, str) for w in value):
        return tuple(sorted(value) if isinstance(value, set | frozenset) else value)
    raise SettingsError(
        f"Stop words are a language or a tuple of words, not {value!r}.",
        hint="For example stop_words='english' or stop_words=('the', 'of').",
    )


def _stem(value: object) -> str:
    try:
        import Stemmer
    except ImportError:
        raise MissingExtraError(
            f"Stemming ({value!r}) needs PyStemmer, which is not installed.",
            hint="pip install 'neardup[stem]'",
        ) from None
    known = Stemmer.algorithms()
    name = language(value) if isinstance(value, str) else value
    if name not in known:
        raise SettingsError(
            f"There is no stemmer for {value!r}.", hint=f"Stemmers: {', '.join(sorted(known))}."
        )
    return str(name)


def language(name: str) -> str:
    """The language name in lower case: "de" and "German" become "german"."""
    lower = name.strip().lower()
    return LANGUAGE_CODES.get(lower, lower)
