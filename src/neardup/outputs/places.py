"""Where each result of a ranked list stands: under whom, and in which order groups are shown."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.kinds import Kinds
from neardup.methods.method import FLAGS
from neardup.schema import Array

CONTAINS = "contains"


@dataclass(frozen=True)
class Places:
    """By place in the ranking, best first: the row, the place of its representative, and of those
    that are under another the score and the kind."""

    row: npt.NDArray[np.int64]
    head: npt.NDArray[np.int64]
    score: npt.NDArray[np.float64]
    kind: Sequence[str | None]
    flags: Sequence[str]

    @classmethod
    def of(
        cls,
        order: Array,
        rows: Array,
        reasons: dict[int, str],
        kept_of: Array,
        score: Array,
        kind: Kinds,
        flags: Array,
    ) -> Places:
        """``kept_of`` and what follows are of the ``rows`` that were compared. A result that
        contains its representative has that among its flags."""
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        at, count = place[rows], len(order)
        head, scores = np.arange(count), np.full(count, np.nan)
        under = kept_of >= 0
        head[at[under]], scores[at[under]] = at[kept_of[under]], score[under]
        kinds: list[str | None] = [None] * count
        said = [reasons.get(row, "") for row in order.tolist()]
        names = {code: _names(code) for code in np.unique(flags).tolist()}
        columns = kind.columns()
        contains = pc.fill_null(pc.equal(columns["direction"].cast(pa.string()), "b_in_a"), False)
        of_rows = zip(
            *(at.tolist(), columns["kind"].to_pylist(), contains.to_pylist(), flags.tolist()),
            strict=True,
        )
        for i, one, more, code in of_rows:
            kinds[i] = one
            said[i] = ", ".join(filter(None, [names[code], CONTAINS if more else ""]))
        return cls(order, head, scores, kinds, said)

    @functools.cached_property
    def sequence(self) -> npt.NDArray[np.int64]:
        """All places as the list shows them."""
        places = np.arange(len(self.row))
        best = places.copy()
        np.minimum.at(best, self.head, places)
        return np.asarray(np.lexsort((places, self.head != places, best[self.head])))

    @property
    def indent(self) -> Array:
        under = self.head != np.arange(len(self.head))
        return np.asarray(under[self.sequence], np.int64)


def _names(code: int) -> str:
    return ", ".join(name for bit, name in FLAGS.items() if code & bit)
