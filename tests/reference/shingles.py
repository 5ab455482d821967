"""The slow, obvious twin of native/features/shingles and overlap: lists, sets and big integers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

MASK = (1 << 64) - 1


def rotate(x: int, by: int) -> int:
    return (x << by | x >> (64 - by)) & MASK


def scramble(x: int) -> int:
    """Stafford's variant 13 of the MurmurHash3 finaliser."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def cyclic(words: Sequence[int]) -> int:
    """Each step turns what is there by one bit and adds the next word."""
    total = 0
    for word in words:
        total = rotate(total, 1) ^ word
    return total


def windows(words: Sequence[int], width: int) -> list[Sequence[int]]:
    """A text of fewer words than the width is one shingle."""
    if len(words) <= width:
        return [words] if words else []
    return [words[i : i + width] for i in range(len(words) - width + 1)]


def shingle_hashes(words: Sequence[int], width: int) -> list[int]:
    """64 bits a shingle, in text order, repeats included."""
    return [scramble(cyclic(window)) for window in windows(words, width)]


def shingle_set(words: Sequence[int], width: int) -> list[int]:
    """The evidence: upper halves of the hashes."""
    return sorted({hash_ >> 32 for hash_ in shingle_hashes(words, width)})


def resemblance(a: set[object], b: set[object]) -> Fraction:
    return Fraction(len(a & b), len(a | b) or 1)


def containment(a: set[object], b: set[object]) -> Fraction:
    return Fraction(len(a & b), min(len(a), len(b)) or 1)


MEASURES = {"resemblance": resemblance, "containment": containment}
