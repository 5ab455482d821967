"""Prefix filter with the rarest features first.

Of every set, so many features that any partner above the threshold has at least one of them
(``rare_keys`` of the method), taken in an order that is the same for all: rarest first, as
counted over the documents at hand. What many share drops out of the prefixes, so few documents
meet; any order loses nothing, so the counts may be rough and cannot change the answer.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from neardup import _native
from neardup.matching.candidates import Groups, share_keys
from neardup.matching.evidence import EvidenceStore
from neardup.methods.method import OverlapMethod, Rarity
from neardup.schema import Array, Ragged, offsets_of

COUNT_SLOTS = 1 << 22
BLOCK_FEATURES = 4 << 20
PART_KEYS = 8 << 20
KEYS_OF_FEATURES = 2  # features for a key, roughly: thresholds of .5 take half of the features


def rare_groups(
    places: Array, order: Array, within: Array | None, method: OverlapMethod, store: EvidenceStore
) -> Groups:
    """Groups of ``places`` (places in ``order``) that share a key."""
    if not len(places):
        return Groups.concat([])
    codes = None if within is None else within[places]
    return Groups.concat(
        [
            _named(share_keys(keys, probes, codes), places)
            for keys, probes in _rare_keys(places, order, method, store)
        ]
    )


def _named(groups: Groups, places: Array) -> Groups:
    return Groups(Ragged(places[groups.members.values], groups.members.offsets), groups.probes)


def _rare_keys(
    places: Array, order: Array, method: OverlapMethod, store: EvidenceStore
) -> Iterator[tuple[Ragged, Array]]:
    """Keys of the documents at ``places``, a share of the key space at a time."""
    counts = np.zeros(COUNT_SLOTS, np.uint32)
    total = 0
    for evidence, _ in _blocks(places, order, store):
        _native.count_features(_features(evidence), counts)
        total += len(evidence.values)
    # At most: a prefix is a share of the features, a fifth of them at a threshold of .8.
    parts = total // (PART_KEYS * KEYS_OF_FEATURES) + 1
    for part in range(parts):
        keys, probes, at = [], [], []
        for evidence, where in _blocks(places, order, store):
            some, looks = method.rare_keys(evidence, Rarity(counts, part, parts))
            keys.append(some)
            probes.append(looks)
            at.append(where)
        back = np.argsort(np.concatenate(at), kind="stable")
        yield Ragged.concat(keys, np.uint64).take(back), np.concatenate(probes)[back]


def _features(evidence: Ragged) -> Array:
    """The features without their weights."""
    if evidence.values.dtype == np.uint32:
        return evidence.values
    return (evidence.values >> np.uint64(32)).astype(np.uint32)


def _blocks(places: Array, order: Array, store: EvidenceStore) -> Iterator[tuple[Ragged, Array]]:
    """Evidence in document order (as it is stored), and which of ``places`` it belongs to."""
    by_document = np.argsort(order[places], kind="stable")
    ends = offsets_of(store.lengths[order[places[by_document]]])
    cuts = np.flatnonzero(np.diff(ends[1:] // BLOCK_FEATURES)) + 1
    for at in np.split(by_document, cuts):
        yield store.take(order[places[at]]), at
