"""Words in the same order, the slow and obvious way: chains by a table of all lengths."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple


class Aligned(NamedTuple):
    words: int
    run: int


def aligned(a: Sequence[int], b: Sequence[int]) -> Aligned:
    """The shorter text first; of texts of one length the one whose words, sorted with their places,
    come first."""
    p, q = sorted((list(a), list(b)), key=lambda text: (len(text), stored(text)))
    matched = extended(p, q, chain(anchors(p, q)))
    return Aligned(len(matched), longest_run(matched))


def stored(text: Sequence[int]) -> list[int]:
    """As a profile holds them."""
    return sorted(word << 32 | place for place, word in enumerate(text))


def anchors(p: list[int], q: list[int]) -> list[tuple[int, int]]:
    once = {word for word in p if p.count(word) == q.count(word) == 1}
    return [(p.index(word), q.index(word)) for word in p if word in once]


def chain(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest one that rises in both; of several the one whose last link comes latest, then the
    one before it, and so on."""
    length: list[int] = []
    for i, (_, y) in enumerate(places):
        length.append(1 + max((length[j] for j in range(i) if places[j][1] < y), default=0))
    found: list[tuple[int, int]] = []
    end = len(places)
    for wanted in range(max(length, default=0), 0, -1):
        end = max(i for i in range(end) if length[i] == wanted)
        found.insert(0, places[end])
    return found


def extended(p: list[int], q: list[int], links: list[tuple[int, int]]) -> list[tuple[int, int]]:
    ends = [(-1, -1), *links, (len(p), len(q))]
    matched = set(links)
    for (a, b), (c, d) in pairwise(ends):
        x, y = a + 1, b + 1
        while x < c and y < d and p[x] == q[y]:
            matched.add((x, y))
            x, y = x + 1, y + 1
        u, v = c - 1, d - 1
        while u >= x and v >= y and p[u] == q[v]:
            matched.add((u, v))
            u, v = u - 1, v - 1
    return sorted(matched)


def longest_run(matched: list[tuple[int, int]]) -> int:
    longest = now = 0
    last = (-2, -2)
    for place in matched:
        now = now + 1 if place == (last[0] + 1, last[1] + 1) else 1
        longest, last = max(longest, now), place
    return longest
