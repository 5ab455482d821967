"""Hot groups: many documents share a key, but are they alike?

Where they are (a thousand versions of one text), the rule needs to compare each with the few that
are kept, and the group may stay large. Where they are not (one template, other facts), all would be
kept and compared with each other. Such groups get new keys: of each document the rarest features,
as many as make it certain that a partner has one of them (prefix filter). What the template gives
is common and drops out; no pair above the threshold is lost. Where even the rarest features are
common (character q-grams of one language), the groups stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neardup.matching.candidates import Groups, distinct, pair_count
from neardup.matching.evidence import EvidenceStore
from neardup.matching.rare import rare_groups
from neardup.matching.verify import Pairs
from neardup.methods.method import Method, OverlapMethod
from neardup.schema import Array

SAMPLE = 12
ALIKE = 0.5

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
    if not len(hot) or not isinstance(method, OverlapMethod):
        return hot
    unlike = _share_alike(hot, verify) < ALIKE
    places = np.unique(hot.where(unlike).members.values)
    as_many = pair_count(hot.where(unlike))
    again = rare_groups(places, order, within, method, store, most_pairs=as_many)
    if again is None:
        return hot
    return distinct(Groups.concat([hot.where(~unlike), again]))


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
