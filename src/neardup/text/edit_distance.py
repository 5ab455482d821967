"""Edit distance of two sequences, characters or words: the cheapest way from one to the other.

Deletions, insertions and substitutions each have a cost of their own. The distance is raw: a sum of
costs, 0 for equal sequences. RapidFuzz computes it, in O(m·n) at worst; ``steps`` are those of a
cheapest way where every edit costs 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from neardup.errors import SettingsError


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


def steps(a: Sequence[str], b: Sequence[str]) -> list[Step]:
    from rapidfuzz.distance import Levenshtein

    return [Step(one.tag, one.src_pos, one.dest_pos) for one in Levenshtein.editops(a, b)]
