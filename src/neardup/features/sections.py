"""Where the families of profiles are: a profile begins with how many entries each of its families
has, and the entries follow, family after family (``native/features/profiles.hpp``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from neardup.schema import Array, Ragged, offsets_of


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
