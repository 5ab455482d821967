"""The similarity vector of two documents: many measures at once (Raveena & Nandini 2014, §III).

A measure is named by a family of features and what is made of it: ``words3_jaccard``,
``keywords_cosine``. All are similarities from 0 to 1 that grow with what two documents share. They
follow from a few whole numbers a family, which a kernel sums up (``native/features/profiles.hpp``);
what is done with these is exact to the last bit on every machine (sums, ratios, roots). Two
families are no sets: the words in their order (``features/similarity.py``) and the date
(``features/similarity.py``).

Words that two documents have in the same order, as shares: what sets of features cannot tell.

Words that stand once in either text are anchors; the longest chain of them that both have in one
order is aligned, and with it what is equal next to them, to the beginning and to the end
(``native/features/aligned.hpp``). What was moved counts once at most. Words that are repeated are
found only beside others, so a list of the same words over and over is aligned from its ends alone.

How near the dates of two documents are: 1 on the same day, one half at a stated distance.

Where one of them has no date that can be read nothing is known, which is one half as well.

Where the families of profiles are: a profile begins with how many entries each of its families
has, and the entries follow, family after family (``native/features/profiles.hpp``).
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
    """Words, an entry a pair: of each document, of the alignment, of its longest run without a
    gap."""

    a: Array
    b: Array
    words: Array
    run: Array


def align(profiles: Ragged, a: Array, b: Array, families: Sequence[str]) -> Aligned:
    """``families`` are those of the profiles, this one among them."""
    place = families.index(ORDER_FAMILY)
    given = profiles.values, profiles.offsets, len(families), place
    return Aligned(*_native.align_profiles(*given, a, b).reshape(-1, len(Aligned._fields)).T)


def _share(part: Array, whole: Array) -> Array:
    """0 where there are no words."""
    return np.asarray(part / np.maximum(whole, 1))


MADE_OF_ORDER: dict[str, Callable[[Aligned], Array]] = {
    "dice": lambda found: _share(2 * found.words, found.a + found.b),
    "containment": lambda found: _share(found.words, np.minimum(found.a, found.b)),
    "of_larger": lambda found: _share(found.words, np.maximum(found.a, found.b)),
    "run": lambda found: _share(found.run, np.minimum(found.a, found.b)),
}


def section(profiles: Ragged, families: Sequence[str], family: str) -> Ragged:
    """The entries of one family of each profile; of what is no profile, none."""
    places, ends = section_places(profiles, families, family)
    return Ragged(profiles.values[places], ends)


def section_places(
    profiles: Ragged, families: Sequence[str], family: str
) -> tuple[Array, npt.NDArray[np.int64]]:
    """Where these entries are, and where those of each profile end among them."""
    count, at = len(families), families.index(family)
    whole = profiles.lengths >= count
    begins = np.where(whole, profiles.offsets[:-1], 0)
    heads = profiles.values[np.minimum(begins[:, None] + np.arange(count), _last(profiles))]
    heads = np.where(whole[:, None], heads, 0).astype(np.int64)
    whole &= heads.sum(axis=1) + count == profiles.lengths
    lengths = np.where(whole, heads[:, at], 0)
    starts = begins + count + heads[:, :at].sum(axis=1)
    ends = offsets_of(lengths)
    return np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1]), ends


def _last(profiles: Ragged) -> int:
    return max(len(profiles.values) - 1, 0)


DATE_FAMILY = "date"
HALF_AT = {"day": 1, "month": 30, "year": 365}  # days apart at which dates are half as near
UNKNOWN = 0.5
_NO_DAY = -1


def date_entries(days: Array) -> Ragged:
    """As profiles hold them: the day, or nothing."""
    known = days != NO_DATE
    values = (days[known].astype(np.int64) - NO_DATE).astype(np.uint64)
    return Ragged(values, offsets_of(known.astype(np.int64)))


def days_apart(profiles: Ragged, a: Array, b: Array, families: Sequence[str]) -> Array:
    """−1 where one of the two has no date."""
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
FAMILIES = (*SUMMED, ORDER_FAMILY, DATE_FAMILY)  # as they stand in a profile
LONE_SHARE = 0.5  # what a feature that no other document has counts, as in rareshingles
MEASURES = (
    *("words1_idf", "words1_known", "words3_jaccard", "words3_idf", "words3_known"),
    *("words3_known_containment", "words3_rare_containment", "words5_jaccard", "words5_known"),
    *("words5_rare_containment", "chars8_jaccard", "chars8_of_larger", "chars8_containment"),
    *("chars8_idf", "chars8_known", "chars8_known_containment", "chars8_rare"),
    *("chars8_rare_containment", "keywords_cosine", "numbers_dice", "aligned_dice", "length_ratio"),
)
LENGTH = "length_ratio"


class Family(NamedTuple):
    """The sums of one family, an entry a pair: of what both share, and of each of the two. Fields
    are those of the kernel."""

    shared: Array  # features, weight, product, rare, rare weight, lone weight
    a: Array  # features, weight, square, rare, rare weight, lone, lone weight
    b: Array


FEATURES, WEIGHT, PRODUCT, RARES, RARE_WEIGHT, LONES, LONE_WEIGHT = range(7)
SHARED_LONE_WEIGHT = 5  # lone by a table that counts neither of the two: they are not, to a pair
SUMS, SIZES = 6, 7


def _ratio(part: Array, whole: Array) -> Array:
    """0 where there is nothing at all."""
    return np.asarray(np.minimum(part / np.maximum(whole, 1), 1.0))


def _fields(family: Family, field: int) -> tuple[Array, Array, Array]:
    return family.shared[field], family.a[field], family.b[field]


def _of_larger(family: Family) -> Array:
    return _ratio(family.shared[FEATURES], np.maximum(family.a[FEATURES], family.b[FEATURES]))


def _idf(family: Family) -> Array:
    """Weighted resemblance in which noise counts half and new text of one side in full: what
    rareshingles compares."""
    lone = np.minimum(family.a[LONE_WEIGHT], family.b[LONE_WEIGHT])
    lone = lone - family.shared[SHARED_LONE_WEIGHT]
    total = family.a[WEIGHT] + family.b[WEIGHT] - 2 * (1 - LONE_SHARE) * lone
    shared = family.shared[WEIGHT].astype(np.float64)
    return _ratio(shared, total - shared)


def _known(family: Family) -> tuple[Array, Array, Array]:
    """Weights of what at least one other document has: noise does not count, nor does new text.
    What both share is known, whatever a table of other documents says."""
    met = family.shared[SHARED_LONE_WEIGHT]
    sides = (side[WEIGHT] - side[LONE_WEIGHT] + met for side in (family.a, family.b))
    return family.shared[WEIGHT], *sides


def _rare(family: Family) -> tuple[Array, Array, Array]:
    """The same of what at most a few documents have."""
    met = family.shared[SHARED_LONE_WEIGHT]
    sides = (side[RARE_WEIGHT] + met for side in (family.a, family.b))
    return family.shared[RARE_WEIGHT], *sides


def _of_union(shared: Array, a: Array, b: Array) -> Array:
    return _ratio(shared, a + b - shared)


def _of_smaller(shared: Array, a: Array, b: Array) -> Array:
    return _ratio(shared, np.minimum(a, b))


def _products(family: Family) -> Products:
    parts = family.shared[PRODUCT], family.a[PRODUCT], family.b[PRODUCT]
    return Products(*(part.astype(np.float64) for part in parts))


def _dice(family: Family) -> Array:
    """Of the sets. Where neither has any, nothing differs."""
    both = family.a[FEATURES] + family.b[FEATURES]
    return np.where(both == 0, 1.0, _ratio(2 * family.shared[FEATURES], both))


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
    *(f"{family}_{made}" for family in SUMMED for made in MADE_OF),
    *(f"{ORDER_FAMILY}_{made}" for made in MADE_OF_ORDER),
    *(f"{DATE_FAMILY}_{name}" for name in HALF_AT),
    LENGTH,
)


def families_of(measures: Sequence[str]) -> tuple[str, ...]:
    """What profiles must hold, in one order whatever that of the measures; lengths are told by
    words."""
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
    """A row for each pair of profiles, a column for each measure. Profiles hold the families of
    just these measures."""
    return measured(compared(profiles, a, b, families_of(measures)), measures)


@dataclass(frozen=True)
class Compared:
    """What measures of pairs are made of: sums by family, and what other families told."""

    pairs: int
    sums: dict[str, Family]
    aligned: Aligned | None = None
    days_apart: Array | None = None


def compared(profiles: Ragged, a: Array, b: Array, names: Sequence[str]) -> Compared:
    """Of pairs; ``names`` are the families that the profiles hold, in their order."""
    one, other = a.astype(np.int64), b.astype(np.int64)
    given = profiles, one, other, names
    return Compared(
        len(one),
        summed(*given),
        align(*given) if ORDER_FAMILY in names else None,
        days_apart(*given) if DATE_FAMILY in names else None,
    )


def summed(profiles: Ragged, a: Array, b: Array, names: Sequence[str]) -> dict[str, Family]:
    """What sets of features have in common, family by family."""
    sets = [name for name in names if name in SUMMED]
    given = profiles.values, profiles.offsets, len(names), len(sets)
    sums = _native.compare_profiles(*given, a, b).reshape(len(a), len(sets), SUMS)
    sizes = _native.profile_sizes(*given).reshape(len(profiles), len(sets), SIZES)
    return {
        name: Family(sums[:, at].T, sizes[a, at].T, sizes[b, at].T) for at, name in enumerate(sets)
    }


def measured(found: Compared, measures: Sequence[str]) -> npt.NDArray[np.float64]:
    """The similarity vectors of pairs that were compared."""
    made = np.empty((found.pairs, len(measures)))
    for column, measure in enumerate(measures):
        made[:, column] = _measured(measure, found)
    return made


def _measured(measure: str, found: Compared) -> Array:
    if measure == LENGTH:
        return _length_ratio(found.sums["words1"])
    family, _, made = measure.partition("_")
    if family == ORDER_FAMILY:
        assert found.aligned is not None
        return MADE_OF_ORDER[made](found.aligned)
    if family == DATE_FAMILY:
        assert found.days_apart is not None
        return nearness(found.days_apart, HALF_AT[made])
    return np.asarray(MADE_OF[made](found.sums[family]))


def _length_ratio(words: Family) -> Array:
    sides = words.a[FEATURES], words.b[FEATURES]
    return _ratio(np.minimum(*sides), np.maximum(*sides))
