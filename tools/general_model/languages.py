"""In which language a text is: by its script, else by the stop words it has most of.

Handbooks leave passages untranslated, and descriptions of packages do not say what they are
written in. What is told here need not be certain; a text that is told to be English where its
package says otherwise is left out.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from itertools import islice

from neardup.text.text_options import LANGUAGE_CODES, STOP_WORDS
from neardup.text.words import words

_SCRIPTS = {
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "HANGUL": "ko",
    "CJK": "zh",
    "THAI": "th",
    "HEBREW": "he",
    "GREEK": "el",
    "DEVANAGARI": "hi",
}
_LOOKED_AT = 20_000
OWN_SCRIPT = 0.2  # of the letters: such texts are full of names in Latin letters
_LISTED = {
    code: frozenset(STOP_WORDS[name])
    for code, name in LANGUAGE_CODES.items()
    if name in STOP_WORDS and code != "no"
}
LEAST = 0.08  # of the words; lists and tables have fewer stop words


def untranslated(text: str, lang: str) -> bool:
    return lang != "en" and language(text) == "en"


def language(text: str) -> str | None:
    letters = [c for c in text[:_LOOKED_AT] if c.isalpha()]
    scripts = Counter(unicodedata.name(c, "?").split()[0].split("-")[0] for c in letters)
    own = Counter({_SCRIPTS[s]: n for s, n in scripts.items() if s in _SCRIPTS})
    if own.total() > OWN_SCRIPT * len(letters):
        if own["ja"] > 0.1 * own.total():
            return "ja"
        return own.most_common(1)[0][0]
    return _by_stop_words(text)


def _by_stop_words(text: str) -> str | None:
    there = list(islice(words(text[:_LOOKED_AT]), 3_000))
    share = {
        code: sum(word in listed for word in there) / max(len(there), 1)
        for code, listed in _LISTED.items()
    }
    best = max(share, key=lambda code: share[code])
    return best if share[best] >= LEAST else None
