"""What the sums of two profiles tell beside their measures: a quotation, a filled template, and how
much of what is rare two documents share.
"""

from __future__ import annotations

import numpy as np

from neardup.features.similarity import (
    FEATURES,
    LONE_WEIGHT,
    LONES,
    RARE_WEIGHT,
    RARES,
    WEIGHT,
    Family,
)
from neardup.methods.rarity import fills_template
from neardup.schema import Array


def smaller(family: Family) -> Array:
    """How many features the one has that has fewer."""
    return np.asarray(np.minimum(family.a[FEATURES], family.b[FEATURES]))


def held(family: Family) -> Array:
    """The share of the smaller that is in the other, whatever else it has that is its own."""
    return np.asarray(family.shared[FEATURES] / np.maximum(smaller(family), 1))


def is_template(shingles: Family) -> Array:
    """Whether both go on with words of their own, and hardly anything they share is rare."""
    own = np.minimum(shingles.a[LONES], shingles.b[LONES])
    shared = shingles.shared[FEATURES], shingles.shared[RARES]
    return fills_template(own, smaller(shingles), *shared)


def rare_share(family: Family) -> Array:
    """Rare features that both have, in all that other documents know of the two."""
    shared = family.shared[RARE_WEIGHT]
    known = sum(side[WEIGHT] - side[LONE_WEIGHT] for side in (family.a, family.b))
    return np.asarray(shared / np.maximum(known - shared, np.maximum(shared, 1)))
