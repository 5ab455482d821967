"""How near the dates of two documents are: 1 on the same day, one half at a stated distance.

Where one of them has no date that can be read nothing is known, which is one half as well.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup.features.dates import NO_DATE
from neardup.features.sections import section
from neardup.schema import Array, Ragged, offsets_of

FAMILY = "date"
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
    entries = section(profiles, families, FAMILY)
    day = np.full(len(profiles), _NO_DAY, np.int64)
    dated = entries.lengths > 0
    day[dated] = entries.values[entries.offsets[:-1][dated]].astype(np.int64)
    apart = np.abs(day[a] - day[b])
    return np.where(dated[a] & dated[b], apart, _NO_DAY)


def nearness(apart: Array, half_at: int) -> Array:
    return np.where(apart < 0, UNKNOWN, half_at / (half_at + np.maximum(apart, 0)))
