"""How documents become candidates: ``candidates`` of a collection, ``postings`` of an index.

These two, and no other code, map the ``meeting`` that a method declares to the file of
``matching/`` that serves it. Near fingerprints (Manku et al. 2007) are found here, table by table:
the kernel verifies their pairs itself, so documents that share a narrow key by accident cost time
but no memory. The other ways go from keys to groups of documents that share a key, and to pairs.

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
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.classes import dataclass
from neardup.matching.evidence import EvidenceStore, Pairs
from neardup.matching.key_store import KeyStore
from neardup.methods.base import Prepared
from neardup.methods.meeting import SPREAD, Meeting, NearBits, RarePrefix, SharedKeys, SharedWindow
from neardup.schema import Array, Ragged

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
        if mask.all():
            return self
        chosen = np.flatnonzero(mask)
        members, probes = self.members, Ragged(self.probes, self.members.offsets)
        return Groups(members.take(chosen), probes.take(chosen).values)

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


def near_candidates(way: NearBits, leaders: Leaders, verify: Verify) -> Candidates:
    """Each pair (a < b) of documents with near fingerprints once, and hot groups."""
    places, budget = leaders.long, leaders.most_pairs
    documents = leaders.order[places]
    ascending = np.argsort(documents, kind="stable")
    values = leaders.store.take(documents[ascending]).values
    places = places[ascending]
    codes = np.empty(0, np.int64)
    if leaders.codes is not None:
        codes = leaders.codes[places].astype(np.int64)
    masks = way.masks(len(places), 1)
    pairs, hot = [np.empty((2, 0), np.int64)], []
    for table in range(len(masks)):
        a, b, members, ends = _native.near_pairs(
            values, codes, masks.reshape(-1), masks.shape[1], way.distance, table, budget
        )
        budget -= len(a)
        pairs.append(np.stack([places[a], places[b]]))
        hot.append(_group(places, members, ends))
    both = np.concatenate(pairs, axis=1)
    verified = verify(both.min(axis=0), both.max(axis=0))
    return Candidates(verified, distinct(Groups.concat(hot)), verify)


def _group(places: Array, members: Array, ends: Array) -> Groups:
    """Groups with members in ascending order, as the rule expects them."""
    group = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    named = places[members]
    return Groups(Ragged(named[np.lexsort((named, group))], ends), np.ones(len(members), np.uint8))


class Signed(Protocol):
    """The properties of a document that postings use."""

    @property
    def keys(self) -> Array: ...

    @property
    def probes(self) -> int: ...

    @property
    def evidence(self) -> Array: ...

    @property
    def too_short(self) -> bool: ...


class Passing(NamedTuple):
    """Numbers of documents, ascending, and their scores."""

    numbers: Array
    scores: Array


class Postings(Protocol):
    def add(self, signed: Signed, number: int, time: int) -> None: ...

    def meet(self, signed: Signed) -> Array | Passing:
        """Either the numbers of the documents to score, ascending, or all documents that pass, with
        their scores. Forgotten documents may be among them."""
        ...

    def forget(self, number: int) -> None:
        """The document can no longer be matched; its number is not reused before ``keep``."""
        ...

    def keep(self, numbers: Array) -> None:
        """``numbers[i]`` is the new number of document i, negative if it was forgotten."""
        ...

    @property
    def bytes(self) -> int: ...

    def lasting_bytes(self, alive: float) -> int:
        """``bytes`` without what ``keep`` would free; ``alive`` is the share of live numbers."""
        ...


def candidates(meeting: Meeting, leaders: Leaders, verify: Verify) -> Candidates:
    """The verified pairs of leaders that meet, and hot groups."""
    way = meeting.batch
    if isinstance(way, NearBits):
        return near_candidates(way, leaders, verify)
    if isinstance(way, SharedKeys):
        from neardup.matching.shared_keys import key_candidates

        return key_candidates(way, leaders, verify)
    if isinstance(way, RarePrefix):
        from neardup.matching.rare import rare_candidates

        return rare_candidates(way, leaders, verify)
    from neardup.matching.paths import path_candidates

    return path_candidates(way, leaders, verify)


def postings(
    meeting: Meeting, period: int | None = None, clip: tuple[float, float] | None = None
) -> Postings:
    """An empty memory of documents for later arrivals. ``period`` is the time that one slot of a
    window covers; None if documents never expire. ``clip`` are the shares of documents above and
    below which a feature is not looked up, where features are."""
    way = meeting.arrival
    if isinstance(way, SharedWindow):
        from neardup.matching.window import UNCLIPPED, SlottedWindow

        return SlottedWindow(way.share, period, clip or UNCLIPPED)
    from neardup.matching.shared_keys import KeyPostings

    return KeyPostings(way.least)
