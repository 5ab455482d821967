"""The slow, obvious twins of native/matching: dictionaries and double loops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

# A group: document → whether it looks with the key that the group shares.
Group = dict[int, bool]


def shared_groups(keys: Sequence[Sequence[int]], probes: Sequence[int]) -> dict[int, Group]:
    """By key, all groups of two or more of which one looks."""
    found: dict[int, Group] = defaultdict(dict)
    for document, own in enumerate(keys):
        for place, key in enumerate(own):
            looks = place < probes[document]
            found[key][document] = found[key].get(document, False) or looks
    return {key: group for key, group in found.items() if len(group) > 1 and any(group.values())}


def group_pairs(groups: Sequence[Group]) -> set[tuple[int, int]]:
    pairs = set()
    for group in groups:
        for a, b in combinations(sorted(group), 2):
            if group[a] or group[b]:
                pairs.add((a, b))
    return pairs


def leaders(
    digests: Sequence[object], rank: Sequence[int], within: Sequence[object] | None = None
) -> list[int]:
    first: dict[object, int] = {}
    named = [(digest, within[i] if within else 0) for i, digest in enumerate(digests)]
    for document in sorted(range(len(rank)), key=lambda d: rank[d]):
        first.setdefault(named[document], document)
    return [first[name] for name in named]


def groups_between(groups: Sequence[Sequence[int]], first: int, last: int) -> list[list[int]]:
    """The groups in which a place from ``first`` to ``last`` meets one before it, up to there."""
    cut = [[place for place in group if place < last] for group in groups]
    return [group for group in cut if len(group) > 1 and group[-1] >= first]
