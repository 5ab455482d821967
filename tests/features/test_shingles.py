"""Shingle sets against their twin, and the numbers of the papers (docs: METHODS, Shingles)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup import _native
from neardup.text.words import words as words_of
from reference import shingles as twin

WORD = st.integers(0, 2**64 - 1)
FEW_WORDS = st.integers(0, 2)  # heavy repeats


def native(words: list[int], width: int) -> list[int]:
    return _native.shingle_set(np.array(words, np.uint64), width).tolist()


@given(st.lists(WORD | FEW_WORDS, max_size=90), st.integers(1, 32))
@example([], 5)
@example([7], 32)
@example([2**64 - 1] * 40, 32)
def test_set_equals_twin(words: list[int], width: int) -> None:
    hashes = _native.shingle_hashes(np.array(words, np.uint64), width)
    assert hashes.tolist() == twin.shingle_hashes(words, width)
    assert native(words, width) == twin.shingle_set(words, width)


@given(st.lists(FEW_WORDS, min_size=30, max_size=3000), st.integers(1, 32))
def test_heavy_repeats(words: list[int], width: int) -> None:
    assert native(words, width) == twin.shingle_set(words, width)


@pytest.mark.parametrize("count", [1, 15, 16, 17, 31, 32, 33, 65_535, 65_536, 70_000])
def test_sizes_around_the_buckets_of_the_sort(count: int) -> None:
    words = np.random.default_rng(count).integers(0, 2**64, count, np.uint64)
    made = _native.shingle_set(words, 1)
    expected = sorted({twin.scramble(word) >> 32 for word in words.tolist()})
    assert made.tolist() == expected


def test_a_million_repeats_of_one_word_are_one_feature() -> None:
    made = _native.shingle_set(np.full(1_000_000, 12345, np.uint64), 5)
    assert made.tolist() == [twin.scramble(twin.cyclic([12345] * 5)) >> 32]


@given(st.lists(WORD, min_size=2, max_size=32, unique=True))
def test_the_order_of_words_counts(words: list[int]) -> None:
    assert native(words, 32) != native(words[::-1], 32)


def test_crowded_buckets_are_sorted_too() -> None:
    """Hashes that agree in their leading bits, as a chosen attack would make them."""
    rng = np.random.default_rng(8)
    wanted = rng.integers(0, 2**40, 4000, np.uint64) | np.uint64(0xABC << 52)
    words = np.array([unscramble(int(hash_)) for hash_ in wanted], np.uint64)
    made = _native.shingle_set(words, 1)
    assert made.tolist() == sorted({int(hash_) >> 32 for hash_ in wanted})


def unscramble(x: int) -> int:
    """The inverse of the bijection: how one would make texts of any hash."""
    x ^= x >> 31 ^ x >> 62
    x = x * pow(0x94D049BB133111EB, -1, 1 << 64) & twin.MASK
    x ^= x >> 27 ^ x >> 54
    x = x * pow(0xBF58476D1CE4E5B9, -1, 1 << 64) & twin.MASK
    return x ^ x >> 30 ^ x >> 60


@given(st.integers(1, 32), st.lists(WORD, min_size=1, max_size=32))
def test_fewer_words_than_the_width_are_one_shingle(width: int, words: list[int]) -> None:
    assert len(native(words[:width], width)) == 1


ROSE = ("a rose is red a rose is white", "a rose is white a rose is red")


def features(text: str, width: int) -> set[int]:
    hashes = _native.hash_words(*_buffers(words_of(text)))
    return set(native(hashes.tolist(), width))


def _buffers(words: list[str]) -> tuple[np.ndarray, np.ndarray]:
    from neardup.text.words import buffers

    return buffers(words)


@pytest.mark.parametrize(
    ("width", "expected"), [(1, "1"), (2, "2/3"), (3, "3/7"), (4, "2/8"), (5, "0")]
)
def test_the_lecture_on_roses(width: int, expected: str) -> None:
    a, b = (features(text, width) for text in ROSE)
    assert twin.resemblance(a, b) == Fraction(expected)


def test_containment_of_roses() -> None:
    a, b = (features(text, 4) for text in ROSE)
    assert twin.containment(a, b) == Fraction(2, 5)


SETS = st.lists(st.lists(st.integers(0, 60), unique=True, max_size=60).map(sorted), min_size=1)


@given(SETS, st.data())
def test_overlaps_equal_twin(sets: list[list[int]], data: st.DataObject) -> None:
    index = st.integers(0, len(sets) - 1)
    pairs = data.draw(st.lists(st.tuples(index, index), max_size=20))
    _compare(sets, pairs)


@given(
    st.lists(st.integers(0, 10_000), unique=True, max_size=4).map(sorted),
    st.integers(0, 6),
    st.integers(1, 7),
)
def test_overlaps_of_very_unlike_sizes(small: list[int], start: int, step: int) -> None:
    large = list(range(start, 5_000, step))
    _compare([small, large], [(0, 1), (1, 0)])


def _compare(sets: list[list[int]], pairs: list[tuple[int, int]]) -> None:
    values = np.array([v for s in sets for v in s], np.uint32)
    offsets = np.cumsum([0, *map(len, sets)]).astype(np.int64)
    a = np.array([p[0] for p in pairs], np.int64)
    b = np.array([p[1] for p in pairs], np.int64)
    made = _native.overlaps(values, offsets, a, b, np.zeros(len(a), np.int64))
    assert made.tolist() == [len(set(sets[i]) & set(sets[j])) for i, j in pairs]


@given(st.integers(0, 2**32), st.sampled_from([10, 63, 64, 65, 130, 700]), st.integers(0, 700))
def test_unlike_sets_are_left_early_only_when_they_cannot_reach_what_is_needed(
    seed: int, size: int, needed: int
) -> None:
    rng = np.random.default_rng(seed)
    everything = rng.permutation(2 * size).astype(np.uint32)
    cut = int(rng.integers(1, size + 1))
    one, other = np.sort(everything[:size]), np.sort(everything[cut : cut + size])
    values, offsets = np.concatenate([one, other]), np.array([0, size, 2 * size], np.int64)
    a, b = np.array([0, 1], np.int64), np.array([1, 0], np.int64)
    made = _native.overlaps(values, offsets, a, b, np.full(2, needed, np.int64))
    shared = size - cut
    for count in made.tolist():
        assert count == shared if shared >= needed else count <= shared < needed


@given(st.lists(st.binary(max_size=6) | st.sampled_from([b"", b"x"]), min_size=1, max_size=8))
def test_equal_pairs_equal_twin(entries: list[bytes]) -> None:
    values = np.frombuffer(b"".join(entries), np.uint8)
    offsets = np.cumsum([0, *map(len, entries)]).astype(np.int64)
    a, b = (grid.ravel() for grid in np.indices((len(entries), len(entries)), np.int64))
    made = _native.equal_pairs(values, offsets, a, b)
    assert made.tolist() == [entries[i] == entries[j] for i, j in zip(a, b, strict=True)]
