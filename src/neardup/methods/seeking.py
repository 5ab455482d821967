"""Keys of profiles: how documents meet whose similarity vectors are then taken.

Documents that are worth a look share character grams, whatever noise or revision lies between them.
Of each document those of smallest hash are keys (a bottom sketch; Broder 1997), of rare, of less
rare and of unknown grams apart, so that neither boilerplate nor noise takes all places. Of n such
keys two documents with a share J of their grams in common have none in common once in (1 − J)⁻ⁿ.
What thousands of documents have is no key by itself: bands of several minima bring large groups of
near copies together (16 bands of 4: of pairs with J = 0.8 one in 4,000 is missed, which alone would
be of grams that all are common).
"""

from __future__ import annotations

import numpy as np

from neardup.artefacts.frequencies import Frequencies
from neardup.methods.minhash import Bands, band_keys
from neardup.methods.profiles import FEW
from neardup.schema import Array, Ragged

FEW_MORE = 100  # in more documents than this a gram is no key by itself
RARE_KEYS, LESS_RARE_KEYS, UNKNOWN_KEYS = 48, 8, 32
BANDS = Bands(16, 4)
LEAST_SHARE = 0.15  # of grams that two documents have in common which a model may accept
MISS_RATE = (1 - LEAST_SHARE) ** RARE_KEYS
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
    rows.append(np.repeat(np.arange(len(grams)), bands.lengths))
    keys.append(bands.values)
    return _gathered(np.concatenate(rows), np.concatenate(keys), len(grams))


def _smallest(row: Array, order: Array, most: int) -> Array:
    """Which entries are among the ``most`` first of their row."""
    sorted_ = np.lexsort((order, row))
    begins = np.searchsorted(row[sorted_], row[sorted_])
    return np.asarray(sorted_[np.arange(len(row)) - begins < most])


def _gathered(row: Array, keys: Array, documents: int) -> tuple[Ragged, Array]:
    order = np.argsort(row, kind="stable")
    counts = np.bincount(row, minlength=documents)
    ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Ragged(keys[order], ends), counts.astype(np.int32)
