"""Keys → groups of documents that share a key → candidate pairs.

Groups are cheap while they are small. ``pairs_within`` makes the pairs of the small ones within a
budget and leaves the rest as hot groups, which the rule then walks document by kept document
(``decisions/rule.py``), so that no group costs its square.

Documents with equal evidence are one document to every method: the first stands for all.

This is what makes a million copies of one text linear.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.schema import Array, Ragged, offsets_of


@dataclass(frozen=True)
class Groups:
    """``members`` of group g share a key; at least two, at least one of which looks."""

    members: Ragged
    probes: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.members)

    def where(self, mask: Array) -> Groups:
        inside = np.repeat(mask, self.members.lengths)
        values = self.members.values[inside]
        return Groups(Ragged(values, offsets_of(self.members.lengths[mask])), self.probes[inside])

    @classmethod
    def concat(cls, parts: list[Groups]) -> Groups:
        members = Ragged.concat([part.members for part in parts], np.int64)
        probes = [part.probes for part in parts]
        return cls(members, np.concatenate([np.empty(0, np.uint8), *probes]))


def share_keys(keys: Ragged, probes: Array, within: Array | None = None) -> Groups:
    """``within`` holds a code a document: only documents of one code may meet."""
    values = keys.values
    if within is not None:
        spread = (within.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        values = values ^ np.repeat(spread, keys.lengths)
    members, looks, offsets = _native.shared_groups(values, keys.offsets, probes)
    return Groups(Ragged(members, offsets), looks)


def distinct(groups: Groups) -> Groups:
    """One of all groups with the same entries: documents that are alike share many keys."""
    members = groups.members
    first = _native.distinct_groups(members.values, groups.probes, members.offsets)
    return groups.where(first.view(np.bool_))


def pair_count(groups: Groups) -> int:
    """The pairs of all groups, repeats counted."""
    sizes = groups.members.lengths
    return int((sizes * (sizes - 1) // 2).sum())


def pairs_within(groups: Groups, budget: int) -> tuple[Array, Array, Groups]:
    """The pairs (a < b) of the small groups, about ``budget`` at most, and the groups left over."""
    members = groups.members
    a, b, largest = _native.group_pairs(members.values, groups.probes, members.offsets, budget)
    return a, b, groups.where(members.lengths > largest)


def that_share_a_key(keys: Ragged, probes: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Those of the pairs that ``share_keys`` would have brought together."""
    shared = _native.share_key(keys.values, keys.offsets, probes, a, b).view(np.bool_)
    return a[shared], b[shared]


def that_share_keys(keys: Ragged, least: int, a: Array, b: Array) -> tuple[Array, Array]:
    """Those of the pairs that share so many; keys are sorted, and a document looks with all."""
    shared = _native.common_values(keys.values, keys.offsets, a, b) >= least
    return a[shared], b[shared]


def pairs_sharing(groups: Groups, documents: int, least: int) -> tuple[Array, Array]:
    """The pairs (a < b) that stand together in so many groups."""
    members = groups.members
    a, b, _ = _native.sharing_pairs(members.values, members.offsets, documents, least)
    return a, b


def leaders(digests: Array, rank: Array, within: Array | None = None) -> npt.NDArray[np.int64]:
    """For each document the first, by rank, of those with its digest (and its ``within`` code)."""
    code = within if within is not None else np.zeros(len(rank), np.int64)
    order = np.lexsort((rank, code, digests[:, 1], digests[:, 0]))
    same = np.ones(len(order), bool)
    for column in (digests[:, 0], digests[:, 1], code):
        same[1:] &= column[order[1:]] == column[order[:-1]]
    same[:1] = False
    start = np.flatnonzero(~same)
    leader = np.empty(len(order), np.int64)
    leader[order] = np.repeat(order[start], np.diff(np.append(start, len(order))))
    return leader
