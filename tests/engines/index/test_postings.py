"""The native postings against a dict of sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from reference.postings import Postings

KEYS = st.lists(st.integers(0, 40) | st.integers((1 << 64) - 5, (1 << 64) - 1), max_size=12)
DOCUMENT = st.tuples(KEYS, st.integers(0, 12))
STEPS = st.lists(st.tuples(DOCUMENT, st.none() | st.integers(0, 1 << 16)), max_size=30)


def array(keys: list[int]) -> Any:
    return np.array(keys, np.uint64)


@given(STEPS, DOCUMENT)
def test_postings_are_those_of_the_twin(steps: Any, asked: tuple[list[int], int]) -> None:
    native, twin, count = _native.Postings(), Postings(), 0
    for (keys, probes), sweep in steps:
        native.add(array(keys), probes, count)
        twin.add(keys, probes, count)
        count += 1
        if sweep is not None:  # its bits say who stays
            alive = np.array([bool(sweep >> (n % 16) & 1) for n in range(count)])
            numbers = np.where(alive, np.cumsum(alive) - 1, -1)
            native.keep(numbers)
            twin.keep(numbers.tolist())
            count = int(alive.sum())
        assert len(native) == len(twin)
        for some, looks in (asked, (keys, probes)):
            assert native.meet(array(some), looks).tolist() == twin.meet(some, looks)


@given(st.lists(DOCUMENT, max_size=30), DOCUMENT, st.integers(1, 3), st.integers(1, 4))
def test_those_that_share_most_are_met(
    documents: Any, asked: tuple[list[int], int], least: int, most: int
) -> None:
    native, twin = _native.Postings(), Postings()
    for number, (keys, probes) in enumerate(documents):
        native.add(array(keys), probes, number)
        twin.add(keys, probes, number)
    keys, looks = asked
    met = native.meet(array(keys), looks, least, most).tolist()
    assert met == twin.meet(keys, looks, least, most)


def test_a_check_does_not_grow_with_a_key_that_all_have() -> None:
    """Beyond what a document looks at, the smallest lists count, and a copy is still met."""
    native, most = _native.Postings(), 8
    for number in range(4_000):
        native.add(array([1, 2, 3, 10_000 + number]), 4, number)
    met = native.meet(array([1, 2, 3, 10_042]), 4, 1, most)
    assert len(met) == most
    assert 42 in met


def test_many_keys_of_many_documents() -> None:
    rng = np.random.default_rng(5)
    native, twin = _native.Postings(), Postings()
    rows = rng.integers(0, 5000, (400, 50)).astype(np.uint64)
    for number, keys in enumerate(rows):
        native.add(keys, 50, number)
        twin.add(keys.tolist(), 50, number)
    for keys in rows[:50]:
        assert native.meet(keys, 50).tolist() == twin.meet(keys.tolist(), 50)
    full = native.bytes
    native.keep(np.where(np.arange(400) < 40, np.arange(400), -1))
    assert native.bytes < full / 4  # given back
