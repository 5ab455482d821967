"""Keys of profiles: how documents meet whose similarity vectors are then taken.

Documents that are worth a look share character grams, whatever noise or revision lies between them.
Of each document those of smallest hash are keys (a bottom sketch; Broder 1997), of rare, of less
rare and of unknown grams apart, so that neither boilerplate nor noise takes all places. One gram in
common may be a rare word: documents meet that share ``LEAST_SHARED`` keys. Where two documents have
a share J of their grams in common, each of n keys is a common one with that chance, so too few are
once in the binomial tail P(X < LEAST_SHARED).

What more than a hundred documents have is no key: bands of four minima bring large groups of near
copies together. One band suffices, so it counts as that many keys.
"""

from __future__ import annotations

from math import comb

import numpy as np

from neardup.artefacts.frequencies import Frequencies
from neardup.methods.minhash import Bands, band_keys
from neardup.methods.profiles import FEW
from neardup.schema import Array, Ragged

FEW_MORE = 100  # in more documents than this a gram is no key
RARE_KEYS, LESS_RARE_KEYS, UNKNOWN_KEYS = 48, 8, 32
LEAST_SHARED = 3
BANDS = Bands(16, 4)
LEAST_SHARE = 0.2  # of grams in common that a pair at the threshold has, as the general model cuts
MISS_RATE = sum(
    comb(RARE_KEYS, n) * LEAST_SHARE**n * (1 - LEAST_SHARE) ** (RARE_KEYS - n)
    for n in range(LEAST_SHARED)
)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_HASH = np.uint32(0x85EBCA6B)  # another order than that of the grams, which are hashes already
_CLASSES = ((RARE_KEYS, 2, FEW), (LESS_RARE_KEYS, FEW + 1, FEW_MORE), (UNKNOWN_KEYS, 0, 1))


def keys_of(grams: Ragged, table: Frequencies) -> tuple[Ragged, Array]:
    """Keys of sets of 32-bit features, and how many of them look: all."""
    counts = table.counts_of(grams.values)
    order = grams.values * _HASH
    row = np.repeat(np.arange(len(grams)), grams.lengths)
    rows, keys = [], []
    for number, (most, least, last) in enumerate(_CLASSES, 1):
        chosen = np.flatnonzero((counts >= least) & (counts <= last))
        chosen = chosen[_smallest(row[chosen], order[chosen], most)]
        rows.append(row[chosen])
        keys.append((grams.values[chosen].astype(np.uint64) + np.uint64(number << 32)) * _SPREAD)
    bands, _ = band_keys(grams, BANDS)
    for number in range(LEAST_SHARED):
        rows.append(np.repeat(np.arange(len(grams)), bands.lengths))
        keys.append(bands.values * _SPREAD + np.uint64(number))
    return _gathered(np.concatenate(rows), np.concatenate(keys), len(grams))


def _smallest(row: Array, order: Array, most: int) -> Array:
    """Which entries are among the ``most`` first of their row. Hashes are spread evenly, so those
    beyond three times the place where these end are not looked at."""
    sizes = np.maximum(np.bincount(row), 1)
    limits = np.minimum(3 * most / sizes, 1) * (1 << 32)
    near = np.flatnonzero(order < limits[row])
    sorted_ = near[np.lexsort((order[near], row[near]))]
    begins = np.searchsorted(row[sorted_], row[sorted_])
    return np.asarray(sorted_[np.arange(len(sorted_)) - begins < most])


def _gathered(row: Array, keys: Array, documents: int) -> tuple[Ragged, Array]:
    order = np.lexsort((keys, row))  # sorted, so that what two share can be counted
    counts = np.bincount(row, minlength=documents)
    ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Ragged(keys[order], ends), counts.astype(np.int32)
