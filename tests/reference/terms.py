"""Terms, document frequencies and their order, the slow and obvious way."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from neardup.text.text_options import Text
from neardup.text.words import words
from reference.text import kind_of


def tokens(text: str, filter_: str) -> list[str]:
    found = words(text, Text())
    if filter_ != "alnum+":
        return found
    return re.findall(r"[0-9a-z]+(?:[.'\-&+/][0-9a-z]+)*", text.lower())  # ASCII texts only


def is_term(word: str, filter_: str) -> bool:
    if filter_ != "alpha":
        return True
    if any(unicodedata.category(c) == "Nd" for c in word):
        return False
    if any(kind_of(c) == "spaceless" for c in word):
        return True
    return sum(not unicodedata.category(c).startswith("M") for c in word) >= 3


def table(texts: list[str], filter_: str) -> list[tuple[str, int]]:
    """(term, number of documents), rarest first, then by code point."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({word for word in tokens(text, filter_) if is_term(word, filter_)})
    return sorted(counts.items(), key=lambda item: (item[1], item[0]))


def document_terms(text: str, filter_: str, ranks: dict[str, int]) -> list[tuple[int, int, int]]:
    """(rank, how often, first position), by rank."""
    found: dict[int, list[int]] = {}
    for position, word in enumerate(tokens(text, filter_)):
        if is_term(word, filter_) and word in ranks:
            found.setdefault(ranks[word], []).append(position)
    return [(rank, len(at), at[0]) for rank, at in sorted(found.items())]
