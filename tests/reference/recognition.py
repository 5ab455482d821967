"""The slow, obvious twin of ``text/recognition.py``: every piece beside every stretch."""

from __future__ import annotations

from fractions import Fraction

from neardup.text.words import normal_form


def in_order(a: str, b: str) -> int:
    """The length of the longest common subsequence, by the definition."""
    row = [0] * (len(b) + 1)
    for x in a:
        before = row
        row = [0]
        for j, y in enumerate(b):
            row.append(before[j] + 1 if x == y else max(before[j + 1], row[j]))
    return row[-1]


def in_order_by_bits(a: str, b: str) -> int:
    """The same for real texts: a row is one number, a bit where the length grows (Hyyrö 2004)."""
    at: dict[str, int] = {}
    for i, x in enumerate(a):
        at[x] = at.get(x, 0) | 1 << i
    everything = (1 << len(a)) - 1
    row = everything
    for y in b:
        both = row & at.get(y, 0)
        row = (row + both | row - both) & everything
    return len(a) - row.bit_count()


def pieces(text: str) -> list[str]:
    every = [text[i : i + 60] for i in range(0, len(text) - 59, 60)] or [text]
    most = min(len(every), 40)
    return [every[i * len(every) // most] for i in range(most)]


def is_in(piece: str, text: str) -> bool:
    """Whether some stretch, as long as the piece, has seven in ten of its characters in order."""
    stretches = (text[max(i, 0) : i + len(piece)] for i in range(1 - len(piece), len(text)))
    return not piece or any(
        10 * in_order_by_bits(piece, one) >= 7 * len(piece) for one in stretches
    )


def share(a: str, b: str) -> Fraction:
    """Of the pieces of the smaller text those that are in the other."""
    smaller, larger = sorted((normal_form(a), normal_form(b)), key=lambda one: (len(one), one))
    asked = pieces(smaller)
    return Fraction(sum(is_in(piece, larger) for piece in asked), len(asked))


def shingles(text: str) -> set[tuple[str, ...]]:
    words = normal_form(text).split()
    return {tuple(words[i : i + 3]) for i in range(len(words) - 2)}


def shingle_share(a: str, b: str) -> Fraction:
    """Of the word 3-shingles of the text that has fewer those that both have."""
    one, other = shingles(a), shingles(b)
    return Fraction(len(one & other), max(min(len(one), len(other)), 1))
