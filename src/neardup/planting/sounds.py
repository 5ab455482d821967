"""How a word sounds, roughly: its consonants by where they are spoken, after Soundex (Russell
1918), for Latin and Cyrillic letters. Other letters stand for themselves."""

from __future__ import annotations

import unicodedata
from itertools import groupby

_SILENT = "aeiouyhаеёиоуыэюяьъйі"
_PLACES = ("bpfvwбпвф", "cgjkqsxzßгкхжшщчцзс", "dtдт", "lлł", "mnмн", "rр")
_CODES = {letter: str(number) for number, row in enumerate(_PLACES, 1) for letter in row}


def sound(word: str) -> str:
    """Words with the same one are confused by ear. Without a consonant, the word itself."""
    plain = [c for c in unicodedata.normalize("NFKD", word.casefold()) if not _mark(c)]
    codes = [_CODES.get(c, c) for c in plain if c not in _SILENT]
    return "".join(code for code, _ in groupby(codes)) or "".join(plain)


def _mark(letter: str) -> bool:
    return unicodedata.category(letter) == "Mn"
