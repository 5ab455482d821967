"""The pairs of a run by rising score, in strata, and a random draw from each."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.evaluation.labels import Pair
from neardup.outputs.result import Result
from neardup.schema import Array


@dataclass(frozen=True)
class Drawn:
    """``pairs`` are sorted by score and then by name, so that their order in a run does not matter;
    stratum *i* is the rows from ``ends[i]`` to ``ends[i + 1]``, of which ``rows[i]`` were drawn."""

    pairs: pa.Table
    ends: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return int(self.pairs.num_rows)

    def pair(self, row: int) -> Pair:
        return Pair(self.pairs["a"][row].as_py(), self.pairs["b"][row].as_py())

    def digest(self) -> str:
        """Of all pairs with their scores: whether a run is still the one that was sampled."""
        made = hashlib.sha256()
        for name in ("a", "b", "score"):
            for buffer in self.pairs[name].combine_chunks().buffers():
                made.update(buffer or b"")
        return made.hexdigest()[:16]

    def scores(self, stratum: int) -> tuple[float, float]:
        """The lowest and the highest."""
        first, last = self.ends[stratum], self.ends[stratum + 1] - 1
        return tuple(float(self.pairs["score"][i].as_py()) for i in (first, last))  # type: ignore[return-value]

    def places(self, pairs: Collection[Pair]) -> Iterator[tuple[Pair, int]]:
        """Which of these are among its own, and the number of their stratum."""
        firsts = pa.array(sorted({pair.a for pair in pairs}), pa.large_string())
        near = np.flatnonzero(pc.is_in(self.pairs["a"], firsts).to_numpy())
        wanted = set(pairs)
        for row in near.tolist():
            if (pair := self.pair(row)) in wanted:
                yield pair, int(np.searchsorted(self.ends, row, side="right")) - 1


def draw_pairs(result: Result, wanted: int, strata: int, seed: str) -> Drawn:
    table = _sorted(result.pairs)
    ends = cut_strata(table["score"].to_numpy(), strata)
    shares = allocate([b - a for a, b in pairwise(ends)], wanted)
    random = Random(seed)
    rows = [
        tuple(sorted(random.sample(range(a, b), n)))
        for (a, b), n in zip(pairwise(ends), shares, strict=True)
    ]
    return Drawn(table, tuple(ends), tuple(rows))


def _sorted(pairs: pa.Table) -> pa.Table:
    """The smaller id first, as in :class:`Pair`."""
    a, b = pairs["a"], pairs["b"]
    ordered = pc.less_equal(a, b)
    table = pa.table(
        {
            "a": pc.if_else(ordered, a, b),
            "b": pc.if_else(ordered, b, a),
            "score": pairs["score"],
        }
    )
    return table.sort_by([("score", "ascending"), ("a", "ascending"), ("b", "ascending")])


def cut_strata(score: Array, strata: int) -> list[int]:
    """The ends of about ``strata`` parts of sorted scores, of about the same size; equal scores
    stay together, so there may be fewer."""
    edges = np.unique([len(score) * i // strata for i in range(strata + 1)])
    inner = edges[(edges > 0) & (edges < len(score))]
    # To the nearer end of the run of equal scores.
    low, high = (np.searchsorted(score, score[inner], side=side) for side in ("left", "right"))
    moved = np.where(inner - low <= high - inner, low, high)
    found: list[int] = np.unique([0, *moved.tolist(), len(score)]).tolist()
    return found


def allocate(sizes: Sequence[int], wanted: int) -> list[int]:
    """Equal numbers from all strata, as far as they have so many; what is left goes to others, the
    weakest scores first, because that is where a threshold errs."""
    shares = [0] * len(sizes)
    left = min(wanted, sum(sizes))
    while left:
        for i, size in enumerate(sizes):
            if left and shares[i] < size:
                shares[i] += 1
                left -= 1
    return shares
