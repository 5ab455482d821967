"""Sketches: kernels against their twins, the lecture's example, estimates against the truth."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.features.measures import estimated_resemblance
from neardup.methods import minhash as sketches
from neardup.schema import Ragged, offsets_of
from reference import minhash as minhash_twin
from reference import shingles as shingles_twin
from reference import sketches as twin

HASH = st.integers(0, 2**64 - 1)
# Few different words, so that shingles repeat; some at the edges of 64 bits.
WORDS = st.lists(st.sampled_from([0, 1, 2**64 - 1, 7, 12345, 2**40]), max_size=30)
ONE_PAIR = np.array([0], np.int64), np.array([1], np.int64)


def ragged(rows: list[list[int]], dtype: type) -> Ragged:
    values = np.array([x for row in rows for x in row], dtype)
    return Ragged(values, offsets_of(np.array([len(row) for row in rows], np.int64)))


@given(st.lists(HASH, max_size=30), st.sampled_from([16, 32, 84, 100]))
def test_classic_minima_equal_twin(hashes: list[int], count: int) -> None:
    a, b = sketches.family("classic", count)
    made = _native.classic_minhash(np.array(hashes, np.uint64), a, b)
    assert made.tolist() == twin.classic(hashes, a.tolist(), b.tolist())


def test_classic_at_the_edges_of_the_prime() -> None:
    """Where a reduction that is done in halves would go wrong first."""
    p = twin.PRIME
    a = np.array([1, p - 1, 1, p - 1, 2, 5, p // 2, p // 5, *[1] * 8], np.uint32)
    b = np.array([0, p - 1, p - 1, 0, p - 2, 5, 1, 4, *range(8)], np.uint32)
    for x in (0, 1, 4, 5, p - 1, p, p + 1, 2**32 - 1, 2**31):
        made = _native.classic_minhash(np.array([x << 32], np.uint64), a, b)
        assert made.tolist() == twin.classic([x << 32], a.tolist(), b.tolist())
    assert twin.PRIME == _native.CLASSIC_PRIME
    assert all(twin.PRIME % d for d in range(2, 2**16))


def test_the_classic_family_is_fixed() -> None:
    a, b = sketches.family("classic", 84)
    assert len(a) == len(b) == 96
    assert (a >= 1).all()
    assert (a < twin.PRIME).all()
    assert (b < twin.PRIME).all()
    longer = sketches.family("classic", 500)
    assert np.array_equal(longer[0][:96], a)
    assert np.array_equal(longer[1][:96], b)
    # A change here changes every stored sketch: see test_golden_vectors of the methods.
    assert a[:3].tolist() == [68466962, 674765297, 3562240064]
    assert b[:3].tolist() == [327585451, 2911177277, 2403931827]


@given(st.lists(WORDS, max_size=5), st.integers(1, 4), st.sampled_from(sketches.FAMILIES), WORDS)
def test_minima_of_documents_equal_twin(
    documents: list[list[int]], width: int, family: str, notice: list[int]
) -> None:
    ignored = np.unique(np.array(shingles_twin.shingle_hashes(notice, width), np.uint64))
    words = ragged(documents, np.uint64)
    rows, shingles = sketches.minima(words, width, ignored, family, 20)
    a, b = (values.tolist()[:20] for values in sketches.family(family, 20))
    for row, count, document in zip(rows, shingles, documents, strict=True):
        hashes = shingles_twin.shingle_hashes(document, width)
        hashes = [hash_ for hash_ in hashes if hash_ not in ignored]
        expected = twin.classic(hashes, a, b) if b else minhash_twin.minima(hashes, a)
        assert row.tolist() == expected
        assert count == len(hashes)


@given(
    st.lists(WORDS, max_size=5),
    st.integers(1, 4),
    st.sampled_from([1, 2, 3, 25]),
    st.sampled_from([0, 1, 3, 100]),
)
def test_samples_equal_twin(
    documents: list[list[int]], width: int, modulus: int, limit: int
) -> None:
    words, nothing = ragged(documents, np.uint64), np.empty(0, np.uint64)
    made = Ragged(
        *_native.sample_features(words.values, words.offsets, width, nothing, modulus, limit)
    )
    for i, document in enumerate(documents):
        hashes = shingles_twin.shingle_hashes(document, width)
        assert made[i].tolist() == twin.smallest(twin.kept(hashes, modulus), limit)


SMALL_SET = st.sets(st.integers(0, 40), max_size=30)


@given(SMALL_SET, SMALL_SET, st.integers(1, 35))
def test_cut_sets_say_what_whole_sets_say_of_the_smallest(
    one: set[int], other: set[int], limit: int
) -> None:
    cut = ragged([twin.smallest(one, limit), twin.smallest(other, limit)], np.uint32)
    shared, whole = _native.bottom_overlaps(cut.values, cut.offsets, *ONE_PAIR, limit)
    assert shared[0] * twin.estimate(one, other, limit).denominator == (
        whole[0] * twin.estimate(one, other, limit).numerator
    )
    assert whole[0] == (limit if max(len(one), len(other)) >= limit else len(one | other))


SEQUENCE = st.lists(st.integers(0, 3), max_size=40)


@given(SEQUENCE, SEQUENCE)
def test_equal_places_and_common_values_equal_twins(one: list[int], other: list[int]) -> None:
    places = ragged([one, other], np.uint32)
    made = _native.equal_places(places.values, places.offsets, *ONE_PAIR)
    assert made.tolist() == [twin.agreeing(one, other)]
    values = ragged([sorted(one), sorted(other)], np.uint64)
    made = _native.common_values(values.values, values.offsets, *ONE_PAIR)
    assert made.tolist() == [twin.common(one, other)]


# The lecture prints five permutations of H(i) = 1000·i, i = 1 … 7.
PRINTED = [
    [568, 1136, 1705, 2273, 2842, 3410, 3979],
    [1150, 2301, 3452, 4602, 5753, 6904, 8054],
    [9223, 8447, 7671, 6895, 6119, 5343, 4567],
    [9376, 8752, 8128, 7504, 6880, 6256, 5633],
    [2976, 5952, 8929, 1905, 4881, 7858, 834],
]


def test_the_sketches_of_the_lecture() -> None:
    a, b = {1, 2, 3, 4, 5}, {1, 2, 5, 6, 7}
    psi_a, psi_b = ([min(pi[i - 1] for i in one) for pi in PRINTED] for one in (a, b))
    assert psi_a == [568, 1150, 6119, 6880, 1905]
    assert psi_b == [568, 1150, 4567, 5633, 834]
    assert estimated_resemblance(psi_a, psi_b) == 2 / 5
    assert twin.estimate(a, b, 0) == pytest.approx(3 / 7)


def estimates(functions: str, r: float, size: int, pairs: int) -> npt.NDArray[np.float64]:
    """Of 84 minima, for pairs of random sets whose resemblance is exactly r."""
    shared = round(2 * size * r / (1 + r))
    rng = np.random.default_rng(5)
    family = sketches.family(functions, 84)
    minhash = _native.minhash if functions == "fast" else _native.classic_minhash
    arguments = family[:1] if functions == "fast" else family
    found = np.empty(pairs)
    for i in range(pairs):
        features = rng.integers(0, 2**64, 2 * size - shared, np.uint64)
        a = minhash(features[:size], *arguments)
        b = minhash(features[size - shared :], *arguments)
        found[i] = (a == b)[:84].mean()
    return found


@pytest.mark.parametrize("functions", sketches.FAMILIES)
@pytest.mark.parametrize(("r", "size"), [(1 / 3, 40), (3 / 5, 40), (9 / 11, 40), (1 / 3, 400)])
def test_the_estimate_has_the_stated_standard_error(functions: str, r: float, size: int) -> None:
    """√(r(1−r)/84), for both families; 12 % is over four standard errors of the variance."""
    found = estimates(functions, r, size, 3000)
    ideal = r * (1 - r) / 84
    assert abs(found.mean() - r) < 4 * (ideal / len(found)) ** 0.5
    assert 0.88 < found.var(ddof=1) / ideal < 1.12


@pytest.mark.parametrize(("r", "limit"), [(1 / 3, 100), (3 / 5, 100), (9 / 11, 400)])
def test_the_bottom_estimate_is_unbiased(r: float, limit: int) -> None:
    """With at most the variance r(1−r)/s: values are drawn without replacement."""
    size = 1000
    shared = round(2 * size * r / (1 + r))
    rng = np.random.default_rng(6)
    found = np.empty(3000)
    for i in range(len(found)):
        features = rng.integers(0, 2**32, 2 * size - shared, np.uint32)
        sets = [np.unique(part)[:limit] for part in (features[:size], features[size - shared :])]
        cut = Ragged(np.concatenate(sets), offsets_of(np.array([len(one) for one in sets])))
        common, whole = _native.bottom_overlaps(cut.values, cut.offsets, *ONE_PAIR, limit)
        found[i] = common[0] / whole[0]
    truth = shared / (2 * size - shared)
    ideal = truth * (1 - truth) / limit
    assert abs(found.mean() - truth) < 4 * (ideal / len(found)) ** 0.5
    assert found.var(ddof=1) / ideal < 1.12
