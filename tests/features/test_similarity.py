"""The similarity vector against dictionaries and fractions, and what its measures promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.errors import SettingsError
from neardup.features import similarity
from neardup.features.similarity import LENGTH, MADE_OF, SIZES, SUMS, Family, vectors
from neardup.schema import Array, Ragged, offsets_of
from reference import similarity as twin
from reference.similarity import Entry, Features

Profile = list[dict[int, Entry]]

FEW = ("words1", "keywords")  # families that profiles of these tests hold
NAMES = (*(f"{family}_{made}" for family in FEW for made in MADE_OF), LENGTH)
FEATURE = st.integers(0, 7) | st.sampled_from([2**31, 2**32 - 1])
WEIGHT = st.integers(1, 2**18)
KIND_OF = st.fixed_dictionaries({f: st.integers(0, 3) for f in [*range(8), 2**31, 2**32 - 1]})


@st.composite
def collections(draw: st.DrawFn, *, one_weight: bool = False) -> list[Profile]:
    """A feature is of one class in all documents; with ``one_weight`` it weighs the same, too, as
    all but keywords do."""
    kind_of = draw(KIND_OF)
    own = {feature: draw(WEIGHT) for feature in kind_of}

    def family() -> dict[int, Entry]:
        chosen = sorted(draw(st.sets(FEATURE)))
        return {
            f: Entry(own[f] if one_weight or draw(st.booleans()) else draw(WEIGHT), kind_of[f])
            for f in chosen
        }

    return [[family() for _ in FEW] for _ in range(draw(st.integers(1, 4)))]


def ragged(rows: list[list[int]]) -> Ragged:
    values = np.array([value for row in rows for value in row], np.uint64)
    return Ragged(values, offsets_of(np.array([len(row) for row in rows])))


def stored(profiles: list[Profile]) -> Ragged:
    return ragged([twin.row_of(profile) for profile in profiles])


def all_pairs(count: int) -> tuple[Array, Array]:
    a, b = (grid.ravel() for grid in np.indices((count, count), np.int64))
    return a, b


def expected(measure: str, x: Profile, y: Profile) -> float:
    if measure == LENGTH:
        return float(twin.over(min(len(x[0]), len(y[0])), max(len(x[0]), len(y[0]))))
    family, _, made = measure.partition("_")
    at = FEW.index(family)
    return float(twin.MADE_OF[made](x[at], y[at]))


def kernel(rows: Ragged) -> tuple[Any, Any]:
    kept = rows.values, rows.offsets, len(FEW), len(FEW)
    sums = _native.compare_profiles(*kept, *all_pairs(len(rows)))
    sizes = _native.profile_sizes(*kept)
    return sums.reshape(-1, len(FEW), SUMS).tolist(), sizes.reshape(-1, len(FEW), SIZES).tolist()


@given(collections())
def test_sums_and_sizes_equal_twin(profiles: list[Profile]) -> None:
    sums, sizes = kernel(stored(profiles))
    assert sizes == [[twin.sizes(family) for family in profile] for profile in profiles]
    assert sums == [
        [twin.sums(x, y) for x, y in zip(one, other, strict=True)]
        for one in profiles
        for other in profiles
    ]


NO_PROFILE = st.one_of(
    st.lists(st.integers(0, 2**64 - 1), max_size=1),
    st.lists(st.integers(0, 5) | st.integers(2**63 - 2, 2**64 - 1), min_size=2, max_size=6).filter(
        lambda row: row[0] + row[1] != len(row) - 2
    ),
)


@given(collections(), st.lists(NO_PROFILE, min_size=1, max_size=3))
def test_rows_that_are_no_profiles_count_as_empty(
    profiles: list[Profile], broken: list[list[int]]
) -> None:
    rows = [twin.row_of(profile) for profile in profiles]
    nothing = twin.row_of([{} for _ in FEW])
    assert kernel(ragged(rows + broken)) == kernel(ragged(rows + [nothing] * len(broken)))


@given(collections())
def test_every_measure_equals_twin(profiles: list[Profile]) -> None:
    a, b = all_pairs(len(profiles))
    found = vectors(stored(profiles), a, b, NAMES)
    for i, row in enumerate(found):
        x, y = profiles[a[i]], profiles[b[i]]
        # The Euclidean score has the root of what is left of 1, and so half of the digits.
        for name, value in zip(NAMES, row, strict=True):
            exact = 1e-7 if name.endswith("euclidean") else 1e-12
            assert value == pytest.approx(expected(name, x, y), abs=exact), name


@given(collections())
def test_measures_are_symmetric_and_from_0_to_1(profiles: list[Profile]) -> None:
    rows, (a, b) = stored(profiles), all_pairs(len(profiles))
    found = vectors(rows, a, b, NAMES)
    assert ((found >= 0) & (found <= 1)).all()  # NaN is neither
    np.testing.assert_array_equal(found, vectors(rows, b, a, NAMES))


@given(collections())
def test_equal_documents_have_1_where_the_family_has_such_features(
    profiles: list[Profile],
) -> None:
    both = np.arange(len(profiles))
    found = vectors(stored(profiles), both, both, NAMES)
    for profile, row in zip(profiles, found.tolist(), strict=True):
        for name, value in zip(NAMES, row, strict=True):
            family, _, made = name.partition("_")
            features = profile[FEW.index(family) if name != LENGTH else 0]
            if made.startswith("rare"):
                features = dict(twin.uncommon(features))
            whole = 1.0 if features or made == "dice" else 0.0
            assert value == pytest.approx(whole, abs=1e-7), name


@given(collections(one_weight=True), WEIGHT, st.integers(0, 3))
def test_one_more_shared_feature_never_lowers_a_measure(
    profiles: list[Profile], weight: int, kind: int
) -> None:
    more = [[{**family, 1000: Entry(weight, kind)} for family in p] for p in profiles]
    a, b = all_pairs(len(profiles))
    before, after = (vectors(stored(some), a, b, NAMES) for some in (profiles, more))
    np.testing.assert_array_less(before, after + 1e-7)


def test_what_two_new_documents_share_is_known_to_both() -> None:
    """A table that counts neither calls all of it lone; each has as much of its own."""
    own, new = Entry(10, twin.COMMON), Entry(10, twin.LONE)
    pair: list[Profile] = [[{1: own, 9: new}], [{2: own, 9: new}]]
    names = ("words1_known", "words1_known_containment", "words1_idf")
    found = vectors(stored(pair), np.array([0]), np.array([1]), names)
    assert found.tolist() == [[1 / 3, 1 / 2, 1 / 3]]


def test_no_pairs_and_no_documents() -> None:
    nothing = np.empty(0, np.int64)
    for rows in (ragged([]), stored([[{}, {}]])):
        assert vectors(rows, nothing, nothing, NAMES).shape == (0, len(NAMES))


@given(collections(), st.integers(1, 5))
def test_pairs_in_chunks_are_the_same(profiles: list[Profile], size: int) -> None:
    rows, (a, b) = stored(profiles), all_pairs(len(profiles))
    parts = [vectors(rows, a[i : i + size], b[i : i + size], NAMES) for i in range(0, len(a), size)]
    np.testing.assert_array_equal(np.concatenate(parts), vectors(rows, a, b, NAMES))


@given(collections(), st.permutations(NAMES))
def test_a_column_does_not_depend_on_the_others(
    profiles: list[Profile], shuffled: list[str]
) -> None:
    rows, (a, b) = stored(profiles), all_pairs(len(profiles))
    found, other = vectors(rows, a, b, NAMES), vectors(rows, a, b, shuffled)
    np.testing.assert_array_equal(found[:, [NAMES.index(name) for name in shuffled]], other)


def by_hand(x: tuple[int, ...], y: tuple[int, ...]) -> Family:
    """The sums of two vectors, none of them lone."""
    entries: list[Features] = [
        {i: Entry(w, twin.COMMON) for i, w in enumerate(one) if w} for one in (x, y)
    ]
    shared = twin.sums(*entries)
    return Family(*(np.array(some)[:, None] for some in (shared, *map(twin.sizes, entries))))


def test_two_vectors_by_hand() -> None:
    """The check values of Raveena & Nandini's measures."""
    family = by_hand((3, 0, 4), (3, 4, 0))
    made = {name: float(function(family)[0]) for name, function in MADE_OF.items()}
    assert made["cosine"] == pytest.approx(0.36)
    assert made["extended_jaccard"] == pytest.approx(0.219512, abs=5e-7)
    assert made["euclidean"] == pytest.approx(1 - 0.64**0.5)  # unit vectors: d = √(2 − 0.72)
    assert (made["jaccard"], made["dice"], made["containment"]) == (1 / 3, 1 / 2, 1 / 2)
    assert made["idf"] == pytest.approx(3 / 11)


def test_an_unknown_measure_is_named() -> None:
    with pytest.raises(
        SettingsError, match=r"There is no measure 'words4_jaccard'\. Hint: .*chars8"
    ):
        similarity.families_of(["words1_idf", "words4_jaccard"])
