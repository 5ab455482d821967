"""Documents that share a key meet; if single keys are weak, they must share several.

In a collection, documents are grouped by key (``matching/candidates.py``). In an index, the keys
are kept as postings in memory. Both find the same pairs.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise

import numpy as np

from neardup import _native
from neardup.matching.candidates import (
    MOST_COMPARED,
    Candidates,
    Groups,
    Leaders,
    Verify,
    distinct,
    distinct_parts,
    joined,
    pairs_within,
)
from neardup.matching.evidence import EvidenceStore, Pairs
from neardup.matching.postings import Signed
from neardup.matching.rare import refine
from neardup.methods.meeting import SharedKeys
from neardup.schema import Array, Ragged

RANGES = 2  # of documents for each worker
# Where groups are in a file: members of groups for each range, and ranges, each of which reads all.
RANGE_MEMBERS, MOST_RANGES = 1 << 20, 64
SMALL_GROUP = 128  # larger groups of a weak key are near copies, or the table does not fit


def key_candidates(way: SharedKeys, leaders: Leaders, verify: Verify) -> Candidates:
    if way.least > 1:
        return _several(way, leaders, verify)
    groups = distinct_parts(leaders.sharing())
    a, b, hot = pairs_within(groups, leaders.usual_pairs)
    cold = verify(a, b)
    if not len(hot):
        return Candidates(cold, hot, verify)

    # Rare features may find pairs that share no key; they are left out, so that engines agree.
    def verify_sharing(a: Array, b: Array) -> Pairs:
        shared = leaders.share_key(a, b)
        return verify(a[shared], b[shared])

    hot = refine(hot, leaders, way.rare_keys, verify)
    a, b, hot = pairs_within(hot, leaders.most_pairs - len(a))
    cold = Pairs.concat([cold, verify_sharing(a, b)]).distinct()
    return Candidates(cold, hot, verify_sharing)


def _several(way: SharedKeys, leaders: Leaders, verify: Verify) -> Candidates:
    if leaders.keys is not None:
        return _several_in_file(way, leaders, verify)
    small, large = small_and_large(joined(leaders.sharing()))
    most, places = leaders.most_compared, len(leaders.order)
    a, b, _, capped = sharing_pairs(small, places, way.least, most, leaders.workers)
    return _with_large([verify(a, b)], capped, large, way, leaders, verify)


def _with_large(
    verified: list[Pairs],
    capped: Array,
    large: Groups,
    way: SharedKeys,
    leaders: Leaders,
    verify: Verify,
) -> Candidates:
    """The verified pairs of small groups, with those of large ones."""

    def verify_sharing(a: Array, b: Array) -> Pairs:
        """Only pairs that share so many keys with which one of the two searches."""
        shared = leaders.shared_keys(a, b) >= way.least
        return verify(a[shared], b[shared])

    a, b, hot = pairs_within(large, leaders.most_pairs)
    verified.append(verify_sharing(a, b))
    return Candidates(Pairs.concat(verified).distinct(), hot, verify_sharing, capped)


def _several_in_file(way: SharedKeys, leaders: Leaders, verify: Verify) -> Candidates:
    """Small groups go to a file, and are read once for each range of places: the pairs of a range
    are verified before those of the next are counted."""
    assert leaders.keys is not None
    places, most = len(leaders.order), leaders.most_compared
    verified, capped, large = [], [np.empty(0, np.int64)], []
    with closing(EvidenceStore(np.uint32, limit=0, folder=leaders.keys.folder)) as packed:
        for groups in leaders.sharing():
            few, many = small_and_large(groups)
            large.append(many)
            values = _native.pack_groups(*_columns(few))
            packed.append(Ragged(values, np.array([0, len(values)])))
        ranges = min(max(packed.total // RANGE_MEMBERS, 1), MOST_RANGES)
        ends = np.linspace(0, places, ranges + 1).astype(np.int64).tolist()
        for first, last in pairwise(ends):
            parts = [Groups.concat([])]
            for part in range(len(packed)):
                some = packed.take(np.array([part])).values
                members, looks, offsets = _native.groups_between(some, first, last)
                parts.append(Groups(Ragged(members, offsets), looks))
            columns = _columns(Groups.concat(parts))
            del parts
            a, b, _, over = _native.sharing_pairs(*columns, places, way.least, most, first, last)
            del columns
            verified.append(verify(a, b))
            capped.append(over)
    over = np.concatenate(capped)
    return _with_large(verified, over, distinct(joined(large)), way, leaders, verify)


def _columns(groups: Groups) -> tuple[Array, Array, Array]:
    return groups.members.values, groups.probes, groups.members.offsets


def small_and_large(groups: Groups) -> tuple[Groups, Groups]:
    """Groups of weak keys whose pairs are counted, and larger ones whose pairs are expanded."""
    small = groups.members.lengths <= SMALL_GROUP
    return groups.where(small), distinct(groups.where(~small))


def sharing_pairs(
    groups: Groups, documents: int, least: int, most: int = 0, workers: int = 1
) -> tuple[Array, Array, Array, Array]:
    """The pairs (a < b) that stand together in so many groups in which one of the two looks, in how
    many they do, and documents that are in more than ``most`` pairs with earlier ones, of which
    those that share most are listed; 0 lists all."""
    members = groups.members
    columns = members.values, groups.probes, members.offsets
    if workers == 1:
        return _native.sharing_pairs(*columns, documents, least, most)
    # Later documents have more before them.
    shares = np.sqrt(np.linspace(0, 1, RANGES * workers + 1))
    ends = (documents * shares).astype(np.int64).tolist()

    def part(first: int, last: int) -> tuple[Array, ...]:
        return _native.sharing_pairs(*columns, documents, least, most, first, last)

    with ThreadPoolExecutor(workers) as pool:
        parts = list(pool.map(part, ends[:-1], ends[1:]))
    a, b, shared, capped = (np.concatenate(column) for column in zip(*parts, strict=True))
    return a, b, shared, capped


class KeyPostings:
    """The keys of documents that arrived one by one; two documents meet if they share ``least``."""

    def __init__(self, least: int) -> None:
        self._postings = _native.Postings()
        self._least = least

    def add(self, signed: Signed, number: int, time: int) -> None:  # noqa: ARG002
        self._postings.add(signed.keys, signed.probes, number)

    def meet(self, signed: Signed) -> Array:
        return self._postings.meet(signed.keys, signed.probes, self._least, MOST_COMPARED)

    def forget(self, number: int) -> None:
        """The keys of the document stay until the next ``keep``."""

    def keep(self, numbers: Array) -> None:
        self._postings.keep(numbers)

    @property
    def bytes(self) -> int:
        return self._postings.bytes

    def lasting_bytes(self, alive: float) -> int:
        return int(self.bytes * alive)
