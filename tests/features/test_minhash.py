"""MinHash: against its twin, and measured against the ideal it is said to reach.

Features are random 64-bit values here, as the scramble of shingles makes them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.methods import minhash
from neardup.methods.minhash import Bands, choose_bands, multipliers
from reference import minhash as twin

FEATURE = st.integers(0, 2**64 - 1)


@given(st.lists(FEATURE, max_size=40), st.sampled_from([16, 32, 112, 128, 144, 256]))
def test_minima_equal_twin(features: list[int], count: int) -> None:
    family = multipliers(count)
    made = _native.minhash(np.array(features, np.uint64), family)
    assert made.tolist() == twin.minima(features, family.tolist())


def test_no_features_give_the_largest_value() -> None:
    assert set(_native.minhash(np.empty(0, np.uint64), multipliers(16)).tolist()) == {2**32 - 1}


def test_shorter_families_are_prefixes_of_longer_ones() -> None:
    whole = multipliers(minhash.MOST_VALUES)
    for count in (8, 16, 84, 128, 500):
        family = multipliers(count)
        assert len(family) % minhash.LANES == 0
        assert np.array_equal(family, whole[: len(family)])


@pytest.mark.parametrize("bits", range(4, 13))
def test_multipliers_differ_modulo_the_next_power_of_two(bits: int) -> None:
    family = multipliers(1 << bits).astype(np.int64)
    assert len(np.unique(family % (1 << bits))) == 1 << bits


def agreements(
    r: float, *, size: int = 40, pairs: int = 3000, values: int = 128, seed: int = 1
) -> npt.NDArray[np.bool_]:
    """Pairs of random sets whose resemblance is exactly ``shared / (2·size − shared)`` = r."""
    shared = round(2 * size * r / (1 + r))
    rng = np.random.default_rng(seed)
    family = multipliers(values)
    agree = np.empty((pairs, values), np.bool_)
    for i in range(pairs):
        features = rng.integers(0, 2**64, 2 * size - shared, np.uint64)
        a = _native.minhash(features[:size], family)
        b = _native.minhash(features[size - shared :], family)
        agree[i] = (a == b)[:values]
    return agree


# (shared features of two sets of 40) → resemblance
RESEMBLANCES = [1 / 4, 1 / 3, 3 / 5, 9 / 11, 39 / 41]


@pytest.mark.parametrize("r", RESEMBLANCES)
def test_the_estimate_is_unbiased_with_binomial_variance(r: float) -> None:
    estimate = agreements(r).mean(axis=1)
    pairs, m = len(estimate), 128
    ideal = r * (1 - r) / m
    # the mean of 3,000 estimates: four of its standard errors
    assert abs(estimate.mean() - r) < 4 * (ideal / pairs) ** 0.5
    # A sample variance of 3,000 values has a relative standard error of √(2/3000) = 2.6 % (a
    # little more for skewed r); 12 % is over four of those. Correlated positions would show
    # as a multiple: the family y + a·x of 32 bits alone has several times the ideal.
    assert 0.88 < estimate.var(ddof=1) / ideal < 1.12


@pytest.mark.parametrize("r", [1 / 3, 9 / 11])
def test_positions_are_pairwise_uncorrelated(r: float) -> None:
    agree = agreements(r, pairs=4000, values=64, seed=2).astype(np.float64)
    correlation = np.corrcoef(agree, rowvar=False)
    off = correlation[np.triu_indices(64, 1)]
    # 2,016 correlations of 4,000 samples each: standard error 1/√4000 = .0158
    assert abs(off.mean()) < 4 * 0.0158 / len(off) ** 0.5
    assert np.abs(off).max() < 5.5 * 0.0158
    assert 0.9 < off.std() / 0.0158 < 1.1


def test_each_value_is_uniform() -> None:
    """The minimum of n uniform values has mean 1/(n+1)."""
    rng = np.random.default_rng(3)
    family = multipliers(128)
    sets = rng.integers(0, 2**64, (2000, 9), np.uint64)
    means = np.mean([_native.minhash(one, family) for one in sets]) / 2**32
    sigma = (9 / (10**2 * 11) / (2000 * 128)) ** 0.5  # pairwise independent: variances add
    assert abs(means - 1 / 10) < 5 * sigma


# threshold → bands, rows, miss rate at the threshold, for 128 values and a limit of .001.
# None: a prefix join. A change here changes keys: a changelog line and a new format version.
BANDS = {
    0.25: None,
    0.3: (253, 3, 9.83e-04),
    0.35: (158, 3, 9.84e-04),
    0.4: (105, 3, 9.64e-04),
    0.5: (52, 3, 9.65e-04),
    0.6: (42, 3, 3.64e-05),
    0.7: (32, 4, 1.53e-04),
    0.75: (32, 4, 5.17e-06),
    0.8: (25, 5, 4.89e-05),
    0.85: (18, 7, 9.52e-04),
    0.9: (16, 8, 1.23e-04),
    0.95: (10, 12, 4.21e-04),
    1.0: (1, 128, 0.0),
}


@pytest.mark.parametrize("threshold", BANDS)
def test_the_table_of_bands(threshold: float) -> None:
    chosen = choose_bands(threshold, 128, 0.001)
    expected = BANDS[threshold]
    if expected is None:
        assert chosen is None
        return
    assert chosen is not None
    assert (chosen.bands, chosen.rows) == expected[:2]
    assert chosen.miss_rate(threshold) == pytest.approx(expected[2], rel=0.02)


@given(
    st.floats(0.05, 1.0),
    st.integers(8, 512),
    st.sampled_from([0.1, 0.01, 0.001, 1e-6]),
)
def test_chosen_bands_keep_the_promise(t: float, values: int, limit: float) -> None:
    chosen = choose_bands(t, values, limit)
    if chosen is None:
        return
    assert chosen.miss_rate(t) <= limit
    assert chosen.rows >= minhash.FEWEST_ROWS or chosen.rows == values
    assert chosen.values <= max(values, minhash.VALUES_LIMIT)
    if chosen.values <= values and chosen.rows < values:
        fuller = Bands(values // (chosen.rows + 1), chosen.rows + 1)
        assert fuller.miss_rate(t) > limit  # the most rows that serve


@pytest.mark.parametrize(
    ("r", "bands"), [(1 / 3, Bands(12, 3)), (3 / 5, Bands(6, 5)), (9 / 11, Bands(5, 8))]
)
def test_the_miss_rate_is_what_the_formula_says(r: float, bands: Bands) -> None:
    pairs = 6000
    agree = agreements(r, pairs=pairs, values=bands.values, seed=4)[:, : bands.values]
    met = agree.reshape(pairs, bands.bands, bands.rows).all(axis=2).any(axis=1)
    expected = bands.miss_rate(r)
    sigma = (expected * (1 - expected) / pairs) ** 0.5
    assert abs((~met).mean() - expected) < 4 * sigma
