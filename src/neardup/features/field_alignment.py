"""Which columns of unlike tables mean the same, by their values.

Raveena & Nandini print a fragment named ALIGN: group data items of the same concept if their
similarity is above T, then shift items by the mean similarity of groups. This is our reading of it:
an item is a column, its similarity to another is the cosine of the words of all their values, and a
group has at most one column of each table. Columns join from the greatest similarity on; then a
column moves to a group that it resembles more on average than its own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from neardup.text.words import words

Record = Mapping[str, Any]
Column = tuple[int, str]  # the number of its table, and its name


def align_fields(
    tables: Sequence[Sequence[Record]], threshold: float = 0.5
) -> list[dict[int, str]]:
    """Groups of columns, each as the name by the number of the table, in the order of the first
    table that has them. Columns without a partner are left out."""
    profiles = {
        (number, name): _profile(records, name)
        for number, records in enumerate(tables)
        for name in dict.fromkeys(name for record in records for name in record)
    }
    alike = {
        frozenset((one, other)): cosine(profiles[one], profiles[other])
        for one, other in combinations(profiles, 2)
        if one[0] != other[0]
    }
    groups = _shifted(_joined(list(profiles), alike, threshold), alike, threshold)
    return [dict(sorted(group)) for group in groups if len(group) > 1]


def cosine(a: Counter[str], b: Counter[str]) -> float:
    shared = sum(count * b[word] for word, count in a.items())
    sizes = math.prod(math.sqrt(sum(n * n for n in one.values())) for one in (a, b))
    return shared / sizes if sizes else 0.0


def _profile(records: Sequence[Record], name: str) -> Counter[str]:
    values = (record.get(name) for record in records)
    return Counter(word for value in values if value is not None for word in words(str(value)))


def _joined(
    columns: list[Column], alike: Mapping[frozenset[Column], float], threshold: float
) -> list[list[Column]]:
    group = {column: [column] for column in columns}
    for pair in sorted(alike, key=lambda pair: (-alike[pair], sorted(pair))):
        one, other = (group[column] for column in sorted(pair))
        tables = {number for number, _ in (*one, *other)}
        if one is not other and alike[pair] > threshold and len(tables) == len(one) + len(other):
            one += other
            group.update(dict.fromkeys(other, one))
    return list({id(one): one for one in group.values()}.values())


def _shifted(
    groups: list[list[Column]], alike: Mapping[frozenset[Column], float], threshold: float
) -> list[list[Column]]:
    """Each column once to the group of greatest mean similarity that has none of its table."""

    def mean(column: Column, group: list[Column]) -> float:
        others = [alike[frozenset((column, one))] for one in group if one != column]
        return sum(others) / len(others) if others else 0.0

    for own in list(groups):
        for column in list(own):
            free = [group for group in groups if column[0] not in {number for number, _ in group}]
            best = max(free, key=lambda group: mean(column, group), default=own)
            if mean(column, best) > max(mean(column, own), threshold):
                own.remove(column)
                best.append(column)
    return groups
