"""Paths: the kernels against their twins, and what is missed against the bound."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import chain, combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.matching import paths as path_depth
from neardup.matching.paths import FEWEST_REPETITIONS, MOST_DEPTH, repetitions
from neardup.schema import Ragged, offsets_of
from reference import paths as twin

FEATURES = st.sets(st.integers(0, 2**32 - 1), min_size=1, max_size=30).map(sorted)
SHARES = st.sampled_from([Fraction(1, 2), Fraction(4, 5), Fraction(1)])
ROOT = 0x0123456789ABC000


def ragged(sets: list[Any], dtype: Any) -> Ragged:
    values = np.concatenate([np.empty(0, dtype), *(np.array(s, dtype) for s in sets)])
    return Ragged(values, offsets_of(np.array([len(s) for s in sets], np.int64)))


@given(
    FEATURES,
    st.integers(1, 40),
    st.integers(0, 20),
    st.integers(1, 6),
    st.lists(st.integers(1, 60), min_size=8, max_size=8),
)
def test_paths_equal_the_twin(
    features: list[int], m: int, crowd: int, deepest: int, rarity: list[int]
) -> None:
    m = max(m, len(features) // 2)  # else everything is chosen again and again
    start = [ROOT | crowd << 4, ROOT * 7 & twin.HASH | crowd << 4 | 1]
    own, sets = ragged([start], np.uint64), ragged([features], np.uint32)
    found, ends = _native.longer_paths(
        sets.values,
        sets.offsets,
        np.array(rarity, np.uint8),
        np.array([m], np.int64),
        own.values,
        own.offsets,
        3,
        deepest,
    )
    made = (twin.longer(path, features, rarity, m, 3, deepest) for path in start)
    assert found.tolist() == list(chain.from_iterable(made))
    assert ends.tolist() == [0, len(found)]


@given(FEATURES, FEATURES, st.integers(1, 12))
def test_sketches_bound_what_is_shared(a: list[int], b: list[int], bits: int) -> None:
    sets = ragged([a, b], np.uint32)
    words, ends = _native.parity_sketches(sets.values, sets.offsets, bits, 1)
    sketches = Ragged(words, ends)
    for i, features in enumerate((a, b)):
        count = len(sketches[i])
        assert count & count - 1 == 0
        assert count * 64 >= len(features) * bits
        on = {
            64 * w + bit
            for w in range(count)
            for bit in range(64)
            if int(sketches[i][w]) >> bit & 1
        }
        assert on == twin.parity(features, count)
    words_of_both = min(map(len, (sketches[0], sketches[1])))
    differing = len(twin.parity(a, words_of_both) ^ twin.parity(b, words_of_both))
    assert len({*a} & {*b}) <= (len(a) + len(b) - differing) // 2


@given(
    st.lists(st.tuples(FEATURES, st.sets(st.integers(1, 6), max_size=4)), min_size=1, max_size=12),
    SHARES,
    st.integers(0, 3),
    st.booleans(),
    st.integers(0, 2),
)
def test_who_meets_equals_the_twin(
    documents: list[tuple[list[int], set[int]]],
    share: Fraction,
    few_bits: int,
    deepest: bool,
    part_bits: int,
) -> None:
    """Every pair of a path is compared, goes on, or is in a crowd."""
    sets = ragged([features for features, _ in documents], np.uint32)
    on = ragged([sorted(p << 61 | 1 for p in paths) for _, paths in documents], np.uint64)
    sizes = sets.lengths
    sketches = Ragged(*_native.parity_sketches(sets.values, sets.offsets, 2, 1))
    by_size = np.argsort(sizes, kind="stable").astype(np.uint32)
    place = np.argsort(by_size, kind="stable").astype(np.uint32)
    depth = 1 if deepest else 2
    pairs, left = set(), defaultdict(set)
    for part in range(1 << part_bits):
        found, paths, who, members, ends, _ = _native.meet(
            on.values, on.offsets, by_size, place, sizes, sketches.values, sketches.offsets,
            share.numerator, share.denominator, few_bits, depth, part, part_bits,
        )  # fmt: skip
        pairs |= {(int(p) >> 32, int(p) & 0xFFFFFFFF) for p in found}
        for path, document in zip(paths.tolist(), who.tolist(), strict=True):
            left[path & twin.HASH].add(document)
        for crowd, (begin, end) in enumerate(pairwise(ends)):
            left[-crowd - 1 - 100 * part] = {*members[begin:end].tolist()}
        assert not (deepest and len(paths))
    for i, j in combinations(range(len(documents)), 2):
        together = documents[i][1] & documents[j][1]
        near = min(sizes[i], sizes[j]) >= share * int(max(sizes[i], sizes[j]))
        words = min(len(sketches[i]), len(sketches[j]))
        may = near and twin.may_pass(documents[i][0], documents[j][0], words, share)
        one, other = np.array([i], np.uint32), np.array([j], np.uint32)
        outlines = sizes, sketches.values, sketches.offsets, share.numerator, share.denominator
        assert _native.may_pass(*outlines, one, other).tolist() == [may]
        waiting = any({i, j} <= group for group in left.values())
        assert (i, j) not in pairs or (together and may)
        assert not (together and may) or (i, j) in pairs or waiting


def alive(depth: int) -> float:
    chance = 1.0
    for _ in range(depth):
        chance = 1 - math.exp(-chance)
    return chance


def test_repetitions_keep_the_miss_rate() -> None:
    for depth in range(1, MOST_DEPTH + 1):
        for limit in (0.01, 0.001, 1e-6):
            enough = repetitions(depth, limit)
            assert (1 - alive(depth)) ** enough <= limit
            assert enough == FEWEST_REPETITIONS or (1 - alive(depth)) ** (enough - 1) > limit


@pytest.mark.parametrize("size", [17, 50, 400])
@pytest.mark.parametrize("depth", [3, 8])
def test_no_more_is_missed_than_stated(size: int, depth: int) -> None:
    """Pairs exactly at the threshold that share no path, among 3,000; a miss rate of some 5 %, so
    that it can be seen, and three standard deviations of room."""
    rng = np.random.default_rng(size + depth)
    count, needed = 3000, -(-size * 4 // 5)
    trees = math.ceil(math.log(0.05) / math.log1p(-alive(depth)))
    bound = (1 - alive(depth)) ** trees
    sets = []
    for _ in range(count):
        features = rng.integers(0, 2**32, 2 * size - needed).astype(np.uint32)
        sets.append(np.sort(features[:size]))
        sets.append(np.sort(np.concatenate([features[:needed], features[size:]])))
    evidence = ragged(sets, np.uint32)
    roots = (np.arange(1, trees + 1).astype(np.uint64) * np.uint64(ROOT + 0x4000)) & np.uint64(
        twin.HASH
    )
    # So many are on every path that none ends before the deepest.
    own = ragged([roots | np.uint64(63 << 4)] * len(sets), np.uint64)
    found = Ragged(
        *_native.longer_paths(
            evidence.values,
            evidence.offsets,
            np.ones(1, np.uint8),
            np.full(len(sets), needed, np.int64),
            own.values,
            own.offsets,
            0,
            depth,
        )
    )
    missed = sum(not len(np.intersect1d(found[2 * i], found[2 * i + 1])) for i in range(count))
    assert missed / count <= bound + 3 * math.sqrt(bound / count)


def test_depth_grows_with_the_collection_and_with_how_common_features_are() -> None:
    common, rare = np.zeros(256), np.zeros(256)
    common[8], rare[64] = 1, 1  # in half of all documents; in one of 256
    depths = [path_depth.path_depth(n, 5, Fraction(4, 5), common) for n in (100, 1000, 10_000)]
    assert depths == sorted(depths)
    assert depths[0] < depths[-1] <= MOST_DEPTH
    assert path_depth.path_depth(10_000, 5, Fraction(4, 5), rare) < depths[-1]
