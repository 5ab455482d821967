"""Keys → groups of documents that share a key → candidate pairs.

Groups are cheap while they are small. ``pairs_within`` makes the pairs of the small ones within a
budget and leaves the rest as hot groups, which the rule then walks document by kept document
(``decisions/rule.py``), so that no group costs its square. Documents with equal evidence are one
document to every method, and the first stands for all (``leaders``): a million copies of one text
cost as much as a million documents. :class:`Leaders` is what each way to meet is given, and
:class:`Candidates` what it finds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.matching.evidence import EvidenceStore
from neardup.matching.verify import Pairs
from neardup.methods.base import Prepared
from neardup.methods.meeting import SPREAD
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
        spread = (within.astype(np.uint64) + np.uint64(1)) * SPREAD
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


Verify = Callable[[Array, Array], Pairs]  # pairs of places → those that pass


@dataclass(frozen=True)
class Leaders:
    """Documents with unlike evidence that are to be matched. Each has a place, and is document
    ``order[place]`` of the collection; places follow the policy. Only documents with one code of
    ``codes`` may meet. ``usual_pairs`` is how many pairs are worth making when decisions alone are
    asked for, ``most_pairs`` how many may be made and listed."""

    order: Array
    codes: Array | None
    prepared: Prepared
    store: EvidenceStore
    usual_pairs: int
    most_pairs: int
    workers: int

    @property
    def keys(self) -> tuple[Ragged, Array]:
        """The keys of each place, and with how many of them the document looks."""
        return self.prepared.keys.take(self.order), self.prepared.probes[self.order]

    @property
    def long(self) -> Array:
        """Places of documents that are not too short. A digest stands for a short document, not
        features: its equals are collapsed already, and whatever else shares a number with it does
        so by accident."""
        return np.flatnonzero(~self.prepared.too_short[self.order])


@dataclass(frozen=True)
class Candidates:
    """Verified pairs of small groups, hot groups still to be walked, and how to verify those."""

    pairs: Pairs
    hot: Groups
    verify: Verify
