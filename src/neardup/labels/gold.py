"""Gold: the known answer that an evaluation compares with, as a protocol and as groups.

``Gold`` classifies pairs of documents, given by their numbers, as positive (duplicates), negative
or unknown. ``GroupGold`` derives this from a column whose equal values are duplicates; ``PairGold``
(``labelled_pairs.py``) derives it from labelled pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.order import plain
from neardup.schema import Array

POSITIVE, NEGATIVE, UNKNOWN = 1, 0, -1

Classes = npt.NDArray[np.int8]


@dataclass
class Unused:
    """Counts of the labels that could not be used."""

    unknown_ids: int = 0  # rows with an id that no document has
    examples: list[str] = field(default_factory=list)  # of such ids
    with_itself: int = 0
    contradicting: int = 0  # pairs that are both positive and negative
    other_labels: dict[str, int] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        return {**vars(self)}


class Gold(Protocol):
    """``documents`` is the number of documents. Documents with the same number in ``same`` have
    texts that are equal after normalisation; ``same`` is None if that is not known."""

    @property
    def documents(self) -> int: ...

    complete: bool
    same: Array | None
    unused: Unused

    def classes(self, a: Array, b: Array) -> Classes: ...

    @property
    def names(self) -> list[str]: ...

    def label_codes(self, a: Array, b: Array) -> Array:
        """The label of each pair as an index into ``names``; −1 for a pair without a label."""
        ...

    def labels(self, a: Array, b: Array) -> npt.NDArray[np.object_]:
        """The label of each pair; "" if gold has no label for the pair."""
        return np.array([*self.names, ""], object)[self.label_codes(a, b)]

    def positives(self, limit: int | None = None) -> tuple[Array, Array]:
        """All positive pairs, sorted, the smaller number first. If there are more than ``limit``,
        about that many are drawn with a fixed seed."""
        ...

    def negatives_known(self) -> bool:
        """Whether any pair is known to be negative, or would be if it were: people judged what was
        returned. Without that, precision is undefined."""
        ...

    def positive_count(self, *, hard: bool = False) -> int:
        """The number of positive pairs; ``hard`` leaves out texts equal after normalisation."""
        ...

    def label_counts(self) -> dict[str, int]:
        """The number of pairs that have each label, as far as it can be counted."""
        ...

    def clusters(self) -> Array | None:
        """The true cluster of each document, −1 if unknown; None if there are too few labels."""
        ...

    def units(self) -> Array:
        """The sampling unit of each document for the bootstrap: its group, or the document alone.
        Both documents of a positive pair are in one unit."""
        ...

    def unit_positives(self, *, hard: bool = False) -> Array:
        """The number of positive pairs in each unit."""
        ...


def is_hard(gold: Gold, a: Array, b: Array) -> Array:
    return np.ones(len(a), bool) if gold.same is None else gold.same[a] != gold.same[b]


def joint(*codes: Array) -> Array:
    """One number for each distinct combination of the numbers at the same place."""
    combined = np.zeros(len(codes[0]), np.int64)
    for code in codes:
        code = np.unique(code, return_inverse=True)[1]
        width = int(code.max(initial=0)) + 1
        combined = np.unique(combined * width + code, return_inverse=True)[1]
    return combined


SAME_GROUP, OTHER_GROUP, EQUAL_TEXT = "same group", "other group", "equal text, other group"


@dataclass
class GroupGold(Gold):
    """Gold in which documents of one group are duplicates of each other; group −1 is unknown."""

    group: Array
    complete: bool = True
    same: Array | None = None
    unused: Unused = field(default_factory=Unused)

    @property
    def documents(self) -> int:
        return len(self.group)

    def classes(self, a: Array, b: Array) -> Classes:
        group_a, group_b = self.group[a], self.group[b]
        classes = np.full(len(a), NEGATIVE if self.complete else UNKNOWN, np.int8)
        classes[~is_hard(self, a, b)] = UNKNOWN
        classes[group_a == group_b] = POSITIVE
        classes[(group_a < 0) | (group_b < 0)] = UNKNOWN
        return classes

    @property
    def names(self) -> list[str]:
        return [SAME_GROUP, OTHER_GROUP, EQUAL_TEXT]

    def label_codes(self, a: Array, b: Array) -> Array:
        group_a, group_b = self.group[a], self.group[b]
        codes = np.where(is_hard(self, a, b), 1, 2)
        codes[group_a == group_b] = 0
        codes[(group_a < 0) | (group_b < 0)] = -1
        return codes

    def positives(self, limit: int | None = None) -> tuple[Array, Array]:
        if limit is not None and self.positive_count() > limit:
            return self._drawn(limit)
        order, starts = self._by_group()
        groups = [part for part in np.split(order, starts[1:]) if len(part) > 1]
        pairs = [np.triu_indices(len(group), 1) for group in groups]
        a = [group[i] for group, (i, _) in zip(groups, pairs, strict=True)]
        b = [group[j] for group, (_, j) in zip(groups, pairs, strict=True)]
        return _sorted(np.concatenate([np.empty(0, np.int64), *a]), np.concatenate([[], *b]))

    def _by_group(self) -> tuple[Array, Array]:
        """The documents sorted by group, and where each group starts."""
        known = np.flatnonzero(self.group >= 0)
        order = known[np.argsort(self.group[known], kind="stable")]
        return order, np.flatnonzero(np.diff(self.group[order], prepend=-1))

    def _drawn(self, limit: int) -> tuple[Array, Array]:
        order, starts = self._by_group()
        sizes = np.diff(starts, append=len(order))
        ends = np.cumsum(sizes * (sizes - 1) // 2)
        drawn = np.unique(np.random.default_rng(0).integers(0, int(ends[-1]), limit))
        place = np.searchsorted(ends, drawn, side="right")
        low, high = unranked(drawn - (ends[place] - sizes[place] * (sizes[place] - 1) // 2))
        return _sorted(order[starts[place] + low], order[starts[place] + high])

    def negatives_known(self) -> bool:
        return self.complete and len(np.unique(self.group[self.group >= 0])) > 1

    def positive_count(self, *, hard: bool = False) -> int:
        known = self.group >= 0
        total = _within(self.group[known])
        if hard and self.same is not None:
            total -= _within(joint(self.group[known], self.same[known]))
        return total

    def equal_across(self) -> int:
        """The number of pairs of equal text in different groups."""
        if self.same is None:
            return 0
        known = self.group >= 0
        group, same = self.group[known], self.same[known]
        return _within(same) - _within(joint(group, same))

    def label_counts(self) -> dict[str, int]:
        return {SAME_GROUP: self.positive_count()}

    def clusters(self) -> Array | None:
        return self.group if self.complete else None

    def units(self) -> Array:
        own = len(self.group) + np.arange(len(self.group))
        return joint(np.where(self.group < 0, own, self.group))

    def unit_positives(self, *, hard: bool = False) -> Array:
        units = self.units()
        sizes = np.bincount(units)
        total = sizes * (sizes - 1) // 2
        if hard and self.same is not None:
            combinations, first = np.unique(joint(units, self.same), return_index=True)
            sizes = np.bincount(joint(units, self.same), minlength=len(combinations))
            np.subtract.at(total, units[first], sizes * (sizes - 1) // 2)
        return total


def _within(codes: Array) -> int:
    sizes = np.unique(codes, return_counts=True)[1]
    return int((sizes * (sizes - 1) // 2).sum())


def _sorted(a: Array, b: Array) -> tuple[Array, Array]:
    order = np.lexsort((b, a))
    return a[order].astype(np.int64), b[order].astype(np.int64)


def unranked(number: Array) -> tuple[Array, Array]:
    """Pairs 0 ≤ low < high from their numbers in the order (0,1), (0,2), (1,2), (0,3) …"""
    high = np.floor((1 + np.sqrt(1 + 8 * number.astype(np.float64))) / 2).astype(np.int64)
    high -= high * (high - 1) // 2 > number  # the root may be rounded up
    high += high * (high + 1) // 2 <= number
    return number - high * (high - 1) // 2, high


def from_groups(
    values: pa.Array | pa.ChunkedArray | Sequence[Any],
    *,
    complete: bool = True,
    same: Array | None = None,
) -> GroupGold:
    """Equal values form one group; a null, empty or NaN value means no group."""
    column = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(list(values))
    encoded = pc.dictionary_encode(plain(column, "group"))
    codes = np.asarray(encoded.indices.fill_null(-1)).astype(np.int64)
    names = encoded.dictionary.to_pylist()
    undefined = [code for code, name in enumerate(names) if name == "" or name != name]  # NaN
    codes[np.isin(codes, undefined)] = -1
    return GroupGold(codes, complete, same)
