"""Pairs of fingerprints within a Hamming distance, found table by table (Manku et al. 2007).

The kernel verifies pairs itself, so documents that share a narrow key by accident cost time but no
memory. Groups whose number of pairs would not be linear are returned as hot groups for the rule
(``decisions/rule.py``).
"""

from __future__ import annotations

import numpy as np

from neardup import _native
from neardup.matching.candidates import Candidates, Groups, Leaders, Verify, distinct
from neardup.methods.meeting import NearBits
from neardup.schema import Array, Ragged


def near_candidates(way: NearBits, leaders: Leaders, verify: Verify) -> Candidates:
    """Each pair (a < b) of documents with near fingerprints once, and hot groups."""
    places, budget = leaders.long, leaders.most_pairs
    documents = leaders.order[places]
    ascending = np.argsort(documents, kind="stable")
    values = leaders.store.take(documents[ascending]).values
    places = places[ascending]
    codes = np.empty(0, np.int64)
    if leaders.codes is not None:
        codes = leaders.codes[places].astype(np.int64)
    masks = way.masks(len(places), 1)
    pairs, hot = [np.empty((2, 0), np.int64)], []
    for table in range(len(masks)):
        a, b, members, ends = _native.near_pairs(
            values, codes, masks.reshape(-1), masks.shape[1], way.distance, table, budget
        )
        budget -= len(a)
        pairs.append(np.stack([places[a], places[b]]))
        hot.append(_group(places, members, ends))
    both = np.concatenate(pairs, axis=1)
    verified = verify(both.min(axis=0), both.max(axis=0))
    return Candidates(verified, distinct(Groups.concat(hot)), verify)


def _group(places: Array, members: Array, ends: Array) -> Groups:
    """Groups with members in ascending order, as the rule expects them."""
    group = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    named = places[members]
    return Groups(Ragged(named[np.lexsort((named, group))], ends), np.ones(len(members), np.uint8))
