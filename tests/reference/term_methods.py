"""Twins of the methods on idf terms: sets of words, hashlib, all pairs. ASCII texts only."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Callable, Sequence
from datetime import date
from fractions import Fraction
from itertools import combinations
from typing import Any

from reference import terms as twin

MASK = 2**64 - 1


def scramble(x: int) -> int:
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & MASK
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def sha1_numbers(numbers: Sequence[int]) -> tuple[int, int]:
    """The first 128 bits of SHA-1 of 32-bit numbers, as two of 64 bits."""
    digest = hashlib.sha1(struct.pack(f"<{len(numbers)}I", *numbers)).digest()
    return struct.unpack("<QQ", digest[:16])


def imatch_signatures(
    ranks: Sequence[int],
    hashes: Sequence[int],
    lexicons: int,
    dropped: int,
    seed: int,
    min_terms: int,
) -> list[tuple[int, int]]:
    signed = [sha1_numbers([0, *ranks])]
    for lexicon in range(1, lexicons + 1):
        salt = scramble((seed * 0x9E3779B97F4A7C15 + lexicon) & MASK)
        left = [rank for rank in ranks if scramble(hashes[rank] ^ salt) >= dropped]
        if len(left) < min_terms:
            signed.append(sha1_numbers([lexicon | 1 << 31, *ranks]))
        else:
            signed.append(sha1_numbers([lexicon, *left]))
    return signed


def binned(offset: int, bin_: int | None) -> int:
    return offset if bin_ is None else math.ceil(Fraction(offset, bin_)) * bin_


class Collection:
    """Terms by rank, as a collection counts them."""

    def __init__(self, texts: Sequence[str], filter_: str) -> None:
        self.filter = filter_
        self.table = twin.table(list(texts), filter_)
        self.documents = len(texts)
        self.rank = {term: i for i, (term, _) in enumerate(self.table)}

    def idf(self, rank: int) -> float:
        n, count = self.table[rank][1], self.documents
        return min(max(math.log((count + 0.5) / n) / math.log(count + 1), 0.0), 1.0)

    def terms(self, text: str, wanted: Callable[[int], bool]) -> list[tuple[int, int]]:
        """(rank, first position), by rank."""
        found = twin.document_terms(text, self.filter, self.rank)
        return [(rank, first) for rank, _, first in found if wanted(rank)]


def fingerprint(
    terms: Sequence[tuple[int, int]], size: int, bin_: int | None
) -> tuple[tuple[int, int], ...] | None:
    head = terms[:size]
    if len(head) < size:
        return None
    base = min(first for _, first in head)
    return tuple((rank, binned(first - base, bin_)) for rank, first in head)


def vector_score(
    one: dict[str, Any],
    other: dict[str, Any],
    size: int,
    threshold: Fraction,
    length_ratio: Fraction,
    max_days: int,
) -> Fraction | None:
    """None where they are no duplicates. Documents have terms (a set), tokens and day."""
    if one["day"] and other["day"] and abs((one["day"] - other["day"]).days) > max_days:
        return None
    shorter, longer = sorted((one["tokens"], other["tokens"]))
    if Fraction(shorter, longer) < length_ratio:
        return None
    common, larger = _common(one, other)
    score = whole_vector_score(one, other, size)
    return score if common >= threshold * larger and score >= threshold else None


def whole_vector_score(one: dict[str, Any], other: dict[str, Any], size: int) -> Fraction:
    """Whatever dates, lengths and thresholds say."""
    common, larger = _common(one, other)
    return Fraction(common + size - larger, size)


def _common(one: dict[str, Any], other: dict[str, Any]) -> tuple[int, int]:
    sizes = len(one["terms"]), len(other["terms"])
    return len(one["terms"] & other["terms"]), max(sizes)


def all_pairs(count: int, score: Callable[[int, int], Any]) -> dict[tuple[int, int], Any]:
    found = {(i, j): score(i, j) for i, j in combinations(range(count), 2)}
    return {pair: value for pair, value in found.items() if value is not None}


def days_since_1980(day: date) -> int:
    return (day - date(1980, 1, 1)).days
