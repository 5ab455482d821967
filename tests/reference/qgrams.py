"""The slow, obvious twin of native/features/qgrams: Python's own Unicode tables and sets.

For characters that Python and the committed tables know alike: tests draw from those.
"""

from __future__ import annotations

import unicodedata
from fractions import Fraction

from reference.shingles import MASK, cyclic, scramble

SECRET = 0x9E3779B97F4A7C15


def normal_form(text: str, *, fold: bool = True) -> str:
    composed = unicodedata.normalize("NFKC", text)
    if fold:
        composed = unicodedata.normalize("NFKC", composed.casefold())
    return "".join(c for c in composed if not c.isspace() and unicodedata.category(c)[0] != "P")


def qgrams(text: str, q: int, *, fold: bool = True) -> list[str]:
    form = normal_form(text, fold=fold)
    return [form[i : i + q] for i in range(len(form) - q + 1)]


def feature(gram: str) -> int:
    """A shingle of characters: 32 bits."""
    return scramble(cyclic([scramble(ord(c) + SECRET & MASK) for c in gram])) >> 32


def doc_q(a: str, b: str, q: int, *, fold: bool = True) -> Fraction:
    one, other = ({*qgrams(text, q, fold=fold)} for text in (a, b))
    return Fraction(len(one & other), max(len(one), len(other), 1))
