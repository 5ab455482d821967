"""Documents with equal evidence are one document to every method: the first stands for all.

This is what makes a million copies of one text linear.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from neardup.schema import Array


def leaders(digests: Array, rank: Array, within: Array | None = None) -> npt.NDArray[np.int64]:
    """For each document the first, by rank, of those with its digest (and its ``within`` code)."""
    code = within if within is not None else np.zeros(len(rank), np.int64)
    order = np.lexsort((rank, code, digests[:, 1], digests[:, 0]))
    same = np.ones(len(order), bool)
    for column in (digests[:, 0], digests[:, 1], code):
        same[1:] &= column[order[1:]] == column[order[:-1]]
    same[:1] = False
    start = np.flatnonzero(~same)
    leader = np.empty(len(order), np.int64)
    leader[order] = np.repeat(order[start], np.diff(np.append(start, len(order))))
    return leader
