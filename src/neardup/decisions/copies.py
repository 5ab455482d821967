"""What the rule said of leaders, for all documents: copies with equal evidence follow theirs.

A follower of a kept leader is set aside for it. A follower of a leader that was itself set aside
matches what the leader matches, and may also meet a better one that was kept between the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neardup.matching.verify import Pairs
from neardup.schema import Array, offsets_of


@dataclass(frozen=True)
class Decided:
    """By document. ``kept_of`` is −1 for kept documents."""

    kept_of: npt.NDArray[np.int64]
    score: npt.NDArray[np.float64]

    @property
    def kept(self) -> npt.NDArray[np.bool_]:
        return self.kept_of < 0


def decide_all(leader: Array, rank: Array, kept_of: Array, score: Array, pairs: Pairs) -> Decided:
    """``kept_of`` and ``score`` hold the verdict of leaders by document; ``pairs`` are theirs."""
    everyone = np.arange(len(leader))
    follower = leader != everyone
    kept_of, score = kept_of.copy(), score.copy()
    of_kept = follower & (kept_of[leader] < 0)
    kept_of[of_kept], score[of_kept] = leader[of_kept], 1.0
    orphans = np.flatnonzero(follower & ~of_kept)
    if len(orphans):
        kept = (kept_of < 0) & ~follower
        kept_of[orphans], score[orphans] = _best_of(orphans, leader, rank, kept, pairs)
    return Decided(kept_of, score)


def _best_of(
    orphans: Array, leader: Array, rank: Array, kept: Array, pairs: Pairs
) -> tuple[Array, Array]:
    """For each orphan, its leader's best match among documents kept before the orphan itself."""
    one = np.concatenate([pairs.a, pairs.b])
    other = np.concatenate([pairs.b, pairs.a])
    score = np.concatenate([pairs.score, pairs.score])
    use = kept[other]
    one, other, score = one[use], other[use], score[use]
    order = np.argsort(one, kind="stable")
    one, other, score = one[order], other[order], score[order]
    begin = np.searchsorted(one, leader[orphans], side="left")
    count = np.searchsorted(one, leader[orphans], side="right") - begin
    place = np.repeat(np.arange(len(orphans)), count)
    edge = np.arange(len(place)) - np.repeat(offsets_of(count)[:-1] - begin, count)
    before = rank[other[edge]] < rank[orphans[place]]
    place, edge = place[before], edge[before]
    best = np.lexsort((rank[other[edge]], -score[edge], place))
    first = best[np.flatnonzero(np.diff(place[best], prepend=-1))]
    return other[edge[first]], score[edge[first]]
