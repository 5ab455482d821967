"""Tables of keys, made and grouped one at a time, for methods that choose them by the number of
documents (SimHash after Manku et al.). Only documents that met someone are remembered."""

from __future__ import annotations

import numpy as np

from neardup.matching.candidates import Groups, share_keys
from neardup.matching.evidence import EvidenceStore
from neardup.methods.method import TableMethod
from neardup.schema import Array, Ragged


def table_groups(
    places: Array, order: Array, within: Array | None, method: TableMethod, store: EvidenceStore
) -> Groups:
    """Groups of ``places`` (places in ``order``) that share a key of some table."""
    if not len(places):
        return Groups.concat([])
    codes = None if within is None else within[places]
    evidence = _evidence(order[places], store)
    found = []
    for keys in method.table_keys(evidence, len(places)):
        groups = share_keys(keys, keys.lengths.astype(np.int32), codes)
        members = Ragged(places[groups.members.values], groups.members.offsets)
        found.append(Groups(members, groups.probes))
    return Groups.concat(found)


def _evidence(documents: Array, store: EvidenceStore) -> Ragged:
    """The store gives documents in ascending order only."""
    ascending = np.argsort(documents, kind="stable")
    back = np.empty_like(ascending)
    back[ascending] = np.arange(len(ascending))
    return store.take(documents[ascending]).take(back)
