"""What sort of duplicates the two documents of a pair are: the kinds of ``schema.KINDS``.

Digests tell ``identical`` and ``normalised``; all other kinds are read off the alignment of both
texts (``classify.py``; ``passages.py`` measures it, ``kind_rules.py`` has the rules). A kind says
nothing of whether a pair is one. It does not depend on which text comes first: the direction turns
with the texts, kind and confidence stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.schema import DIRECTIONS, KINDS, Array

# Of a set-aside document (a) and what it was set aside for (b).
WHICH = {"a_in_b": "contained in the kept one", "b_in_a": "contains the kept one"}
IDENTICAL, NORMALISED = KINDS.index("identical"), KINDS.index("normalised")
NONE = -1  # no kind, no direction


def said(kind: str, direction: str | None) -> str:
    """For people, of a set-aside document: ``excerpt, contains the kept one``."""
    return f"{kind}, {WHICH[direction]}" if direction else kind


class Kind(NamedTuple):
    """Of two texts. ``direction``: "a_in_b" where the second contains the first, "b_in_a", or None.
    ``confidence``: the share of planted pairs with features like these whose kind was right."""

    kind: str
    direction: str | None
    confidence: float


@dataclass(frozen=True)
class Kinds:
    """Of many pairs: numbers of kinds and directions, −1 where there is none."""

    kind: npt.NDArray[np.int8]
    direction: npt.NDArray[np.int8]
    confidence: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.kind)

    def __getitem__(self, i: int) -> Kind:
        direction = DIRECTIONS[self.direction[i]] if self.direction[i] >= 0 else None
        return Kind(KINDS[self.kind[i]], direction, float(self.confidence[i]))

    @classmethod
    def none(cls, count: int) -> Kinds:
        nothing = np.full(count, NONE, np.int8)
        return cls(nothing, nothing.copy(), np.zeros(count))

    @classmethod
    def concat(cls, parts: list[Kinds]) -> Kinds:
        return cls(
            np.concatenate([np.empty(0, np.int8), *(p.kind for p in parts)]),
            np.concatenate([np.empty(0, np.int8), *(p.direction for p in parts)]),
            np.concatenate([np.empty(0), *(p.confidence for p in parts)]),
        )

    @classmethod
    def of_columns(cls, table: pa.Table) -> Kinds:
        """What ``columns`` gave."""
        return cls(
            _numbers(table["kind"], KINDS),
            _numbers(table["direction"], DIRECTIONS),
            table["confidence"].fill_null(0.0).to_numpy().copy(),
        )

    def take(self, rows: Array) -> Kinds:
        return Kinds(self.kind[rows], self.direction[rows], self.confidence[rows])

    def turned(self, where: Array) -> Kinds:
        """With the other text first in these pairs."""
        turn = where & (self.direction >= 0)
        return Kinds(self.kind, np.where(turn, 1 - self.direction, self.direction), self.confidence)

    def put(self, where: Array, others: Kinds) -> None:
        """``others`` in the place of those marked or numbered."""
        self.kind[where] = others.kind
        self.direction[where] = others.direction
        self.confidence[where] = others.confidence

    def columns(self) -> dict[str, pa.Array]:
        """As ``schema.KIND_FIELDS`` has them."""
        return {
            "kind": _named(self.kind, KINDS),
            "direction": _named(self.direction, DIRECTIONS),
            "confidence": pa.array(self.confidence, mask=self.kind < 0),
        }

    def counts(self) -> dict[str, int]:
        """How many pairs are of each kind, where any is."""
        of_kind = np.bincount(self.kind[self.kind >= 0], minlength=len(KINDS)).tolist()
        return {name: count for name, count in zip(KINDS, of_kind, strict=True) if count}


def _named(codes: Array, names: tuple[str, ...]) -> pa.DictionaryArray:
    indices = pa.array(np.maximum(codes, 0).astype(np.int8), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.string()))


def _numbers(column: pa.ChunkedArray, names: tuple[str, ...]) -> npt.NDArray[np.int8]:
    found = pc.index_in(column.cast(pa.string()), pa.array(names, pa.string()))
    return np.array(pc.fill_null(found, NONE)).astype(np.int8)


def by_digests(a: Array, b: Array, text_digests: Array, normal_digests: Array) -> Kinds:
    """As far as digests tell it. −1 in ``a`` or ``b`` (no partner) gives no kind."""
    found = Kinds.none(len(a))
    found.kind[normal_digests[a] == normal_digests[b]] = NORMALISED
    found.kind[text_digests[a] == text_digests[b]] = IDENTICAL
    found.kind[(a < 0) | (b < 0)] = NONE
    found.confidence[found.kind >= 0] = 1.0
    return found
