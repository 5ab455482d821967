"""Which words are matched: against tables, on small alphabets, and on long and hostile inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq

from neardup import _native
from neardup.schema import Array
from reference import alignment as reference
from reference.alignment import Block
from repeats import examples

SETTINGS = examples(100)

few_words = st.lists(st.integers(1, 4), max_size=40)
many_words = st.lists(st.integers(1, 30), max_size=40)
pieces = st.lists(st.sampled_from([range(1, 9), range(9, 20), range(20, 23), [1], [50], [9, 50]]))
cut_up = pieces.map(lambda parts: [word for part in parts for word in part])
some_words = st.one_of(few_words, many_words, cut_up)


@dataclass(frozen=True)
class Matched:
    """Rows of place in a, place in b, words."""

    in_order: Array
    moved: Array
    whole: bool

    @property
    def words(self) -> int:
        return int(self.in_order[:, 2].sum())

    @property
    def blocks(self) -> list[Block]:
        return [(a, b, size) for a, b, size in self.in_order.tolist()]


def match(a: list[int] | Array, b: list[int] | Array, *, by_chance: bool = False) -> Matched:
    given = (np.asarray(words, np.uint64) for words in (a, b))
    in_order, moved, whole = _native.match_words(*given, by_chance)
    return Matched(*(rows.reshape(-1, 3).astype(np.int64) for rows in (in_order, moved)), whole)


def places(blocks: Array, side: int) -> Array:
    """Of all words, one after the other."""
    sizes = blocks[:, 2]
    return np.repeat(blocks[:, side] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())


def assert_sound(a: list[int] | Array, b: list[int] | Array, found: Matched) -> None:
    """Runs are equal words; those in order rise on both sides; no word is used twice."""
    both = np.concatenate([found.in_order, found.moved])
    assert (both[:, 2] > 0).all()
    assert (np.asarray(a)[places(both, 0)] == np.asarray(b)[places(both, 1)]).all()
    for side in (0, 1):
        assert (np.diff(places(found.in_order, side)) > 0).all()
        assert (np.diff(np.sort(places(both, side))) > 0).all()


@SETTINGS
@given(some_words, some_words)
def test_short_texts_share_as_many_words_as_can_be(a: list[int], b: list[int]) -> None:
    found = match(a, b, by_chance=True)
    assert_sound(a, b, found)
    assert found.whole
    assert found.words == reference.longest_common(a, b) == match(b, a, by_chance=True).words


@SETTINGS
@given(some_words, some_words)
def test_chance_is_what_the_twin_says(a: list[int], b: list[int]) -> None:
    found = match(a, b, by_chance=True)
    left = reference.without_chance(found.blocks, (len(a), len(b)))
    assert match(a, b).blocks == left


@SETTINGS
@given(cut_up, cut_up)
def test_nothing_of_eight_words_is_left_to_be_moved(a: list[int], b: list[int]) -> None:
    found = match(a, b)
    assert_sound(a, b, found)
    assert (found.moved[:, 2] >= reference.LEAST_MOVED).all()
    assert (np.diff(found.moved[:, 0]) > 0).all()
    taken = np.concatenate([found.in_order, found.moved])
    left = reference.free_runs(len(a), places(taken, 0).tolist())
    right = reference.free_runs(len(b), places(taken, 1).tolist())
    assert not reference.grams(a, left) & reference.grams(b, right)


def text(words: int, vocabulary: int, seed: int) -> Array:
    """As in texts, the word of rank r is one r-th as frequent as the first (Zipf)."""
    drawn = float(vocabulary) ** np.random.default_rng(seed).random(words)
    return drawn.astype(np.uint64)


def edited(words: Array, edits: int, seed: int) -> Array:
    """Some words replaced, added or left out."""
    places = np.random.default_rng(seed).choice(len(words), edits, replace=False)
    replaced, added, left_out = np.array_split(places, 3)
    changed = words.copy()
    changed[replaced] = 7
    return np.delete(np.insert(changed, added, 7), left_out)


@pytest.mark.parametrize("apart", [0, 20, 40, 150, 400])
@pytest.mark.parametrize("vocabulary", [30, 3000])
def test_words_far_off_the_diagonal_are_shared(vocabulary: int, apart: int) -> None:
    """Whatever the width of the band that is computed first."""
    common, own = edited(text(550, vocabulary, 1), 60, 2), text(2 * apart, vocabulary, 3)
    a, b = np.concatenate([own[:apart], common]), np.concatenate([common[::-1], own[apart:]])
    for one in (b, np.concatenate([text(550, vocabulary, 1), own[apart:]])):
        found = match(a, one, by_chance=True)
        assert_sound(a, one, found)
        assert found.words == LCSseq.similarity(a.tolist(), one.tolist())


@pytest.mark.parametrize("edits", [5, 100, 1000])
@pytest.mark.parametrize("vocabulary", [300, 30_000])
def test_longer_texts_share_nearly_as_many(vocabulary: int, edits: int) -> None:
    a = text(6000, vocabulary, 1)
    b = edited(a, edits, 2)
    found = match(a, b, by_chance=True)
    assert_sound(a, b, found)
    assert found.whole
    assert found.words >= 0.98 * LCSseq.similarity(a.tolist(), b.tolist())


def test_unlike_texts_share_nothing() -> None:
    assert match(text(3000, 5000, 1), text(3000, 5000, 2)).words < 30


def test_swapped_halves_are_moved() -> None:
    a = text(30_000, 10**6, 1)
    b = np.concatenate([a[18_000:], a[:18_000]])
    found = match(a, b)
    assert_sound(a, b, found)
    assert found.in_order.tolist() == [[0, 12_000, 18_000]]
    assert found.moved.tolist() == [[18_000, 0, 12_000]]


MILLION = 1_700_000  # words of a text of 10 MB


def drawn(seed: int) -> Array:
    return text(MILLION, 10**6, seed)


# Functions: made when a test runs, not in each process that looks for tests.
@pytest.mark.parametrize(
    ("pair", "least", "whole"),
    [
        (lambda: (drawn(1), drawn(2)), 0, None),
        (lambda: (drawn(1), drawn(1)), MILLION, True),
        (lambda: (drawn(1), edited(drawn(1), 100_000, 2)), 1_500_000, True),
        (lambda: (np.ones(MILLION), np.ones(MILLION - 7)), MILLION - 7, True),
        (
            lambda: (np.tile([1, 2], MILLION // 2), np.tile([2, 1, 1], MILLION // 3)),
            1_100_000,
            False,
        ),
        (lambda: (text(MILLION, 3, 1), text(MILLION, 3, 2)), 500_000, None),
        (lambda: (drawn(1), np.empty(0)), 0, True),
        (lambda: (drawn(1), np.ones(3)), 0, True),
    ],
    ids=["unlike", "itself", "edited", "one word", "in turn", "two words", "empty", "short"],
)
def test_any_length_is_aligned(
    pair: Callable[[], tuple[Array, Array]], least: int, whole: bool | None
) -> None:
    a, b = pair()
    found = match(a, b)
    assert_sound(a, b, found)
    assert found.words >= least
    assert found.whole == (found.whole if whole is None else whole)


def test_a_long_shuffled_text_is_moved() -> None:
    a = text(MILLION, 10**6, 1)
    parts = np.split(a, MILLION // 1000)
    order = np.random.default_rng(3).permutation(len(parts))
    found = match(a, np.concatenate([parts[i] for i in order]))
    assert found.words + found.moved[:, 2].sum() > 0.98 * MILLION
