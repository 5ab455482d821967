from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.matching.candidates import leaders
from reference import matching as twin


@given(st.data(), st.integers(0, 25))
def test_leaders_equal_twin(data: st.DataObject, count: int) -> None:
    half = st.integers(0, 2) | st.just(2**64 - 1)
    digests = data.draw(st.lists(st.tuples(half, half), min_size=count, max_size=count))
    rank = data.draw(st.permutations(range(count)))
    codes = st.lists(st.integers(-1, 2), min_size=count, max_size=count)
    within = data.draw(st.none() | codes)
    made = leaders(
        np.array(digests, np.uint64).reshape(-1, 2),
        np.array(rank, np.int64),
        None if within is None else np.array(within, np.int64),
    )
    assert made.tolist() == twin.leaders(digests, rank, within)
