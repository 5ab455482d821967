"""Keys → groups of documents that share a key → candidate pairs.

Groups are cheap while they are small. ``split`` keeps all pairs of the small groups within a budget
and leaves the rest as hot groups, which the rule then walks document by kept document
(``decisions/rule.py``), so that no group costs its square.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.schema import Array, Ragged, offsets_of


@dataclass(frozen=True)
class Groups:
    """``members`` of group g share a key; at least two, at least one of which looks."""

    members: Ragged
    probes: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.members)

    def where(self, mask: Array) -> Groups:
        inside = np.repeat(mask, self.members.lengths)
        values = self.members.values[inside]
        return Groups(Ragged(values, offsets_of(self.members.lengths[mask])), self.probes[inside])

    @classmethod
    def concat(cls, parts: list[Groups]) -> Groups:
        members = Ragged.concat([part.members for part in parts], np.int64)
        probes = [part.probes for part in parts]
        return cls(members, np.concatenate([np.empty(0, np.uint8), *probes]))

    @property
    def pairs(self) -> int:
        """How many pairs all groups have together, repeats included."""
        sizes = self.members.lengths
        return int((sizes * (sizes - 1) // 2).sum())


def share_keys(keys: Ragged, probes: Array, within: Array | None = None) -> Groups:
    """``within`` holds a code a document: only documents of one code may meet."""
    values = keys.values
    if within is not None:
        spread = (within.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        values = values ^ np.repeat(spread, keys.lengths)
    members, looks, offsets = _native.shared_groups(values, keys.offsets, probes)
    return Groups(Ragged(members, offsets), looks)


def split(groups: Groups, budget: int) -> tuple[Groups, Groups]:
    """Small groups whose pairs together stay within ``budget``, and the hot rest."""
    sizes = groups.members.lengths
    order = np.argsort(sizes, kind="stable")
    spent = np.cumsum(sizes[order] * (sizes[order] - 1) // 2)
    affordable = int(np.searchsorted(spent, budget, side="right"))
    # Groups of one size stand or fall together, so that the split does not depend on key order.
    limit = sizes[order[affordable]] if affordable < len(sizes) else np.iinfo(np.int64).max
    small = sizes < limit
    return groups.where(small), groups.where(~small)


def pairs_of(groups: Groups) -> tuple[Array, Array]:
    """Every pair (a < b) that shares a key, once."""
    a, b = _native.group_pairs(groups.members.values, groups.probes, groups.members.offsets)
    return a, b
