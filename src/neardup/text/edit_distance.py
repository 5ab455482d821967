"""Edit distance of two sequences, characters or words: the cheapest way from one to the other.

Deletions, insertions and substitutions each have a cost of their own. The distance is raw: a sum of
costs, 0 for equal sequences. RapidFuzz computes it, in O(m·n) at worst. ``steps`` is a cheapest way
under these costs (Wagner & Fischer 1974), for sequences of which the parts that differ have at most
``MOST_CELLS`` pairs of places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from neardup.errors import SettingsError
from neardup.schema import Array

MOST_CELLS = 25_000_000  # a byte each
_INSERT, _DELETE, _DIAGONAL = 0, 1, 2


class Costs(NamedTuple):
    insertion: int = 1
    deletion: int = 1
    substitution: int = 1

    @classmethod
    def parse(cls, written: str) -> Costs:
        """Costs as "1,1,2"."""
        parts = written.split(",")
        if len(parts) != len(cls._fields) or not all(part.strip().isdigit() for part in parts):
            raise SettingsError(
                f"The costs of edits are {written!r}; expected three whole numbers.",
                hint="insertion, deletion and substitution, such as 1,1,2.",
            )
        return cls(*map(int, parts))


class Step(NamedTuple):
    """``how`` is insert, delete or replace; positions are those in the first and the second."""

    how: str
    first: int
    second: int


def edit_distance(a: Sequence[str], b: Sequence[str], costs: Costs = Costs()) -> int:  # noqa: B008
    from rapidfuzz.distance import Levenshtein

    return int(
        Levenshtein.distance(a, b, weights=(costs.insertion, costs.deletion, costs.substitution))
    )


def steps(a: Sequence[str], b: Sequence[str], costs: Costs = Costs()) -> list[Step] | None:  # noqa: B008
    """The edits of a cheapest way from ``a`` to ``b``; None if the sequences are too long."""
    head, tail = _equal_ends(a, b)
    x, y = _numbered(a[head : len(a) - tail], b[head : len(b) - tail])
    if len(x) * len(y) > MOST_CELLS:
        return None
    return _walked(_moves(x, y, costs), x, y, head)


def _equal_ends(a: Sequence[str], b: Sequence[str]) -> tuple[int, int]:
    """How many elements both begin with, and how many of the others they end with: a cheapest way
    leaves these as they are."""
    least = min(len(a), len(b))
    head = next((i for i in range(least) if a[i] != b[i]), least)
    rest = least - head
    return head, next((i for i in range(rest) if a[-1 - i] != b[-1 - i]), rest)


def _numbered(a: Sequence[str], b: Sequence[str]) -> tuple[Array, Array]:
    numbers: dict[str, int] = {}
    x, y = ([numbers.setdefault(one, len(numbers)) for one in each] for each in (a, b))
    return np.array(x, np.int64), np.array(y, np.int64)


def _moves(x: Array, y: Array, costs: Costs) -> Array:
    """The last move of a cheapest way to every pair of places, row by row. Insertions depend on the
    place before them in the row: ``c[j] = min(d[k] + (j − k)·insertion)`` is a running minimum."""
    ahead = np.arange(len(y) + 1) * costs.insertion
    row = ahead.copy()
    moves = np.zeros((len(x) + 1, len(y) + 1), np.uint8)
    for i, one in enumerate(x, 1):
        diagonal = np.append(i * costs.deletion, row[:-1] + (y != one) * costs.substitution)
        deleted = row + costs.deletion
        direct = np.minimum(diagonal, deleted)
        row = np.minimum.accumulate(direct - ahead) + ahead
        moves[i] = np.where(row < direct, _INSERT, np.where(deleted < diagonal, _DELETE, _DIAGONAL))
        moves[i, 0] = _DELETE
    return moves


def _walked(moves: Array, x: Array, y: Array, start: int) -> list[Step]:
    i, j = len(x), len(y)
    walked = []
    while i or j:
        move = moves[i, j]
        if move == _DIAGONAL:
            i, j = i - 1, j - 1
            if x[i] != y[j]:
                walked.append(Step("replace", start + i, start + j))
        elif move == _DELETE:
            i -= 1
            walked.append(Step("delete", start + i, start + j))
        else:
            j -= 1
            walked.append(Step("insert", start + i, start + j))
    return walked[::-1]
