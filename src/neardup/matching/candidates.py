"""Keys → groups of documents that share a key → candidate pairs.

``pairs_within`` expands small groups into pairs, up to a budget. It leaves the remaining ones as
hot groups, in which the rule compares each document only with kept ones (``decisions/rule.py``), so
that no group costs the square of its size. Documents with equal evidence are represented by the
first of them (``leaders``), so a million copies of one text cost no more than a million documents.
Each way to meet takes :class:`Leaders` and returns :class:`Candidates`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.classes import dataclass
from neardup.matching.evidence import EvidenceStore, Pairs
from neardup.matching.key_store import KeyStore
from neardup.methods.base import Prepared
from neardup.methods.meeting import SPREAD
from neardup.schema import Array, Ragged, offsets_of

BLOCK_PAIRS = 1 << 14  # whose keys are read at a time
RAW_PAIRS = 1 << 20  # of groups that are listed at a time, with repeated ones
# With how many others a document is compared at a time: with those that share most keys.
MOST_COMPARED = 128
# Where hardly any match, that is fewer than one in ``HARDLY`` of the documents that meet many, one
# that matches none of the first ``MOST_COMPARED / FIRST_SHARE`` is compared with no others.
FIRST_SHARE, HARDLY = 16, 32


@dataclass(frozen=True)
class Groups:
    """The ``members`` of a group share a key: at least two, of which at least one searches."""

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
        if len(parts) == 1:
            return parts[0]
        members = Ragged.concat([part.members for part in parts], np.int64)
        probes = [part.probes for part in parts]
        return cls(members, np.concatenate([np.empty(0, np.uint8), *probes]))


def share_keys(
    keys: Ragged,
    probes: Array,
    within: Array | None = None,
    workers: int = 1,
    order: Array | None = None,
) -> Groups:
    """Groups of places with a common key; the document at place p is ``order[p]``. Only documents
    with the same code in ``within``, which has one for each place, can meet."""
    values = keys.values
    rows = np.arange(len(keys)) if order is None else order
    if within is not None:
        spread = np.zeros(len(keys), np.uint64)
        spread[rows] = (within.astype(np.uint64) + np.uint64(1)) * SPREAD
        values = values ^ np.repeat(spread, keys.lengths)

    grouped = functools.partial(_native.shared_groups, values, keys.offsets, probes, rows)
    if workers == 1:
        parts = [grouped(0, 1)]
    else:
        with ThreadPoolExecutor(workers) as pool:
            parts = [*pool.map(grouped, range(workers), itertools.repeat(workers))]
    return Groups.concat([Groups(Ragged(members, ends), looks) for members, looks, ends in parts])


def distinct(groups: Groups) -> Groups:
    """Groups without repetitions: similar documents share many keys, which give the same group."""
    members = groups.members
    first = _native.distinct_groups(members.values, groups.probes, members.offsets)
    return groups.where(first.view(np.bool_))


def distinct_parts(parts: Iterator[Groups]) -> Groups:
    """``distinct`` of all of them, of which only distinct groups are held."""
    first = [*itertools.islice(parts, 2)]
    if len(first) == 1:
        return distinct(first[0])
    seen, kept = _native.IdSet(), []
    for groups in itertools.chain(first, parts):
        members = groups.members
        digests = _native.group_digests(members.values, groups.probes, members.offsets)
        kept.append(groups.where(np.asarray(seen.add(digests)) < 0))
    return Groups.concat(kept)


Verify = Callable[[Array, Array], Pairs]  # pairs of places → those that pass


def pair_count(groups: Groups) -> int:
    """The number of pairs in all groups; a pair in two groups counts twice."""
    sizes = groups.members.lengths
    return int((sizes * (sizes - 1) // 2).sum())


class GroupPairs:
    """The pairs (a < b) of the small ones of ``groups``, at most ``budget``, each once and in
    order, in blocks: all of them may take many times the memory of the groups. ``hot`` are the
    groups left over."""

    def __init__(self, groups: Groups, budget: int, block: int = RAW_PAIRS) -> None:
        members = groups.members
        columns = members.values, groups.probes, members.offsets
        self._blocks = _native.GroupPairs(*columns, budget, block)
        self.hot = groups.where(members.lengths > self._blocks.largest)

    def __len__(self) -> int:
        return self._blocks.count

    def __iter__(self) -> Iterator[tuple[Array, Array]]:
        """Once."""
        while (block := self._blocks.next()) is not None:
            yield block

    def verified(self, verify: Verify) -> Pairs:
        """Those that pass."""
        return Pairs.concat([verify(a, b) for a, b in self])


def pairs_within(groups: Groups, budget: int) -> tuple[Array, Array, Groups]:
    """The pairs (a < b) of the small groups, at most ``budget``, and the groups left over."""
    pairs = GroupPairs(groups, budget)
    none = np.empty(0, np.int64), np.empty(0, np.int64)
    a, b = (np.concatenate(side) for side in zip(none, *pairs, strict=True))
    return a, b, pairs.hot


def leaders(digests: Array, rank: Array, within: Array | None = None) -> npt.NDArray[np.int32]:
    """For each document, the first by rank of those with its digest and its ``within`` code."""
    some = _repeated(digests[:, 0])
    code = within[some] if within is not None else np.zeros(len(some), np.int8)
    columns = digests[some, 0], digests[some, 1], code
    order = np.lexsort((rank[some], *columns[::-1]))
    same = np.ones(len(order), bool)
    for column in columns:
        same[1:] &= column[order[1:]] == column[order[:-1]]
    same[:1] = False
    start = np.flatnonzero(~same)
    leader = np.arange(len(rank), dtype=np.int32)
    leader[some[order]] = np.repeat(some[order[start]], np.diff(np.append(start, len(order))))
    return leader


def _repeated(digests: Array) -> Array:
    """The documents whose digest occurs more than once. Sorting one column takes half the memory of
    sorting all, and mostly there are few."""
    order = np.argsort(digests)
    sorted_ = digests[order]
    equal = sorted_[1:] == sorted_[:-1]
    del sorted_
    repeated = np.zeros(len(order), np.bool_)
    repeated[1:] |= equal
    repeated[:-1] |= equal
    return np.sort(order[repeated])


@dataclass(frozen=True)
class Leaders:
    """The documents to be matched, all with different evidence. Each has a place in the order of
    the policy and is document ``order[place]`` of the collection. Only documents with the same code
    in ``codes`` can meet. ``usual_pairs`` is the number of pairs worth expanding if only decisions
    are needed, ``most_pairs`` the number that may be expanded and listed. Documents are alike from
    the score ``threshold`` on, which is that of the method."""

    order: Array
    codes: Array | None
    prepared: Prepared
    store: EvidenceStore
    usual_pairs: int
    most_pairs: int
    workers: int
    threshold: float
    keys: KeyStore | None = None  # those of the documents, if they are in a file

    def sharing(self) -> Iterator[Groups]:
        """Groups of places with a common key, in the order of keys: of all keys, or of one part of
        the key space after the other where the keys are in a file."""
        prepared = self.prepared
        if self.keys is None:
            yield share_keys(prepared.keys, prepared.probes, self.codes, self.workers, self.order)
            return
        for members, looks, offsets in self.keys.groups(self.order, self.codes):
            yield Groups(Ragged(members, offsets), looks)

    def share_key(self, a: Array, b: Array) -> npt.NDArray[np.bool_]:
        """Which pairs of places share a key with which one of the two searches."""
        return self._by_keys(_native.share_key, a, b).astype(np.bool_)

    def shared_keys(self, a: Array, b: Array) -> npt.NDArray[np.int64]:
        """How many such keys they share."""
        return self._by_keys(_native.shared_keys, a, b)

    def _by_keys(self, count: Callable[..., Array], a: Array, b: Array) -> Array:
        prepared, documents = self.prepared, (self.order[a], self.order[b])
        if self.keys is None:
            keys = prepared.keys
            return count(keys.values, keys.offsets, prepared.probes, *documents)
        parts = [count(*_no_keys(), np.empty(0, np.int64), np.empty(0, np.int64))]
        for begin in range(0, len(a), BLOCK_PAIRS):
            one, other = (side[begin : begin + BLOCK_PAIRS] for side in documents)
            some, local = np.unique(np.concatenate([one, other]), return_inverse=True)
            keys, probes = self.keys.take(some)
            local = local.astype(np.int64)
            sides = local[: len(one)], local[len(one) :]
            parts.append(count(keys.values, keys.offsets, probes, *sides))
        return np.concatenate(parts)

    @property
    def most_compared(self) -> int:
        """How many others a document is compared with at most, unless all pairs are to be
        listed."""
        return max(MOST_COMPARED, self.most_pairs // max(len(self.order), 1))

    @property
    def long(self) -> Array:
        """Places of documents that are not too short. The evidence of a short document is a digest
        and no set of features: equal documents are collapsed already, and any other match is an
        accident."""
        return np.flatnonzero(~self.prepared.too_short[self.order])


def _no_keys() -> tuple[Array, Array, Array]:
    return np.empty(0, np.uint64), np.zeros(1, np.int64), np.empty(0, np.int32)


@dataclass(frozen=True)
class Candidates:
    """Verified pairs of small groups; hot groups and the function that verifies their pairs.
    ``capped`` are the places of documents that were not compared with all that they met."""

    pairs: Pairs
    hot: Groups
    verify: Verify
    capped: Array = field(default_factory=lambda: np.empty(0, np.int64))
