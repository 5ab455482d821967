"""The one rule: taken in order, a document is a duplicate iff it matches one kept before it.

``kept_of`` is, among the kept documents earlier in the order that match, the one with the best
score, then the earliest. ``decide`` applies the rule to all documents of a run, ``best_match`` to
one that arrives when all before it are decided; both give the same answer.

``decide`` works on ranks (place in the order), not on documents. Pairs of small groups are verified
beforehand. A *hot* group has too many members to compare all pairs (``matching/candidates.py``).
Its members are taken in blocks that double in size, and each is compared with the kept members
only: with all of them where few are kept, else with those that share most groups with it. So a
group in which nothing matches does not cost its square. A *leader* is the first document with its
evidence, its *followers* have equal evidence: ``decide`` decides leaders, ``decide_all`` the
followers. A follower of a kept leader is its duplicate. A follower of a leader that is itself a
duplicate matches what the leader matches, and may also match a better document that was kept
between the two.

The reason of a decision is worded by one table, for the arrays of a run and for one arrival of an
index. What a method notes of a document beside its decision (its flags) follows in brackets.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.classes import dataclass
from neardup.matching.candidates import MOST_COMPARED, Groups
from neardup.matching.evidence import Pairs
from neardup.methods.base import FLAGS, TOO_SHORT, Method
from neardup.schema import Array, offsets_of

FIRST_BLOCK, LAST_BLOCK = 64, 8192
# After so many members of a walk of which fewer than one in ``HARDLY`` match, a member is compared
# with a quarter of the others.
FEWEST_WALKED, HARDLY, FEWER = 1_000, 256, 4


@dataclass(frozen=True)
class Verdict:
    """What was decided, by rank. ``kept_of`` is −1 for kept documents; ``pairs`` are all verified
    pairs that were seen; ``capped`` marks ranks that were not compared with all that they met."""

    kept: npt.NDArray[np.bool_]
    kept_of: npt.NDArray[np.int64]
    score: npt.NDArray[np.float64]
    pairs: Pairs
    capped: npt.NDArray[np.bool_]


def best_match(scores: Sequence[float | None]) -> int | None:
    """The rule for one arrival. ``scores`` are those with the documents that it may match, in their
    order, None where a pair does not pass; the place of the one that it is a duplicate of."""
    best = None
    for place, score in enumerate(scores):
        if score is not None and (best is None or score > scores[best]):  # type: ignore[operator]
            best = place
    return best


def decide(
    count: int,
    pairs: Pairs,
    hot: Groups,
    verify: Callable[[Array, Array], Pairs],
    followed: Array | None = None,
    refs: int = 0,
    most: int = MOST_COMPARED,
) -> Verdict:
    """``pairs`` and ``hot`` in ranks; ``verify`` scores pairs of ranks.

    ``followed`` marks ranks with copies further on: where such a one is set aside, its copies may
    match what is kept after it (``decide_all``), so those pairs are verified too.
    The first ``refs`` ranks are kept, whatever they match. A member of a hot group is compared with
    at most ``most`` ranks kept before its block, and with as many of its block.
    """
    kept, capped = np.ones(count, np.uint8), np.zeros(count, np.uint8)
    if len(hot):
        pairs, capped = _walk(kept, pairs, hot, verify, followed, refs, most)
    else:
        _native.greedy(*_by_later(pairs), kept)
    kept_of, score = _best(kept.view(np.bool_), pairs)
    return Verdict(kept.view(np.bool_), kept_of, score, pairs, capped.view(np.bool_))


def _by_later(pairs: Pairs) -> tuple[Array, Array]:
    """(later, earlier), sorted by the later one, as ``greedy`` takes them."""
    later, earlier = np.maximum(pairs.a, pairs.b), np.minimum(pairs.a, pairs.b)
    order = np.argsort(later, kind="stable")
    return later[order], earlier[order]


def _best(kept: Array, pairs: Pairs) -> tuple[Array, Array]:
    later, earlier = np.maximum(pairs.a, pairs.b), np.minimum(pairs.a, pairs.b)
    usable = kept[earlier] & ~kept[later]
    later, earlier, score = later[usable], earlier[usable], pairs.score[usable]
    order = np.lexsort((earlier, -score, later))
    first = order[np.flatnonzero(np.diff(later[order], prepend=-1))]
    kept_of = np.full(len(kept), -1, np.int64)
    best = np.zeros(len(kept))
    kept_of[later[first]] = earlier[first]
    best[later[first]] = score[first]
    return kept_of, best


def _walk(
    kept: Array,
    cold: Pairs,
    hot: Groups,
    verify: Callable[[Array, Array], Pairs],
    followed: Array | None,
    refs: int,
    most: int,
) -> tuple[Pairs, Array]:
    """Decides all ranks; returns cold pairs and those verified on the way, and which ranks were not
    compared with all that they met."""
    walk = _native.HotWalk(hot.members.values, hot.probes, hot.members.offsets, len(kept), most)
    ranks = walk.ranks()
    later, earlier = _by_later(cold)
    begin = int(np.searchsorted(ranks, refs))
    walk.remember(0, begin, kept)
    seen, done, size = [cold], 0, FIRST_BLOCK
    walked = alike = 0
    while begin < len(ranks):
        end = min(begin + size, len(ranks))
        hardly = walked >= FEWEST_WALKED and HARDLY * alike < walked
        walk.at_most(most // FEWER if hardly else most)
        block = ranks[begin:end]
        matched = verify(*walk.with_kept(begin, end))
        # Only those that match nothing kept before the block can be kept themselves.
        open_ = np.zeros(len(kept), np.uint8)
        open_[block] = 1
        open_[matched.a] = 0
        inner = verify(*walk.among(begin, end, open_, open_))
        upto = int(np.searchsorted(later, block[-1], side="right"))
        cold_part = Pairs(later[done:upto], earlier[done:upto], np.zeros(upto - done))
        _native.greedy(*_by_later(Pairs.concat([cold_part, matched, inner])), kept)
        # One that had matched before may match one kept in this very block still better.
        fresh = np.zeros(len(kept), np.uint8)
        fresh[block] = kept[block]
        seen += [matched, inner, verify(*walk.among(begin, end, 1 - open_, fresh))]
        walk.remember(begin, end, kept)
        walked += len(block)
        alike += len(np.unique(np.concatenate([matched.a, inner.a])))
        done, begin, size = upto, end, min(size * 2, LAST_BLOCK)
    _native.greedy(later[done:], earlier[done:], kept)
    walk.at_most(most)
    if followed is not None:
        seen.append(verify(*walk.after((followed & (kept == 0)).view(np.uint8))))
    return Pairs.concat(seen).distinct(), walk.capped()


@dataclass(frozen=True)
class Decided:
    """What was decided, by document. ``kept_of`` is −1 for kept documents."""

    kept_of: npt.NDArray[np.int64]
    score: npt.NDArray[np.float64]

    @property
    def kept(self) -> npt.NDArray[np.bool_]:
        return self.kept_of < 0


def decide_all(leader: Array, rank: Array, kept_of: Array, score: Array, pairs: Pairs) -> Decided:
    """``kept_of`` and ``score`` hold the verdict of leaders by document, and get that of all;
    ``pairs`` are those of leaders."""
    followers = np.flatnonzero(leader != np.arange(len(leader), dtype=leader.dtype))
    led_by = leader[followers]
    to_kept = kept_of[led_by] < 0
    copies, orphans = followers[to_kept], followers[~to_kept]
    kept_of[copies], score[copies] = led_by[to_kept], 1.0
    if len(orphans):
        kept = kept_of < 0
        kept[followers] = False
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


def rule_clusters(kept_of: Array) -> npt.NDArray[np.int32]:
    """The cluster number of each document, −1 if it is alone. ``kept_of`` is the document for which
    it was set aside, −1 for a kept document."""
    inside = kept_of >= 0
    inside[kept_of[inside]] = True
    members = np.flatnonzero(inside)
    root = kept_of[members]
    return _numbered(members, np.where(root < 0, members, root), len(kept_of))


def number_clusters(root: Array) -> npt.NDArray[np.int32]:
    """Numbers for clusters of two or more, in the order of their first member; else −1. ``root`` is
    a document of the cluster of each document."""
    inside = np.flatnonzero(np.bincount(root, minlength=len(root))[root] > 1)
    return _numbered(inside, root[inside], len(root))


def _numbered(members: Array, root: Array, documents: int) -> npt.NDArray[np.int32]:
    number = np.full(documents, -1, np.int32)
    _, first, inverse, count = np.unique(
        root, return_index=True, return_inverse=True, return_counts=True
    )
    several = np.flatnonzero(count > 1)
    place = np.full(len(first), -1, np.int32)
    place[several[np.argsort(first[several])]] = np.arange(len(several), dtype=np.int32)
    number[members] = place[inverse]
    return number


UNIQUE, REPRESENTATIVE, SHORT, EQUAL, EXCEPTION, PASSED = range(6)


# By kept * 8 + too short * 4 + has copies * 2 + score below the threshold.
_TABLE = [
    *(PASSED, EXCEPTION, PASSED, EXCEPTION, EQUAL, EQUAL, EQUAL, EQUAL),
    *(UNIQUE, UNIQUE, REPRESENTATIVE, REPRESENTATIVE, SHORT, SHORT, SHORT, SHORT),
]
_WORDS = ("unique", "representative", "too_short", "equal")  # then those of the method


def reasons(method: Method, kept: Array, short: Array, copies: Array, score: Array) -> pa.Array:
    """The reason of each document; ``copies`` marks documents that have duplicates, ``score`` is
    that of duplicates."""
    place: Any = kept * 8 + short * 4 + copies * 2 + (score < method.threshold)
    words = pa.array([*_WORDS, method.exception_reason, method.reason], pa.large_string())
    return words.take(pa.array(np.array(_TABLE)[place]))


def duplicate_reason(method: Method, flags: int, score: float) -> str:
    """The reason of one duplicate, with its notes."""
    place = bool(flags & TOO_SHORT) * 4 + (score < method.threshold)
    words = (*_WORDS, method.exception_reason, method.reason)
    return words[_TABLE[place]] + note(flags & ~TOO_SHORT)


def kept_reason(flags: int, copies: int) -> str:
    """The reason of one kept document, with its notes; ``copies`` counts its duplicates."""
    place = 8 + bool(flags & TOO_SHORT) * 4 + bool(copies) * 2
    return _WORDS[_TABLE[place]] + note(flags & ~TOO_SHORT)


@functools.lru_cache(maxsize=256)
def note(flags: int) -> str:
    """What a method notes of a document: "" or " (undated)"."""
    names = [name for bit, name in FLAGS.items() if flags & bit]
    return f" ({', '.join(names)})" if names else ""


def notes(flags: Array) -> pa.Array:
    """``note`` of each document, for the column of reasons."""
    codes, where = np.unique(flags & ~np.uint8(TOO_SHORT), return_inverse=True)
    return pa.array(map(note, codes.tolist()), pa.large_string()).take(pa.array(where))


def with_notes(written: pa.Array, notes: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(written, notes, pa.scalar("", pa.large_string()))
