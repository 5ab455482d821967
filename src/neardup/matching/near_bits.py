"""Fingerprints within a Hamming distance, table by table (Manku et al. 2007).

Pairs come verified from the kernel, so that accidental meetings under a narrow key cost time and no
memory. Crowds, where pairs would not be linear, are left as groups for the rule to walk.
"""

from __future__ import annotations

import numpy as np

from neardup import _native
from neardup.matching.candidates import Groups
from neardup.matching.evidence import EvidenceStore
from neardup.methods.base import BitsMethod
from neardup.schema import Array, Ragged


def near_pairs(
    places: Array,
    order: Array,
    within: Array | None,
    method: BitsMethod,
    store: EvidenceStore,
    budget: int,
) -> tuple[Array, Array, Groups]:
    """Pairs (a < b) of ``places`` (places in ``order``), each once, and crowds."""
    documents = order[places]
    ascending = np.argsort(documents, kind="stable")
    values = store.take(documents[ascending]).values
    places = places[ascending]
    codes = np.empty(0, np.int64) if within is None else within[places].astype(np.int64)
    masks = method.masks(len(places))
    found, crowds = [], []
    for table in range(len(masks)):
        a, b, members, ends = _native.near_pairs(
            values, codes, masks.reshape(-1), masks.shape[1], method.distance, table, budget
        )
        budget -= len(a)
        found.append(np.stack([places[a], places[b]]))
        crowds.append(_group(places, members, ends))
    both = np.concatenate([np.empty((2, 0), np.int64), *found], axis=1)
    return both.min(axis=0), both.max(axis=0), Groups.concat(crowds)


def _group(places: Array, members: Array, ends: Array) -> Groups:
    """The rule walks members in ascending order."""
    group = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    named = places[members]
    return Groups(Ragged(named[np.lexsort((named, group))], ends), np.ones(len(members), np.uint8))
