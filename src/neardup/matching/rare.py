"""A prefix filter with the rarest features first.

The keys of a set are so many of its features that any partner above the threshold shares at least
one of them (``rare_keys`` of the method). They are taken in the same order for all documents,
rarest first, as counted over the documents at hand. Features that many documents share drop out of
the prefixes, so few documents meet. The filter is complete in any order, so the counts may be rough
and cannot change the result. Unique features, which are most features of running text, give no
keys.

Words and short q-grams are common, so nearly all documents meet by one of them. A method that says
how many of its keys a pair must share (``least``) has its pairs counted over the lists of documents
by key instead, as long as that is cheap; beyond it, the documents are walked as any hot group is.

``refine`` revises hot groups of shared keys. If their members are similar, such as a thousand
versions of one text, the rule compares each with the few that are kept, and the group may stay
large. If they are not, such as one template filled with different facts, all would be kept and
compared with each other; these documents get rare keys instead, in which the template drops out. If
even the rarest features are common, such as character q-grams of one language, the groups stay as
they are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import numpy as np

from neardup import _native
from neardup.matching.candidates import (
    Candidates,
    GroupPairs,
    Groups,
    Leaders,
    Verify,
    distinct,
    pair_count,
    share_keys,
)
from neardup.matching.evidence import EvidenceStore
from neardup.methods.meeting import RareKeys, RarePrefix, Rarity
from neardup.schema import Array, Ragged, offsets_of

MOST_COUNT_SLOTS = 1 << 27  # bytes
FEWEST_COUNT_SLOTS = 1 << 12
BLOCK_FEATURES = 1 << 19
PART_KEYS = 8 << 20
# Entries of groups that are counted for a document, on average.
MOST_COUNTED = 1 << 18


def rare_candidates(way: RarePrefix, leaders: Leaders, verify: Verify) -> Candidates:
    counted = None if way.least is None else _counted_pairs(way, way.least, leaders)
    if counted is not None:
        return Candidates(verify(*counted), Groups.concat([]), verify)
    groups = _rare_groups(leaders.long, leaders, way)
    assert groups is not None  # no limit on pairs was set
    pairs = GroupPairs(distinct(groups), leaders.most_pairs)
    return Candidates(pairs.verified(verify), pairs.hot, verify)


def _counted_pairs(
    way: RarePrefix, least: Callable[[Array], Array], leaders: Leaders
) -> tuple[Array, Array] | None:
    """The pairs that share as many keys as they must, by counting; None if they are too many."""
    sizes = leaders.store.lengths[leaders.order]
    places = leaders.long[np.argsort(sizes[leaders.long], kind="stable")]
    groups = _rare_groups(places, leaders, way, named=np.arange(len(places)))
    assert groups is not None
    members, needed = groups.members, least(sizes[places]).astype(np.int32)
    limits = MOST_COUNTED * len(places), leaders.most_pairs
    pairs = _native.larger_pairs(members.values, groups.probes, members.offsets, needed, *limits)
    return None if pairs is None else (places[pairs[0]], places[pairs[1]])


def _rare_groups(
    places: Array,
    leaders: Leaders,
    way: RarePrefix,
    *,
    named: Array | None = None,
    most_pairs: int | None = None,
) -> Groups | None:
    """Groups of ``places`` that share a key, or of the names given for them; None if they have more
    than ``most_pairs`` pairs."""
    if not len(places):
        return Groups.concat([])
    codes = None if leaders.codes is None else leaders.codes[places]
    names = places if named is None else named
    parts, pairs = [], 0
    for keys, probes in _rare_keys(places, leaders.order, way, leaders.store):
        groups = share_keys(keys, probes, codes)
        pairs += pair_count(groups)
        if most_pairs is not None and pairs > most_pairs:
            return None
        members = Ragged(names[groups.members.values], groups.members.offsets)
        parts.append(Groups(members, groups.probes))
    return Groups.concat(parts)


def _rare_keys(
    places: Array, order: Array, way: RarePrefix, store: EvidenceStore
) -> Iterator[tuple[Ragged, Array]]:
    """Keys of the documents at ``places``, one part of the key space at a time."""
    features = int(store.lengths[order[places]].sum())
    counts = np.zeros(_slots(features), np.uint8)
    for evidence, _ in evidence_blocks(places, order, store):
        sets = evidence if way.features is None else way.features(evidence)
        _native.count_features(_features(sets), counts)
    # The keys are selected once for all parts, because looking up the counts is what costs.
    key_store = EvidenceStore(np.uint64, limit=store.limit // 2, folder=store.folder)
    try:
        yield from _key_parts(key_store, places, order, way.rare_keys, store, counts)
    finally:  # the caller may stop before the last part
        key_store.close()


def _key_parts(
    key_store: EvidenceStore,
    places: Array,
    order: Array,
    rare_keys: RareKeys,
    store: EvidenceStore,
    counts: Array,
) -> Iterator[tuple[Ragged, Array]]:
    probes, at = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    for evidence, where in evidence_blocks(places, order, store):
        keys, looks = rare_keys(evidence, Rarity(counts))
        key_store.append(keys)
        probes.append(looks)
        at.append(where)
    back = np.argsort(np.concatenate(at), kind="stable")
    looking, total = np.concatenate(probes), int(key_store.lengths.sum())
    parts = 1 << (total // PART_KEYS).bit_length()
    for part in range(parts):
        shares = [_share(keys, looking[some], part, parts) for keys, some in _key_blocks(key_store)]
        keys = Ragged.concat([keys for keys, _ in shares], np.uint64)
        yield keys.take(back), np.concatenate([looks for _, looks in shares])[back]


def _key_blocks(key_store: EvidenceStore) -> Iterator[tuple[Ragged, Array]]:
    everyone = np.arange(len(key_store.lengths))
    cuts = np.flatnonzero(np.diff(key_store.lengths.cumsum() // PART_KEYS)) + 1
    for some in np.split(everyone, cuts):
        yield key_store.take(some), some


def _share(keys: Ragged, probes: Array, part: int, parts: int) -> tuple[Ragged, Array]:
    """The keys in one part of the key space; keys that search stay before the others."""
    if parts == 1:
        return keys, probes
    wanted = keys.values >> np.uint64(32) & np.uint64(parts - 1) == part
    ends = np.zeros(len(wanted) + 1, np.int64)
    np.cumsum(wanted, out=ends[1:])
    begins = keys.offsets[:-1]
    looks = ends[begins + probes] - ends[begins]
    return Ragged(keys.values[wanted], ends[keys.offsets]), looks.astype(np.int32)


def _slots(features: int) -> int:
    """More slots than features, so that most unique features are recognised as unique. The memory
    of a run has no say: other slots are other keys, and where documents are capped, other pairs."""
    return min(max(1 << features.bit_length(), FEWEST_COUNT_SLOTS), MOST_COUNT_SLOTS)


def _features(evidence: Ragged) -> Array:
    """The features without their weights."""
    if evidence.values.dtype == np.uint32:
        return evidence.values
    return (evidence.values >> np.uint64(32)).astype(np.uint32)


def evidence_blocks(
    places: Array, order: Array, store: EvidenceStore
) -> Iterator[tuple[Ragged, Array]]:
    """Evidence in document order (as it is stored), and the indices into ``places`` of its rows."""
    by_document = np.argsort(order[places], kind="stable")
    ends = offsets_of(store.lengths[order[places[by_document]]])
    cuts = np.flatnonzero(np.diff(ends[1:] // BLOCK_FEATURES)) + 1
    for at in np.split(by_document, cuts):
        yield store.take(order[places[at]]), at


# Members of a hot group that are compared with each other; of very many groups, fewer of each.
SAMPLE, SMALL_SAMPLE = 12, 6
ALIKE = 0.5  # if this share of their pairs passes, the group consists of copies


def refine(hot: Groups, leaders: Leaders, rare_keys: RareKeys | None, verify: Verify) -> Groups:
    """``hot`` with groups of unlike members regrouped by rare keys; unchanged if there are none."""
    if not len(hot) or rare_keys is None:
        return hot
    few = len(hot) * SAMPLE * (SAMPLE - 1) // 2 <= leaders.usual_pairs
    unlike = share_alike(hot, verify, SAMPLE if few else SMALL_SAMPLE) < ALIKE
    places = np.unique(hot.where(unlike).members.values)
    as_many = pair_count(hot.where(unlike))
    again = _rare_groups(places, leaders, RarePrefix(rare_keys), most_pairs=as_many)
    if again is None:
        return hot
    return distinct(Groups.concat([hot.where(~unlike), again]))


def share_alike(hot: Groups, verify: Verify, most: int = SAMPLE) -> Array:
    """The share of verified pairs among a few members of each group, chosen at even intervals."""
    begins = hot.members.offsets[:-1]
    sampled = [_sampled(size, most) for size in hot.members.lengths.tolist()]
    a, b = (
        np.concatenate([begin + pairs[side] for begin, pairs in zip(begins, sampled, strict=True)])
        for side in (0, 1)
    )
    a, b = hot.members.values[a], hot.members.values[b]
    of = np.repeat(np.arange(len(hot)), [len(pairs[0]) for pairs in sampled])
    width = int(hot.members.values.max()) + 1
    distinct, where = np.unique(a * width + b, return_inverse=True)
    passed = verify(distinct // width, distinct % width)
    good = np.isin(distinct, passed.a * width + passed.b)
    return np.bincount(of, good[where]) / np.bincount(of)


@functools.lru_cache(maxsize=4096)
def _sampled(size: int, most: int) -> tuple[Array, Array]:
    """The pairs of a few members of a group of this size."""
    some = np.linspace(0, size - 1, min(most, size)).astype(np.int64)
    i, j = np.triu_indices(len(some), 1)
    return some[i], some[j]
