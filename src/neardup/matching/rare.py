"""Prefix filter with the rarest features first.

Of every set, so many features that any partner above the threshold has at least one of them
(``rare_keys`` of the method), taken in an order that is the same for all: rarest first, as
counted over the documents at hand. What many share drops out of the prefixes, so few documents
meet; any order loses nothing, so the counts may be rough and cannot change the answer. Features of
one document only, most of all in running text, are known as such and make no keys at all.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from neardup import _native
from neardup.matching.candidates import Groups, pair_count, share_keys
from neardup.matching.evidence import EvidenceStore
from neardup.methods.method import OverlapMethod, Rarity
from neardup.schema import Array, Ragged, offsets_of

MOST_COUNT_SLOTS = 1 << 27  # bytes
FEWEST_COUNT_SLOTS = 1 << 12
BLOCK_FEATURES = 4 << 20
PART_KEYS = 8 << 20
MOST_PARTS = 1 << 12  # one key that all documents have cannot be parted


def rare_groups(
    places: Array,
    order: Array,
    within: Array | None,
    method: OverlapMethod,
    store: EvidenceStore,
    *,
    most_pairs: int | None = None,
) -> Groups | None:
    """Groups of ``places`` (places in ``order``) that share a key; None where they make more than
    ``most_pairs``."""
    if not len(places):
        return Groups.concat([])
    codes = None if within is None else within[places]
    found, made = [], 0
    for keys, probes in _rare_keys(places, order, method, store):
        groups = share_keys(keys, probes, codes)
        made += pair_count(groups)
        if most_pairs is not None and made > most_pairs:
            return None
        found.append(_named(groups, places))
    return Groups.concat(found)


def _named(groups: Groups, places: Array) -> Groups:
    return Groups(Ragged(places[groups.members.values], groups.members.offsets), groups.probes)


def _rare_keys(
    places: Array, order: Array, method: OverlapMethod, store: EvidenceStore
) -> Iterator[tuple[Ragged, Array]]:
    """Keys of the documents at ``places``, a share of the key space at a time."""
    features = int(store.lengths[order[places]].sum())
    counts = np.zeros(_slots(features, store.limit), np.uint8)
    for evidence, _ in evidence_blocks(places, order, store):
        _native.count_features(_features(evidence), counts)
    parts = 1  # how many keys there are is known only once they are made
    while (first := _part_keys(places, order, method, store, Rarity(counts, 0, parts))) is None:
        parts *= 4
    yield first
    for part in range(1, parts):
        found = _part_keys(places, order, method, store, Rarity(counts, part, parts))
        assert found is not None  # only the first part gives up
        yield found


def _slots(features: int, memory: int) -> int:
    """More than there are features, as far as a quarter of the memory goes: then most features of
    one document only are known to be so."""
    fit = 1 << max(memory // 4, 1).bit_length() - 1
    return min(max(1 << features.bit_length(), FEWEST_COUNT_SLOTS), MOST_COUNT_SLOTS, fit)


def _part_keys(
    places: Array, order: Array, method: OverlapMethod, store: EvidenceStore, rarity: Rarity
) -> tuple[Ragged, Array] | None:
    """None where the first part is too large; the others are as large as the first."""
    keys, probes, at, total = [], [], [], 0
    for evidence, where in evidence_blocks(places, order, store):
        some, looks = method.rare_keys(evidence, rarity)
        keys.append(some)
        probes.append(looks)
        at.append(where)
        total += len(some.values)
        if total > PART_KEYS and rarity.part == 0 and rarity.parts < MOST_PARTS:
            return None
    back = np.argsort(np.concatenate(at), kind="stable")
    return Ragged.concat(keys, np.uint64).take(back), np.concatenate(probes)[back]


def _features(evidence: Ragged) -> Array:
    """The features without their weights."""
    if evidence.values.dtype == np.uint32:
        return evidence.values
    return (evidence.values >> np.uint64(32)).astype(np.uint32)


def evidence_blocks(
    places: Array, order: Array, store: EvidenceStore
) -> Iterator[tuple[Ragged, Array]]:
    """Evidence in document order (as it is stored), and which of ``places`` it belongs to."""
    by_document = np.argsort(order[places], kind="stable")
    ends = offsets_of(store.lengths[order[places[by_document]]])
    cuts = np.flatnonzero(np.diff(ends[1:] // BLOCK_FEATURES)) + 1
    for at in np.split(by_document, cuts):
        yield store.take(order[places[at]]), at
