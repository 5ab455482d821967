"""The slow, obvious twin of native/text/matches: textbook tables, and every stretch tried."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

Block = tuple[int, int, int]  # place in a, place in b, words

WORTH = 4
LEAST_MOVED = 8


def longest_common(a: Sequence[object], b: Sequence[object]) -> int:
    """Length of the longest common subsequence, by the table."""
    row = [0] * (len(b) + 1)
    for x in a:
        before = row
        row = [0]
        for j, y in enumerate(b):
            row.append(before[j] + 1 if x == y else max(before[j + 1], row[-1]))
    return row[-1]


def without_chance(blocks: list[Block], words: tuple[int, int]) -> list[Block]:
    """Blocks in stretches that are worth at least four words; ``words``: of both texts."""
    least = 2 * min(max(min(words) // 8, 1), WORTH)
    at_ends = [_at_end(one, other, blocks, words) for one, other in pairwise(blocks)]
    gaps = [0, *(_cost(*pair, end) for pair, end in zip(pairwise(blocks), at_ends, strict=True))]
    return _dense(list(zip(blocks, gaps, strict=False)), least)


def _at_end(before: Block, after: Block, blocks: list[Block], words: tuple[int, int]) -> bool:
    begins = before is blocks[0] and before[:2] == (0, 0)
    return begins or (after[0] + after[2], after[1] + after[2]) == words


def _cost(before: Block, after: Block, at_end: bool) -> int:
    x, y = after[0] - before[0] - before[2], after[1] - before[1] - before[2]
    insertion = 0 in (x, y)
    return 2 * min(x, y) + min(abs(x - y), 1 if insertion and at_end else 3)


def _dense(run: list[tuple[Block, int]], least: int) -> list[Block]:
    """The best stretch of all, then what is left and right of it."""
    if not run:
        return []
    score, i, j = max(
        ((_score(run[i:j]), i, j) for i in range(len(run)) for j in range(i + 1, len(run) + 1)),
        key=lambda found: (found[0], found[1] - found[2]),
    )
    best = [block for block, _ in run[i:j]] if score >= least else []
    return [*_dense(run[:i], least), *best, *_dense(run[j:], least)]


def _score(run: list[tuple[Block, int]]) -> int:
    return sum(2 * block[2] for block, _ in run) - sum(gap for _, gap in run[1:])


def free_runs(size: int, taken: list[int]) -> list[range]:
    """What is left of 0 … size − 1, in runs."""
    edges = [-1, *sorted(taken), size]
    return [range(x + 1, y) for x, y in pairwise(edges) if y - x > 1]


def grams(words: Sequence[object], runs: list[range]) -> set[tuple[object, ...]]:
    starts = (at for run in runs for at in run[: max(len(run) - LEAST_MOVED + 1, 0)])
    return {tuple(words[at : at + LEAST_MOVED]) for at in starts}
