"""The similarity vector of two documents: many measures at once (Raveena & Nandini 2014, §III).

A measure is named by a family of features and a function: ``words3_jaccard``, ``keywords_cosine``.
All are similarities from 0 to 1 that grow with what two documents share. Most families are sets: a
kernel sums a few integers per family and pair (``native/features/profiles.hpp``), and the measures
follow by sums, ratios and roots, which have the same bits on every machine. The family ``aligned``
compares words in their order: words that occur once in both texts are anchors, and the longest
chain of anchors in the same order is extended to equal neighbours (``native/features/aligned.hpp``;
a moved passage counts at most once). The family ``date`` compares dates: 1 on the same day, ½ at a
stated distance or if a date is missing.

The profile of a document holds the number of entries of each family, then the entries themselves,
family after family. A feature is *unique* (``lone`` in names) if only one document has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.errors import SettingsError
from neardup.features.dates import NO_DATE
from neardup.features.vectors import Products, euclidean_score
from neardup.schema import Array, Ragged, offsets_of

ORDER_FAMILY = "aligned"


class Aligned(NamedTuple):
    """Numbers of words, one entry per pair: in each document, in the alignment, and in its longest
    run without a gap."""

    a: Array
    b: Array
    words: Array
    run: Array


def align(profiles: Ragged, a: Array, b: Array, families: Sequence[str]) -> Aligned:
    """``families`` are the families of the profiles; ``aligned`` must be among them."""
    layout = profiles.values, profiles.offsets, len(families), families.index(ORDER_FAMILY)
    return Aligned(*_native.align_profiles(*layout, a, b).reshape(-1, len(Aligned._fields)).T)


def _ratio(part: Array, whole: Array) -> Array:
    """The ratio of a part to the whole, at most 1; 0 for an empty whole."""
    return np.asarray(np.minimum(part / np.maximum(whole, 1), 1.0))


MADE_OF_ORDER: dict[str, Callable[[Aligned], Array]] = {
    "dice": lambda pair: _ratio(2 * pair.words, pair.a + pair.b),
    "containment": lambda pair: _ratio(pair.words, np.minimum(pair.a, pair.b)),
    "of_larger": lambda pair: _ratio(pair.words, np.maximum(pair.a, pair.b)),
    "run": lambda pair: _ratio(pair.run, np.minimum(pair.a, pair.b)),
}


def section(profiles: Ragged, families: Sequence[str], family: str) -> Ragged:
    """The entries of one family of each profile; none for an entry that is not a profile."""
    places, ends = section_places(profiles, families, family)
    return Ragged(profiles.values[places], ends)


def section_places(
    profiles: Ragged, families: Sequence[str], family: str
) -> tuple[Array, npt.NDArray[np.int64]]:
    """The places of these entries in ``profiles.values``, and their offsets by profile."""
    heads, at = _heads(profiles, len(families)), families.index(family)
    starts = profiles.offsets[:-1] + len(families) + heads[:, :at].sum(axis=1)
    ends = offsets_of(heads[:, at])
    return np.repeat(starts - ends[:-1], heads[:, at]) + np.arange(ends[-1]), ends


def section_lengths(profiles: Ragged, families: Sequence[str], family: str) -> Array:
    """The number of entries of one family of each profile."""
    return _heads(profiles, len(families))[:, families.index(family)]


def _heads(profiles: Ragged, count: int) -> Array:
    """One row per profile, one column per family; 0 for an entry that is not a profile."""
    valid = profiles.lengths >= count
    begins = np.where(valid, profiles.offsets[:-1], 0)
    last = max(len(profiles.values) - 1, 0)
    heads = profiles.values[np.minimum(begins[:, None] + np.arange(count), last)]
    heads = np.where(valid[:, None], heads, 0).astype(np.int64)
    valid &= heads.sum(axis=1) + count == profiles.lengths
    return np.where(valid[:, None], heads, 0)


DATE_FAMILY = "date"
HALF_AT = {"day": 1, "month": 30, "year": 365}  # the distance in days at which nearness is ½
UNKNOWN = 0.5
_NO_DAY = -1


def date_entries(days: Array) -> Ragged:
    """The entries of the family ``date``: the day, or nothing."""
    known = days != NO_DATE
    values = (days[known].astype(np.int64) - NO_DATE).astype(np.uint64)
    return Ragged(values, offsets_of(known.astype(np.int64)))


def days_apart(profiles: Ragged, a: Array, b: Array, families: Sequence[str]) -> Array:
    """The distance of the two dates in days; −1 if a document has no date."""
    entries = section(profiles, families, DATE_FAMILY)
    day = np.full(len(profiles), _NO_DAY, np.int64)
    dated = entries.lengths > 0
    day[dated] = entries.values[entries.offsets[:-1][dated]].astype(np.int64)
    apart = np.abs(day[a] - day[b])
    return np.where(dated[a] & dated[b], apart, _NO_DAY)


def nearness(apart: Array, half_at: int) -> Array:
    return np.where(apart < 0, UNKNOWN, half_at / (half_at + np.maximum(apart, 0)))


VERSION = 1  # steps when a measure changes its meaning
SUMMED = (
    *("words1", "words2", "words3", "words5", "chars3", "chars5", "chars8"),
    *("keywords", "sentences", "tuples", "numbers"),
)
FAMILIES = (*SUMMED, ORDER_FAMILY, DATE_FAMILY)  # in the order of a profile
LONE_SHARE = 0.5  # the weight of a unique feature, as in rareshingles
MEASURES = (
    *("words1_idf", "words1_known", "words3_jaccard", "words3_idf", "words3_known"),
    *("words3_known_containment", "words3_rare_containment", "words5_jaccard", "words5_known"),
    *("words5_rare_containment", "chars8_jaccard", "chars8_of_larger", "chars8_containment"),
    *("chars8_idf", "chars8_known", "chars8_known_containment", "chars8_rare"),
    *("chars8_rare_containment", "keywords_cosine", "numbers_dice", "aligned_dice", "length_ratio"),
)
LENGTH = "length_ratio"


class Family(NamedTuple):
    """The kernel's sums of one family, one column per pair: of the shared features, and of all
    features of each document."""

    shared: Array  # features, weight, product, rare, rare weight, unique weight
    a: Array  # features, weight, square, rare, rare weight, unique, unique weight
    b: Array


FEATURES, WEIGHT, PRODUCT, RARES, RARE_WEIGHT, LONES, LONE_WEIGHT = range(7)
SHARED_LONE_WEIGHT = 5  # of features that a table of other documents counts at most once
SUMS, SIZES = 6, 7


def _fields(family: Family, field: int) -> tuple[Array, Array, Array]:
    return family.shared[field], family.a[field], family.b[field]


def _of_larger(family: Family) -> Array:
    return _ratio(family.shared[FEATURES], np.maximum(family.a[FEATURES], family.b[FEATURES]))


def _idf(family: Family) -> Array:
    """The weighted resemblance of rareshingles. The smaller of the two weights of unique features
    is taken for noise and counts half; the excess of one document is new text and counts fully."""
    lone = np.minimum(family.a[LONE_WEIGHT], family.b[LONE_WEIGHT])
    lone = lone - family.shared[SHARED_LONE_WEIGHT]
    total = family.a[WEIGHT] + family.b[WEIGHT] - 2 * (1 - LONE_SHARE) * lone
    shared = family.shared[WEIGHT].astype(np.float64)
    return _ratio(shared, total - shared)


def _known(family: Family) -> tuple[Array, Array, Array]:
    """The weights of features that are not unique: neither noise nor new text counts. A shared
    feature is never unique, whatever a table of other documents contains."""
    shared_lone = family.shared[SHARED_LONE_WEIGHT]
    sides = (side[WEIGHT] - side[LONE_WEIGHT] + shared_lone for side in (family.a, family.b))
    return family.shared[WEIGHT], *sides


def _rare(family: Family) -> tuple[Array, Array, Array]:
    """The weights of rare features, which only a few documents have."""
    shared_lone = family.shared[SHARED_LONE_WEIGHT]
    sides = (side[RARE_WEIGHT] + shared_lone for side in (family.a, family.b))
    return family.shared[RARE_WEIGHT], *sides


def _of_union(shared: Array, a: Array, b: Array) -> Array:
    return _ratio(shared, a + b - shared)


def _of_smaller(shared: Array, a: Array, b: Array) -> Array:
    return _ratio(shared, np.minimum(a, b))


def _products(family: Family) -> Products:
    parts = family.shared[PRODUCT], family.a[PRODUCT], family.b[PRODUCT]
    return Products(*(part.astype(np.float64) for part in parts))


def _dice(family: Family) -> Array:
    """Dice of the sets; 1 for two empty sets, because nothing differs."""
    total = family.a[FEATURES] + family.b[FEATURES]
    return np.where(total == 0, 1.0, _ratio(2 * family.shared[FEATURES], total))


MADE_OF: dict[str, Callable[[Family], Any]] = {
    "jaccard": lambda family: _of_union(*_fields(family, FEATURES)),
    "containment": lambda family: _of_smaller(*_fields(family, FEATURES)),
    "of_larger": _of_larger,
    "dice": _dice,
    "idf": _idf,
    "idf_containment": lambda family: _of_smaller(*_fields(family, WEIGHT)),
    "known": lambda family: _of_union(*_known(family)),
    "known_containment": lambda family: _of_smaller(*_known(family)),
    "rare": lambda family: _of_union(*_rare(family)),
    "rare_containment": lambda family: _of_smaller(*_rare(family)),
    "cosine": lambda family: _products(family).cosine,
    "euclidean": lambda family: euclidean_score(_products(family).cosine),
    "extended_jaccard": lambda family: _products(family).extended_jaccard,
}
KNOWN = (
    *(f"{family}_{function}" for family in SUMMED for function in MADE_OF),
    *(f"{ORDER_FAMILY}_{function}" for function in MADE_OF_ORDER),
    *(f"{DATE_FAMILY}_{name}" for name in HALF_AT),
    LENGTH,
)


def families_of(measures: Sequence[str]) -> tuple[str, ...]:
    """The families that these measures need, in the order of a profile; ``length_ratio`` needs
    single words."""
    for name in measures:
        if name not in KNOWN:
            raise SettingsError(f"There is no measure {name!r}.", hint=_HINT)
    wanted = {name.split("_")[0] if name != LENGTH else "words1" for name in measures}
    return tuple(family for family in FAMILIES if family in wanted)


_HINT = (
    f"a family ({', '.join(SUMMED)}), an underscore and one of {', '.join(MADE_OF)}; "
    f"{ORDER_FAMILY}_ and one of {', '.join(MADE_OF_ORDER)}; "
    f"{DATE_FAMILY}_ and one of {', '.join(HALF_AT)}; or {LENGTH}."
)


def needs_date(measures: Sequence[str]) -> bool:
    """Whether one of them compares dates."""
    return DATE_FAMILY in families_of(measures)


def vectors(
    profiles: Ragged, a: Array, b: Array, measures: Sequence[str] = MEASURES
) -> npt.NDArray[np.float64]:
    """One row per pair of profiles, one column per measure. The profiles hold exactly the families
    of these measures."""
    return measured(compared(profiles, a, b, families_of(measures)), measures)


@dataclass(frozen=True)
class Compared:
    """The comparison of pairs from which measures are computed: sums by family, the alignment and
    the distance of the dates."""

    pairs: int
    sums: dict[str, Family]
    aligned: Aligned | None = None
    days_apart: Array | None = None


def compared(profiles: Ragged, a: Array, b: Array, names: Sequence[str]) -> Compared:
    """``names`` are the families that the profiles hold, in their order."""
    pairs = profiles, a.astype(np.int64), b.astype(np.int64), names
    return Compared(
        len(a),
        summed(*pairs),
        align(*pairs) if ORDER_FAMILY in names else None,
        days_apart(*pairs) if DATE_FAMILY in names else None,
    )


def summed(profiles: Ragged, a: Array, b: Array, names: Sequence[str]) -> dict[str, Family]:
    """The sums of those families that are sets."""
    sets = [name for name in names if name in SUMMED]
    layout = profiles.values, profiles.offsets, len(names), len(sets)
    sums = _native.compare_profiles(*layout, a, b).reshape(len(a), len(sets), SUMS)
    sizes = _native.profile_sizes(*layout).reshape(len(profiles), len(sets), SIZES)
    return {
        name: Family(sums[:, at].T, sizes[a, at].T, sizes[b, at].T) for at, name in enumerate(sets)
    }


def measured(comparison: Compared, measures: Sequence[str]) -> npt.NDArray[np.float64]:
    """The similarity vectors of the compared pairs, one row per pair."""
    vectors = np.empty((comparison.pairs, len(measures)))
    for column, measure in enumerate(measures):
        vectors[:, column] = _measured(measure, comparison)
    return vectors


def _measured(measure: str, comparison: Compared) -> Array:
    if measure == LENGTH:
        _, *sizes = _fields(comparison.sums["words1"], FEATURES)
        return _ratio(np.minimum(*sizes), np.maximum(*sizes))
    family, _, function = measure.partition("_")
    if family == ORDER_FAMILY:
        assert comparison.aligned is not None
        return MADE_OF_ORDER[function](comparison.aligned)
    if family == DATE_FAMILY:
        assert comparison.days_apart is not None
        return nearness(comparison.days_apart, HALF_AT[function])
    return np.asarray(MADE_OF[function](comparison.sums[family]))
