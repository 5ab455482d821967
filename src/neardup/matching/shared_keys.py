"""Documents that share a key meet; if single keys are weak, they must share several.

In a collection, documents are grouped by key (``matching/candidates.py``). In an index, the keys
are kept as postings in memory. Both find the same pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from neardup import _native
from neardup.matching.candidates import (
    FIRST_SHARE,
    HARDLY,
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
from neardup.matching.evidence import Pairs
from neardup.matching.postings import Signed
from neardup.matching.rare import refine
from neardup.methods.meeting import SharedKeys
from neardup.schema import Array

RANGES = 2  # of documents for each worker
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
    small, large = small_and_large(joined(leaders.sharing()))
    most, places = leaders.most_compared, len(leaders.order)
    *counted, capped = sharing_pairs(small, places, way.least, most, leaders.workers)
    a, b, hot = pairs_within(large, leaders.most_pairs)
    shared = leaders.shared_keys(a, b)
    enough = shared >= way.least
    others = a[enough], b[enough], shared[enough].astype(np.int32)

    def verify_sharing(a: Array, b: Array) -> Pairs:
        """Only pairs that share so many keys with which one of the two searches."""
        shared = leaders.shared_keys(a, b) >= way.least
        return verify(a[shared], b[shared])

    if len(counted[0]) + len(others[0]) <= leaders.most_pairs:
        verified = [verify(*counted[:2]), verify(*others[:2])]
    else:
        verified, unlike = _first_and_others(*_united(counted, others, places), leaders, verify)
        capped = np.union1d(capped, unlike)
    return Candidates(Pairs.concat(verified).distinct(), hot, verify_sharing, capped)


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
