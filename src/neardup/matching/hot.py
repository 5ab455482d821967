"""Hot groups: many documents share a key, but are they alike?

Where they are (a thousand versions of one text), the rule needs to compare each with the few that
are kept, and the group may stay large. Where they are not (one template, other facts), all would be
kept and compared with each other. Such groups get new keys: of each document the rarest features,
as many as make it certain that a partner has one of them (prefix filter). What the template gives
is common and drops out; no pair above the threshold is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from neardup import _native
from neardup.matching.candidates import Groups, share_keys
from neardup.matching.evidence import EvidenceStore
from neardup.matching.verify import Pairs
from neardup.methods.method import Method
from neardup.schema import Array, Ragged, offsets_of

SAMPLE = 12
ALIKE = 0.5
COUNT_SLOTS = 1 << 22
BLOCK_FEATURES = 8 << 20
PART_KEYS = 32 << 20

Verify = Callable[[Array, Array], Pairs]


def refine(
    hot: Groups,
    order: Array,
    within: Array | None,
    method: Method,
    store: EvidenceStore,
    verify: Verify,
) -> Groups:
    """``hot`` with the groups of unlike members re-keyed; members are places in ``order``."""
    prefix_sizes = getattr(method, "prefix_sizes", None)
    if prefix_sizes is None or not len(hot):
        return hot
    unlike = _share_alike(hot, verify) < ALIKE
    places = np.unique(hot.where(unlike).members.values)
    if not len(places) or prefix_sizes(np.ones(1, np.int64)) is None:
        return hot
    codes = None if within is None else within[places]
    again = [
        _named(share_keys(keys, np.diff(keys.offsets).astype(np.int32), codes), places)
        for keys in _rare_keys(places, order, prefix_sizes, store)
    ]
    return Groups.concat([hot.where(~unlike), *again])


def _share_alike(hot: Groups, verify: Verify) -> Array:
    """The share of verified pairs among a few members of each group, evenly chosen."""
    a, b, group = [], [], []
    for g in range(len(hot)):
        members = hot.members[g]
        some = members[np.linspace(0, len(members) - 1, min(SAMPLE, len(members))).astype(np.int64)]
        i, j = np.triu_indices(len(some), 1)
        a.append(some[i])
        b.append(some[j])
        group.append(np.full(len(i), g))
    pairs, of = np.stack([np.concatenate(a), np.concatenate(b)]), np.concatenate(group)
    distinct, where = np.unique(pairs, axis=1, return_inverse=True)
    passed = verify(np.ascontiguousarray(distinct[0]), np.ascontiguousarray(distinct[1]))
    width = int(distinct.max()) + 1
    good = np.isin(distinct[0] * width + distinct[1], passed.a * width + passed.b)
    return np.bincount(of, good[where.reshape(-1)]) / np.bincount(of)


def _named(groups: Groups, places: Array) -> Groups:
    return Groups(Ragged(places[groups.members.values], groups.members.offsets), groups.probes)


def _rare_keys(
    places: Array, order: Array, prefix_sizes: Callable[[Array], Array], store: EvidenceStore
) -> Iterator[Ragged]:
    """Keys of the documents at ``places``, a share of the key space at a time."""
    counts = np.zeros(COUNT_SLOTS, np.uint32)
    total = 0
    for evidence, _ in _blocks(places, order, store):
        _native.count_features(evidence.values, counts)
        total += int(prefix_sizes(evidence.lengths).sum())
    parts = total // PART_KEYS + 1
    for part in range(parts):
        keys, lengths = [], np.zeros(len(places), np.int64)
        for evidence, at in _blocks(places, order, store):
            sizes = prefix_sizes(evidence.lengths)
            values, offsets = _native.rare_prefixes(
                evidence.values, evidence.offsets, sizes, counts, part, parts
            )
            keys.append(Ragged(values, offsets))
            lengths[at] = np.diff(offsets)
        yield _in_place_order(keys, places, order, lengths)


def _in_place_order(keys: list[Ragged], places: Array, order: Array, lengths: Array) -> Ragged:
    by_document = np.argsort(order[places], kind="stable")
    back = np.empty(len(places), np.int64)
    back[by_document] = np.arange(len(places))
    together = Ragged(
        np.concatenate([np.empty(0, np.uint64), *(k.values for k in keys)]),
        offsets_of(lengths[by_document]),
    )
    return together.take(back)


def _blocks(places: Array, order: Array, store: EvidenceStore) -> Iterator[tuple[Ragged, Array]]:
    """Evidence in document order (as it is stored), and which of ``places`` it belongs to."""
    by_document = np.argsort(order[places], kind="stable")
    sizes = store.lengths[order[places[by_document]]]
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // BLOCK_FEATURES)) + 1
    for at in np.split(by_document, cuts):
        yield store.take(order[places[at]]), at
