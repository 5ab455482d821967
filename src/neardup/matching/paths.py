"""Pairs of sets that share much, found by paths (Christiani & Pagh 2017; Christiani, Pagh &
Sivertsen 2018, CPSJoin).

Every set walks down ``repetitions`` random trees. Each step takes, by hash, about one of the
features that any partner must share. Sets on the same path are compared on sketches if they are
few, and walk on if they are many, so common features make long paths and rare ones short paths. The
kernels and the proof are in ``native/matching/paths.hpp``; this module computes how deep paths go
and how many repetitions keep the miss rate. The rarity of features is counted from a sample. It
affects the cost, but not the bound on the miss rate.

Where nearly all features are common and hardly any sets match, such as permutations of the same
words, that miss rate costs the work of many comparisons with each set, more in a larger collection.
There the walk ends after fewer repetitions (``MOST_STEPS``) and all documents count as capped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.classes import dataclass
from neardup.matching.candidates import (
    HARDLY,
    Candidates,
    GroupPairs,
    Groups,
    Leaders,
    Verify,
    distinct,
    share_keys,
)
from neardup.matching.evidence import EvidenceStore, Pairs
from neardup.matching.rare import ALIKE, refine, share_alike
from neardup.methods.meeting import SPREAD, SharedPaths
from neardup.schema import Array, Ragged, offsets_of

LEAST_DEPTH, MOST_DEPTH = 3, 15
# Short paths make repetitions cheap, so there are enough to find nearly every pair that passes.
FEWEST_REPETITIONS = 33
STILL_OPEN = 0.5  # paths of one repetition that end only at the greatest depth, on average


def repetitions(depth: int, miss_rate: float) -> int:
    """The number of repetitions with which two sets share no path of this depth with probability
    ``miss_rate`` at most: a branching process of mean 1 (``native/matching/paths.hpp``)."""
    alive = 1.0
    for _ in range(depth):
        alive = -math.expm1(-alive)
    needed = math.ceil(math.log(miss_rate) / math.log1p(-alive))
    return max(needed, FEWEST_REPETITIONS)


def path_depth(count: int, few_bits: int, share: Fraction, rarities: Array) -> int:
    """The depth at which few paths of ``count`` sets have more than 2^``few_bits`` sets.
    ``rarities`` is the number of features by rarity, in eighths of a bit."""
    wanted = 8 * max((count - 1).bit_length() - few_bits, 1)
    chances = rarities / max(rarities.sum(), 1)
    open_ = np.eye(1, wanted)[0]  # by the rarity of the path so far
    for depth in range(1, MOST_DEPTH):
        open_ = np.convolve(open_, chances)[:wanted]
        if open_.sum() / float(share) ** depth < STILL_OPEN:
            return max(depth, LEAST_DEPTH)
    return MOST_DEPTH


SAMPLE = 1 << 13  # documents of which features are counted
SLOTS = 1 << 18
BLOCK_FEATURES = 4 << 20


class PathSets(NamedTuple):
    """Evidence of ``documents``, which are in ascending order, in blocks."""

    documents: Array
    store: EvidenceStore
    pool: ThreadPoolExecutor

    @property
    def sizes(self) -> Array:
        return np.asarray(self.store.lengths[self.documents])

    def of(self, chosen: Array, work: Callable[[Ragged, Array], Ragged]) -> list[Ragged]:
        """The results of ``work`` for blocks of the chosen sets, in their order."""
        blocks = list(_blocks(chosen, self.sizes))
        return list(self.pool.map(lambda at: work(self.store.take(self.documents[at]), at), blocks))


def _blocks(chosen: Array, sizes: Array) -> Iterator[Array]:
    ends = offsets_of(sizes[chosen])
    cuts = np.flatnonzero(np.diff(ends[1:] // BLOCK_FEATURES)) + 1
    yield from np.split(chosen, cuts)


def rarity(sets: PathSets) -> tuple[Array, Array]:
    """−8·log₂ of the share of documents by slot, and the number of sampled features by that
    rarity."""
    count = len(sets.documents)
    chosen = np.arange(0, count, -(-count // SAMPLE))
    counts = np.zeros(SLOTS, np.int64)
    for at in _blocks(chosen, sets.sizes):
        features = sets.store.take(sets.documents[at]).values
        counts += np.bincount(features & np.uint32(SLOTS - 1), minlength=SLOTS)
    edges = [len(chosen) / 2 ** (eighths / 8) for eighths in range(255, 0, -1)]
    by_slot = np.maximum(255 - np.searchsorted(edges, counts, side="left"), 1)
    return by_slot.astype(np.uint8), np.bincount(by_slot, counts, minlength=256)


def sketches(sets: PathSets, share: Fraction) -> Ragged:
    """Sketches with so many bits that unlike sets differ in more of them than sets that pass can:
    at most half of the bits of two sets differ, and 2(1 − t) of those of sets that pass."""
    bits = max(5 * (1 - share), Fraction(1, 8))

    def work(evidence: Ragged, _: Array) -> Ragged:
        return Ragged(
            *_native.parity_sketches(
                evidence.values, evidence.offsets, bits.numerator, bits.denominator
            )
        )

    return Ragged.concat(sets.of(np.arange(len(sets.documents)), work), np.uint64)


FEW_BITS = 5  # documents on a path with fewer than 2⁵ others are compared with them
FEW = 64  # documents that are all compared
PART_PATHS = 1 << 20
# At the greatest depth of paths, the first repetitions show what all would cost. If it is more
# than so many steps a document and hardly any match, as many follow as that allows. A comparison of
# sketches is a step; a path takes as long as a few.
FIRST_REPETITIONS, MOST_STEPS, STEPS_OF_PATH = 8, 1 << 13, 16
PATHS_OF_ONE = 6  # paths of a document in one repetition, roughly: the basis of memory planning
_LOW_BITS = np.uint64(0x3FF)  # of a path: its depth and how many are on it


def path_candidates(way: SharedPaths, leaders: Leaders, verify: Verify) -> Candidates:
    met = _path_pairs(way, leaders, verify)
    pairs = [met.verified]

    # Where all documents meet and none match, sketches show it for a fraction of a comparison.
    def verify_near(a: Array, b: Array) -> Pairs:
        near = met.may_pass(a, b)
        return verify(a[near], b[near])

    crowds = GroupPairs(distinct(met.crowds), leaders.usual_pairs)
    pairs.append(crowds.verified(verify_near))
    if len(hot := crowds.hot):
        hot = refine(hot, leaders, way.rare_keys, verify_near)
        rare = GroupPairs(hot, leaders.most_pairs - len(crowds))
        pairs.append(rare.verified(verify_near))
        hot = rare.hot
    return Candidates(Pairs.concat(pairs).distinct(), hot, verify_near, met.capped)


class _PathPairs(NamedTuple):
    """The pairs that pass of those that are alone on a path with few others, and crowds, whose
    pairs were not expanded; ``may_pass`` is false for pairs of long documents that certainly do not
    pass. ``capped`` are the places of documents that walked fewer paths than the miss rate asks."""

    verified: Pairs
    crowds: Groups
    may_pass: Callable[[Array, Array], npt.NDArray[np.bool_]]
    capped: Array


def _path_pairs(way: SharedPaths, leaders: Leaders, verify: Verify) -> _PathPairs:
    places = leaders.long
    codes = None if leaders.codes is None else leaders.codes[places]
    if len(places) <= FEW:
        everyone = _everyone(places, codes)
        every = lambda a, _: np.ones(len(a), np.bool_)  # noqa: E731
        return _PathPairs(Pairs.none(), everyone, every, np.empty(0, np.int64))
    by_document = np.argsort(leaders.order[places], kind="stable")
    named = places[by_document]
    codes = None if codes is None else codes[by_document]
    with ThreadPoolExecutor(leaders.workers) as pool:
        search = _Search.over(PathSets(leaders.order[named], leaders.store, pool), way)
        met = _Met(named, codes, verify)
        all_walked = search.walk(met)
    number = np.zeros(len(leaders.order), np.uint32)
    number[named] = np.arange(len(named), dtype=np.uint32)

    def may_pass(a: Array, b: Array) -> npt.NDArray[np.bool_]:
        return search.may_pass(number[a], number[b])

    capped = named[:0] if all_walked else np.sort(named)
    return _PathPairs(met.verified(), met.crowds, may_pass, capped)


class _Met:
    """The pairs found so far, each verified once, on however many paths it is found."""

    def __init__(self, named: Array, codes: Array | None, verify: Verify) -> None:
        self.codes = codes
        self._named, self._verify = named, verify
        self._found: list[Array] = []
        self._seen = np.empty(0, np.uint64)
        self._passed: list[Pairs] = []
        self._crowds: list[Groups] = []

    def add(self, pairs: Array, crowds: list[Groups]) -> None:
        self._found.append(pairs)
        self._crowds += crowds

    def verified(self) -> Pairs:
        every = _distinct([self._seen, *self._found])
        new = every[~np.isin(every, self._seen)] if len(self._seen) else every
        self._seen, self._found = every, []
        first, second = new >> np.uint64(32), new & np.uint64(0xFFFFFFFF)
        if self.codes is not None:  # first paths are hashes: two codes may have the same
            same = self.codes[first] == self.codes[second]
            first, second = first[same], second[same]
        a, b = self._named[first], self._named[second]
        self._passed.append(self._verify(np.minimum(a, b), np.maximum(a, b)))
        return Pairs.concat(self._passed)

    @property
    def crowds(self) -> Groups:
        return _named(Groups.concat(self._crowds), self._named)

    def hardly_any_match(self) -> bool:
        """Whether fewer than one in ``HARDLY`` documents is in a pair that passes or in a crowd of
        which most do."""
        passed = self.verified()
        matched = [passed.a, passed.b]
        if len(crowds := distinct(self.crowds)):
            alike = share_alike(crowds, self._verify) >= ALIKE
            matched.append(crowds.where(alike).members.values)
        return HARDLY * len(np.unique(np.concatenate(matched))) < len(self._named)


def _distinct(parts: list[Array]) -> Array:
    """All numbers, sorted, each once: ``np.unique`` fills a table of hashes, which takes ten times
    as long."""
    numbers = np.sort(np.concatenate(parts))
    new = np.ones(len(numbers), bool)
    new[1:] = numbers[1:] != numbers[:-1]
    return numbers[new]


def _everyone(places: Array, codes: Array | None) -> Groups:
    one_key = Ragged(np.zeros(len(places), np.uint64), np.arange(len(places) + 1))
    groups = share_keys(one_key, np.ones(len(places), np.int32), codes)
    return Groups(Ragged(places[groups.members.values], groups.members.offsets), groups.probes)


def _named(groups: Groups, names: Array) -> Groups:
    """Groups with their members renamed; the new names need not be in ascending order."""
    members = groups.members
    of = np.repeat(np.arange(len(groups)), members.lengths)
    values = names[members.values]
    return Groups(Ragged(values[np.lexsort((values, of))], members.offsets), groups.probes)


class _Part(NamedTuple):
    """The result of one part of all paths."""

    pairs: Array  # a << 32 | b
    open: Array  # paths on which documents walk on,
    documents: Array  # and these documents
    members: Array
    ends: Array
    compared: int

    @property
    def crowds(self) -> Groups:
        return Groups(Ragged(self.members, self.ends), np.ones(len(self.members), np.uint8))


@dataclass(frozen=True)
class _Search:
    sets: PathSets
    share: Fraction
    rarity: Array
    depth: int
    repetitions: int
    sketches: Ragged
    by_size: Array

    @classmethod
    def over(cls, sets: PathSets, way: SharedPaths) -> _Search:
        by_slot, rarities = rarity(sets)
        depth = path_depth(len(sets.documents), FEW_BITS, way.share, rarities)
        return cls(
            sets,
            way.share,
            by_slot,
            depth,
            repetitions(depth, way.miss_rate),
            sketches(sets, way.share),
            np.argsort(sets.sizes, kind="stable").astype(np.uint32),
        )

    def walk(self, met: _Met) -> bool:
        """All repetitions, or as many as are worth their steps; returns whether it was all."""
        every = np.arange(self.repetitions)
        if self.depth < MOST_DEPTH:
            self._repeat(every, met)
            return True
        first, others = every[:FIRST_REPETITIONS], every[FIRST_REPETITIONS:]
        steps = self._repeat(first, met)
        worth = len(first) * MOST_STEPS * len(self.sets.documents) // max(steps, 1) - len(first)
        if worth < len(others) and met.hardly_any_match():
            self._repeat(others[: max(worth, 0)], met)
            return False
        self._repeat(others, met)
        return True

    def _repeat(self, some: Array, met: _Met) -> int:
        """These repetitions; returns the steps of all documents."""
        steps = 0
        for paths in self._roots(some, met.codes):
            pairs, crowds, taken = self._run(paths)
            met.add(pairs, crowds)
            steps += taken
        return steps

    def _roots(self, some: Array, codes: Array | None) -> Iterator[Ragged]:
        """The first paths of all sets, as many repetitions at a time as memory allows."""
        count = len(self.sets.documents)
        spread = np.zeros(count, np.uint64) if codes is None else codes.astype(np.uint64)
        spread = (spread + np.uint64(1)) * SPREAD
        fit = max(self.sets.store.limit // 2 // (count * PATHS_OF_ONE * 8), 1)
        everyone = np.uint64(count.bit_length() << 4)
        for at_once in np.split(some, range(fit, len(some), fit)):
            roots = (at_once.astype(np.uint64) + np.uint64(1)) * np.uint64(0xD1B54A32D192ED03)
            paths = (spread[:, None] ^ roots) & ~_LOW_BITS | everyone
            yield Ragged(paths.reshape(-1), np.arange(count + 1, dtype=np.int64) * len(at_once))

    def _run(self, paths: Ragged) -> tuple[Array, list[Groups], int]:
        pairs, crowds, steps = [np.empty(0, np.uint64)], [], 0
        while len(paths.values):
            paths = self._longer(paths)
            parts = self._meet(paths)
            pairs += [part.pairs for part in parts]
            crowds += [part.crowds for part in parts]
            steps += STEPS_OF_PATH * len(paths.values) + sum(part.compared for part in parts)
            paths = _going_on(parts, len(self.sets.documents))
        return _distinct(pairs), crowds, steps

    def may_pass(self, a: Array, b: Array) -> npt.NDArray[np.bool_]:
        """Whether pairs of sets may pass, by their sketches: false is certain."""
        return _native.may_pass(*self._outlines, a, b).view(np.bool_)

    @property
    def _outlines(self) -> tuple[Array, Array, Array, int, int]:
        share = self.share.numerator, self.share.denominator
        return self.sets.sizes, self.sketches.values, self.sketches.offsets, *share

    def _longer(self, paths: Ragged) -> Ragged:
        needed = np.maximum(_needed(self.sets.sizes, self.share), 1)

        def work(evidence: Ragged, at: Array) -> Ragged:
            own = paths.take(at)
            values, ends = _native.longer_paths(
                evidence.values,
                evidence.offsets,
                self.rarity,
                needed[at],
                own.values,
                own.offsets,
                FEW_BITS,
                self.depth,
            )
            return Ragged(values, ends)

        chosen = np.flatnonzero(paths.lengths)
        longer = Ragged.concat(self.sets.of(chosen, work), np.uint64)
        lengths = np.zeros(len(paths), np.int64)
        lengths[chosen] = longer.lengths
        return Ragged(longer.values, offsets_of(lengths))

    def _meet(self, paths: Ragged) -> list[_Part]:
        bits = min((len(paths.values) // PART_PATHS).bit_length(), 4)
        place = np.empty(len(self.by_size), np.uint32)
        place[self.by_size] = np.arange(len(place), dtype=np.uint32)

        def part(number: int) -> _Part:
            columns = paths.values, paths.offsets, self.by_size, place
            rounds: tuple[Any, ...] = *self._outlines, FEW_BITS, self.depth, number, bits
            return _Part(*_native.meet(*columns, *rounds))

        return list(self.sets.pool.map(part, range(1 << bits)))


def _needed(sizes: Array, share: Fraction) -> Array:
    return np.asarray(-(-sizes * share.numerator // share.denominator)).astype(np.int64)


def _going_on(met: list[_Part], count: int) -> Ragged:
    paths = np.concatenate([part.open for part in met])
    documents = np.concatenate([part.documents for part in met])
    lengths = np.bincount(documents, minlength=count)
    return Ragged(paths[np.argsort(documents, kind="stable")], offsets_of(lengths))
