"""Weighted keywords the slow and obvious way: counters, sorted lists, whole numbers of any size."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from neardup import _native
from neardup.text.words import buffers
from reference import terms
from reference.sentences import sentences

Vector = dict[object, int]


@dataclass(frozen=True)
class Settings:
    k: int
    per: str = "document"
    unit: str = "word"
    tf: str = "log"
    terms: str = "words"
    min_documents: int = 0


def hash_of(word: str) -> int:
    return int(_native.hash_words(*buffers([word]))[0])


def tf(count: int, kind: str) -> int:
    if kind == "count":
        return min(count, 1023) * 1024
    return round((1 + math.log(min(count, 65535))) * 65536)


def vector(text: str, collection: list[str], settings: Settings) -> Vector:
    """Term, or tuple of terms, → weight."""
    table = terms.table(collection, settings.terms)
    ranks = {term: rank for rank, (term, _) in enumerate(table)}
    counts = dict(table)

    def weight(term: str, count: int) -> int:
        n, documents = counts.get(term, 1), len(collection)
        idf = math.log((documents + 0.5) / n) / math.log(documents + 1)
        fixed = max(round(min(max(idf, 0), 1) * 2**20), 1)
        return min(max(tf(count, settings.tf) * fixed // 2**20, 1), 2**20 - 1)

    def keywords(piece: str) -> list[tuple[str, int]]:
        found = Counter(
            word
            for word in terms.tokens(piece, settings.terms)
            if terms.is_term(word, settings.terms) and counts.get(word, 0) >= settings.min_documents
        )

        def place(item: tuple[str, int]) -> tuple[int, int, int]:
            return -weight(*item), ranks.get(item[0], 2**32 - 1), hash_of(item[0])

        return sorted(found.items(), key=place)[: settings.k]

    pieces = [text] if settings.per == "document" else sentences(text)
    chosen = [some for piece in pieces if (some := keywords(piece))]
    if settings.unit == "tuple":
        return {tuple(term for term, _ in some): 1 for some in chosen}
    total: Counter[str] = Counter()
    for some in chosen:
        total.update(dict(some))
    return {term: weight(term, count) for term, count in total.items()}


def passes(measure: str, t: Fraction, x: Vector, y: Vector) -> bool:
    """Without any root: both sides of an inequality squared where there is one."""
    if measure == "jaccard":
        return len(x.keys() & y.keys()) >= t * len(x.keys() | y.keys())
    xy = sum(x[feature] * y[feature] for feature in x.keys() & y.keys())
    xx, yy = (sum(weight**2 for weight in v.values()) for v in (x, y))
    if measure == "dice":
        return 2 * xy >= t * (xx + yy)
    if measure == "extended_jaccard":
        return xy >= t * (xx + yy - xy)
    if measure == "euclidean":  # d² = 2 − 2 cos, and d ≤ (1 − t)√2
        t = 1 - (1 - t) ** 2
    return xy**2 >= t**2 * xx * yy
