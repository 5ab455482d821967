"""Words in the same order against a slow twin, and what the shares promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.features.similarity import MADE_OF_ORDER, align, vectors
from neardup.schema import Ragged, offsets_of
from reference import aligned as twin

NAMES = tuple(f"aligned_{made}" for made in MADE_OF_ORDER)
WORDS = st.integers(0, 30) | st.sampled_from([2**31, 2**32 - 1])
LISTS = st.lists(WORDS, max_size=40)


@st.composite
def edited(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Two texts of which one was made of the other: cut into parts, some moved, dropped or new."""
    text = draw(LISTS)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    parts = [text[i:j] for i, j in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    parts += draw(st.lists(st.lists(WORDS, max_size=4), max_size=2))
    return text, [word for part in draw(st.permutations(parts)) for word in part]


PAIRS = st.tuples(LISTS, LISTS) | edited()


def profiles(*texts: list[int]) -> Ragged:
    rows = [[len(text), *twin.stored(text)] for text in texts]
    values = np.array([value for row in rows for value in row], np.uint64)
    return Ragged(values, offsets_of(np.array([len(row) for row in rows])))


def found(one: list[int], other: list[int]) -> tuple[int, ...]:
    made = align(profiles(one, other), np.array([0]), np.array([1]), ["aligned"])
    return tuple(int(column[0]) for column in made)


@given(PAIRS)
def test_kernel_equals_twin(pair: tuple[list[int], list[int]]) -> None:
    expected = twin.aligned(*pair)
    assert found(*pair) == (*map(len, pair), *expected)
    assert found(*pair[::-1]) == (*map(len, pair[::-1]), *expected)


@given(PAIRS)
def test_shares_are_from_0_to_1_and_equal_texts_have_1(pair: tuple[list[int], list[int]]) -> None:
    a, b = np.array([0, 0, 1]), np.array([1, 0, 1])
    made = vectors(profiles(*pair), a, b, NAMES)
    assert ((made >= 0) & (made <= 1)).all()
    assert made[1:].tolist() == [[float(bool(text))] * len(NAMES) for text in pair]


@given(LISTS.filter(bool), st.lists(st.integers(100, 130), max_size=20), st.data())
def test_an_inserted_passage_costs_the_longer_text_alone(
    text: list[int], new: list[int], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(text)))
    longer = [*text[:at], *new, *text[at:]]
    made = vectors(profiles(text, longer), np.array([0]), np.array([1]), NAMES)
    shares = dict(zip(NAMES, made[0].tolist(), strict=True))
    assert shares["aligned_containment"] == 1.0
    assert shares["aligned_of_larger"] == len(text) / len(longer)
    assert shares["aligned_dice"] == 2 * len(text) / (len(text) + len(longer))


def test_a_passage_that_was_moved_counts_once() -> None:
    first, second = list(range(10)), list(range(50, 56))
    assert found(first + second, second + first) == (16, 16, 10, 10)


@pytest.mark.parametrize("row", [[], [9], [1], [2, 5 << 32 | 7, 6 << 32], [2**63, 1]])
def test_rows_that_are_no_profiles_have_no_words(row: list[int]) -> None:
    good = profiles([1, 2, 3])
    broken = Ragged.concat(
        [good, Ragged(np.array(row, np.uint64), offsets_of(np.array([len(row)])))], np.uint64
    )
    made = align(broken, np.array([0, 1]), np.array([1, 1]), ["aligned"])
    assert np.stack(made, axis=1).tolist() == [[3, 0, 0, 0], [0, 0, 0, 0]]
