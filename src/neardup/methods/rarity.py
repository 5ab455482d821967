"""What rarity tells of features, of documents and of pairs (decision 0014).

A feature weighs its idf and has a class: what many documents have, what a few have, what one alone
has, and this in a document full of words that no other has.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from neardup.schema import Array

# The two lowest bits of a weight (native/features/overlap.hpp).
COMMON, RARE, LONE, NOISE = range(4)
UNIT = 1 << 14  # the weight of an idf of 1, before the class is put below it
LEAST = 0.1  # of a feature that all documents have: copies of one text still resemble each other
TEMPLATES = ("refuse", "accept")
OWN_FEATURES, OWN_SHARE = 6, 32  # a filled template has as many of its own, one of so many
NOISY, NOISY_WORDS = 0.12, 20  # words that no other document has, of at least so many: a scan
NOISY_DOCUMENTS = 1000  # of fewer documents, any has many such words


def full_of_noise(words: Array, lone: Array) -> npt.NDArray[np.bool_]:
    """Whether so many of the distinct words of a document are its own."""
    return np.asarray((words >= NOISY_WORDS) & (lone >= NOISY * words))


def fills_template(own: Array, smaller: Array, shared: Array, rare: Array) -> npt.NDArray[np.bool_]:
    """Whether two documents both go on with features of their own, and hardly anything they share
    is rare. ``own`` and ``smaller``: of the one that has less."""
    goes_on = (own >= OWN_FEATURES) & (own * OWN_SHARE >= smaller)
    return np.asarray(goes_on & (rare < own) & (4 * rare < shared))
