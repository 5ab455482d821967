"""Maps the ``meeting`` that a method declares to the code that finds which documents meet.

This is the only place that decides which file of ``matching/`` serves which way to meet:
``candidates`` for all documents of a collection, ``postings`` for documents that arrive one by one.

Pairs of fingerprints within a Hamming distance, found table by table (Manku et al. 2007).

The kernel verifies pairs itself, so documents that share a narrow key by accident cost time but no
memory. Crowds, whose number of pairs would not be linear, are returned as groups for the rule.
"""

from __future__ import annotations

import numpy as np

from neardup import _native
from neardup.matching.candidates import Candidates, Groups, Leaders, Verify, distinct
from neardup.matching.paths import path_candidates
from neardup.matching.postings import Postings
from neardup.matching.rare import rare_candidates
from neardup.matching.shared_keys import KeyPostings, key_candidates
from neardup.matching.window import UNCLIPPED, SlottedWindow
from neardup.methods.meeting import Meeting, NearBits, RarePrefix, SharedKeys, SharedWindow
from neardup.schema import Array, Ragged


def candidates(meeting: Meeting, leaders: Leaders, verify: Verify) -> Candidates:
    """The verified pairs of leaders that meet, and hot groups."""
    way = meeting.batch
    if isinstance(way, SharedKeys):
        return key_candidates(way, leaders, verify)
    if isinstance(way, RarePrefix):
        return rare_candidates(way, leaders, verify)
    if isinstance(way, NearBits):
        return near_candidates(way, leaders, verify)
    return path_candidates(way, leaders, verify)


def postings(
    meeting: Meeting, period: int | None = None, clip: tuple[float, float] = UNCLIPPED
) -> Postings:
    """An empty memory of documents for later arrivals. ``period`` is the time that one slot of a
    window covers; None if documents never expire. ``clip`` are the shares of documents above and
    below which a feature is not looked up, where features are."""
    way = meeting.arrival
    if isinstance(way, SharedWindow):
        return SlottedWindow(way.share, period, clip)
    return KeyPostings(way.least)


def near_candidates(way: NearBits, leaders: Leaders, verify: Verify) -> Candidates:
    """Each pair (a < b) of documents with near fingerprints once, and crowds."""
    places, budget = leaders.long, leaders.most_pairs
    documents = leaders.order[places]
    ascending = np.argsort(documents, kind="stable")
    values = leaders.store.take(documents[ascending]).values
    places = places[ascending]
    codes = np.empty(0, np.int64)
    if leaders.codes is not None:
        codes = leaders.codes[places].astype(np.int64)
    masks = way.masks(len(places), 1)
    pairs, crowds = [np.empty((2, 0), np.int64)], []
    for table in range(len(masks)):
        a, b, members, ends = _native.near_pairs(
            values, codes, masks.reshape(-1), masks.shape[1], way.distance, table, budget
        )
        budget -= len(a)
        pairs.append(np.stack([places[a], places[b]]))
        crowds.append(_group(places, members, ends))
    both = np.concatenate(pairs, axis=1)
    verified = verify(both.min(axis=0), both.max(axis=0))
    return Candidates(verified, distinct(Groups.concat(crowds)), verify)


def _group(places: Array, members: Array, ends: Array) -> Groups:
    """Groups with members in ascending order, as the rule expects them."""
    group = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    named = places[members]
    return Groups(Ragged(named[np.lexsort((named, group))], ends), np.ones(len(members), np.uint8))
