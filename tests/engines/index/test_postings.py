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
