"""Documents that share a key meet; if single keys are weak, they must share several.

In a collection, documents are grouped by key (``matching/candidates.py``). In an index, the keys
are kept as postings in memory. Both find the same pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise

import numpy as np

from neardup import _native
from neardup.matching.candidates import (
    FIRST_SHARE,
    HARDLY,
    MOST_COMPARED,
    Candidates,
    GroupPairs,
    Groups,
    Leaders,
    Signed,
    Verify,
    distinct,
    distinct_parts,
)
from neardup.matching.evidence import EvidenceStore, Pairs
from neardup.matching.rare import refine
from neardup.methods.meeting import SharedKeys
from neardup.schema import Array, Ragged

RANGES = 2  # of documents for each worker
# Where groups are in a file: members of groups for each range, and ranges, each of which reads all;
# more ranges read a part of the groups each, which is written first.
RANGE_MEMBERS, MOST_RANGES = 1 << 20, 16
SMALL_GROUP = 128  # larger groups of a weak key are near copies, or the table does not fit


def key_candidates(way: SharedKeys, leaders: Leaders, verify: Verify) -> Candidates:
    if way.least > 1:
        return _several(way, leaders, verify)
    groups = distinct_parts(leaders.sharing())
    small = GroupPairs(groups, leaders.usual_pairs)
    cold, hot = small.verified(verify), small.hot
    if not len(hot):
        return Candidates(cold, hot, verify)

    # Rare features may find pairs that share no key; they are left out, so that engines agree.
    def verify_sharing(a: Array, b: Array) -> Pairs:
        shared = leaders.share_key(a, b)
        return verify(a[shared], b[shared])

    hot = refine(hot, leaders, way.rare_keys, verify)
    more = GroupPairs(hot, leaders.most_pairs - len(small))
    cold = Pairs.concat([cold, more.verified(verify_sharing)]).distinct()
    return Candidates(cold, more.hot, verify_sharing)


def _several(way: SharedKeys, leaders: Leaders, verify: Verify) -> Candidates:
    if leaders.keys is not None:
        return _several_in_file(way, leaders, verify)
    small, large = small_and_large(Groups.concat([*leaders.sharing()]))
    most, places = leaders.most_compared, len(leaders.order)
    *counted, capped = sharing_pairs(small, places, way.least, most, leaders.workers)
    return _with_large([counted], len(counted[0]), capped, large, way, leaders, verify)


def _with_large(
    counted: Iterable[Sequence[Array]],
    count: int,
    capped: Array,
    large: Groups,
    way: SharedKeys,
    leaders: Leaders,
    verify: Verify,
) -> Candidates:
    """The verified pairs of small groups, ``counted`` part by part, and those of large ones."""
    pairs = GroupPairs(large, leaders.most_pairs)
    others, hot = _sharing_enough(pairs, way.least, leaders), pairs.hot

    def verify_sharing(a: Array, b: Array) -> Pairs:
        """Only pairs that share so many keys with which one of the two searches."""
        shared = leaders.shared_keys(a, b) >= way.least
        return verify(a[shared], b[shared])

    if count + len(others[0]) <= leaders.most_pairs:
        verified = [verify(*columns[:2]) for columns in (*counted, others)]
    else:
        every = [np.concatenate(column) for column in zip(*counted, strict=True)]
        united = _united(every, others, len(leaders.order))
        verified, unlike = _first_and_others(*united, leaders, verify)
        capped = np.union1d(capped, unlike)
    return Candidates(Pairs.concat(verified).distinct(), hot, verify_sharing, capped)


def _sharing_enough(pairs: GroupPairs, least: int, leaders: Leaders) -> tuple[Array, Array, Array]:
    """The pairs that share so many keys, and how many."""
    none = np.empty(0, np.int64)
    parts: list[tuple[Array, Array, Array]] = [(none, none, none.astype(np.int32))]
    for a, b in pairs:
        shared = leaders.shared_keys(a, b)
        enough = shared >= least
        parts.append((a[enough], b[enough], shared[enough].astype(np.int32)))
    a, b, shared = (np.concatenate(column) for column in zip(*parts, strict=True))
    return a, b, shared


def _several_in_file(way: SharedKeys, leaders: Leaders, verify: Verify) -> Candidates:
    """Small groups go to a file, which is read once for each range of places, and so do the pairs
    of each range, until all are counted."""
    assert leaders.keys is not None
    folder, places, large = leaders.keys.folder, len(leaders.order), []
    capped = [np.empty(0, np.int64)]
    with (
        closing(EvidenceStore(np.uint32, limit=0, folder=folder)) as packed,
        closing(EvidenceStore(np.int64, limit=0, folder=folder)) as pairs,
    ):
        for groups in leaders.sharing():
            few, many = small_and_large(groups)
            large.append(many)
            pack = _native.pack_groups(few.members.values, few.probes, few.members.offsets)
            packed.append(Ragged(pack, np.array([0, len(pack)])))
        for columns, first, last in _ranges(packed, places):
            limits = places, way.least, leaders.most_compared, first, last
            a, b, shared, over = _native.sharing_pairs(*columns, *limits)
            pairs.append(Ragged(np.concatenate([a, b, shared]), np.array([0, 3 * len(a)])))
            capped.append(over)
        every = (_columns(pairs, part) for part in range(len(pairs)))
        groups = distinct(Groups.concat(large))
        over = np.concatenate(capped)
        return _with_large(every, pairs.total // 3, over, groups, way, leaders, verify)


_Columns = tuple[Array, Array, Array]  # of groups: members, which of them look, offsets


def _ranges(packed: EvidenceStore, places: int) -> Iterator[tuple[_Columns, int, int]]:
    """Ranges of places, with the groups that have a member there and one before it."""
    ranges = max(packed.total // RANGE_MEMBERS, 1)
    coarse = max(round(ranges**0.5), 1) if ranges > MOST_RANGES else 1
    for first, last in _split(0, places, coarse):
        with closing(EvidenceStore(np.uint32, limit=0, folder=packed.folder)) as some:
            for columns in _groups_between(packed, first, last) if coarse > 1 else ():
                pack = _native.pack_groups(*columns)
                some.append(Ragged(pack, np.array([0, len(pack)])))
            groups = some if coarse > 1 else packed
            for begin, end in _split(first, last, -(-ranges // coarse)):
                parts = [Groups(Ragged(m, o), p) for m, p, o in _groups_between(groups, begin, end)]
                united = Groups.concat([Groups.concat([]), *parts])
                columns = united.members.values, united.probes, united.members.offsets
                del parts, united
                yield columns, begin, end


def _split(first: int, last: int, parts: int) -> Iterator[tuple[int, int]]:
    return pairwise(np.linspace(first, last, parts + 1).astype(np.int64).tolist())


def _groups_between(packed: EvidenceStore, first: int, last: int) -> Iterator[_Columns]:
    for part in range(len(packed)):
        pack = packed.take(np.array([part])).values
        yield _native.groups_between(pack, first, last)


def _columns(pairs: EvidenceStore, part: int) -> tuple[Array, Array, Array]:
    a, b, shared = pairs.take(np.array([part])).values.reshape(3, -1)
    return a, b, shared.astype(np.int32)


def _united(
    one: Sequence[Array], other: Sequence[Array], places: int
) -> tuple[Array, Array, Array]:
    """The pairs (a < b) of both and the keys that they share, by b and a, each once."""
    a, b, shared = (np.concatenate(columns) for columns in zip(one, other, strict=True))
    pair = b * places + a
    order = np.argsort(pair, kind="stable")
    pair = pair[order]
    starts = np.flatnonzero(np.diff(pair, prepend=-1))
    most = np.maximum.reduceat(shared[order], starts)
    return pair[starts] % places, pair[starts] // places, most


def _first_and_others(
    a: Array, b: Array, shared: Array, leaders: Leaders, verify: Verify
) -> tuple[list[Pairs], Array]:
    """The verified pairs, and documents that were compared only with the first ones, with which
    they share most keys. There are such documents only where hardly any match."""
    first = _native.most_shared(a, b, shared, leaders.most_compared // FIRST_SHARE).view(np.bool_)
    met = verify(a[first], b[first])
    crowded = np.zeros(len(leaders.order), np.bool_)
    crowded[b[~first]] = True
    unlike = crowded.copy()
    unlike[np.maximum(met.a, met.b)[met.score >= leaders.threshold]] = False
    if HARDLY * np.count_nonzero(crowded & ~unlike) >= np.count_nonzero(crowded):
        unlike[:] = False
    others = ~first & ~unlike[b]
    return [met, verify(a[others], b[others])], np.flatnonzero(unlike)


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
