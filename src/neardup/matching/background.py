"""Estimates the threshold of a collection from its scores alone (decision 0014).

Two signs are used. The first is a gap in the distribution of scores: few pairs have a score in the
gap, so a threshold there changes little. The second is contrast: if all other neighbours of two
documents score far lower, the pair is unusually similar and passes as an exception, even at a score
that would mean nothing elsewhere. Contrast finds scans and rewritten texts. The background of a
document is the score of its third best neighbour below the usual threshold, because the best two
may be copies. Low-scoring pairs are found by the rare features that they share.

A model has a threshold that was learned in a different collection. ``least_doubt`` may move it to a
nearby score at which the fewest pairs are in doubt (low-density separation, Chapelle & Zien 2005).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.matching.candidates import Leaders, share_keys
from neardup.matching.evidence import Pairs
from neardup.matching.rare import evidence_blocks
from neardup.methods.base import Method, RareEntries
from neardup.methods.parameters import moved
from neardup.schema import Array, Ragged

STEP = 0.05
HIGHEST = 0.6  # the search for a gap ends here
DEPTH = 0.7  # the height of a clear gap is at most this share of its lower side
FEWEST_PAIRS = 50
NEIGHBOUR = 3
CONTRAST = 1.5  # in log-odds
LEAST_THRESHOLD, NO_BACKGROUND = 0.02, 0.005
DOUBT = 0.5  # log-odds around the threshold of a model where pairs are in doubt
STRIDE = 0.05  # log-odds between two thresholds that are tried
HILL = 1.05  # doubt rises again when it exceeds the lowest doubt so far by this factor
ENOUGH_PAIRS = 300  # within 1 in log-odds of the threshold; with fewer, a gap may be chance
FEWEST_SHARED = 5  # rare features that a low-scoring pair has in common
LARGEST_GROUP = 64  # a feature of more documents is not rare, even if the table counts fewer
FEWEST_DOCUMENTS = 500  # fewer documents have no reliable background
MOST_FEATURES = 32 << 20  # more features are sampled (``one_in``)


class ScoreGap(NamedTuple):
    """If the scores show a gap, ``clear`` is true; otherwise ``threshold`` is the usual one."""

    threshold: float
    clear: bool


def score_gap(scores: Array, usual: float) -> ScoreGap:
    """The lowest point of the histogram between ``usual`` and ``HIGHEST``, if it is a clear gap."""
    edges = np.arange(usual, 1.0 + STEP / 2, STEP)
    if len(scores) < FEWEST_PAIRS or len(edges) < 5 or usual + STEP >= HIGHEST:
        return ScoreGap(usual, False)
    counts = np.histogram(np.minimum(scores, edges[-1] - STEP / 2), edges)[0].astype(np.float64)
    padded = np.concatenate([counts[:1], counts, counts[-1:]])
    smooth = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
    inside = int(np.count_nonzero(edges[:-1] + STEP <= HIGHEST + STEP / 2))
    lowest = int(np.argmin(smooth[:inside]))
    if lowest == 0:
        return ScoreGap(usual, False)
    sides = min(smooth[:lowest].max(), smooth[lowest + 1 :].max())
    if smooth[lowest] > DEPTH * sides or sides - smooth[lowest] < 3 * np.sqrt(sides):
        return ScoreGap(usual, False)
    return ScoreGap(round(float(edges[lowest]) + STEP / 2, 3), True)


def least_doubt(scores: Array, usual: float, reach: float) -> float:
    """The threshold near ``usual`` at which the fewest pairs, relative to those that pass, are in
    doubt. Doubt must decrease on the way there. The threshold may move only half as far up as down,
    because nobody notices the duplicates that a threshold too high loses. ``scores`` has all pairs
    from the score ``reach`` on; pairs of probability 1 are equal texts and are ignored."""
    at, odds = _log_odds(np.array([usual]))[0], np.sort(_log_odds(scores[scores < 1]))
    if np.diff(np.searchsorted(odds, [at - 1, at + 1]))[0] < ENOUGH_PAIRS:
        return usual
    far = round((at - _log_odds(np.array([reach]))[0] - DOUBT) / STRIDE)
    tried = at + STRIDE * np.arange(-far, far + 1)
    below, here, beyond = np.searchsorted(odds, tried + np.array([[-DOUBT], [0], [DOUBT]]))
    # Divided by what passes: otherwise a threshold that hardly any pair reaches would look best.
    doubt = (beyond - below) / np.sqrt(len(odds) - here + 1)
    down, up = _downhill(doubt[far::-1]), _downhill(doubt[far : far + far // 2 + 1])
    steps = -down if doubt[far - down] <= doubt[far + up] else up
    return moved(usual, STRIDE * steps) if steps else usual


def _downhill(doubt: Array) -> int:
    """The number of steps from the first value to the lowest one before the values rise again."""
    lowest = np.minimum.accumulate(doubt)
    hills = np.flatnonzero(doubt > HILL * lowest)
    return int(np.argmin(doubt[: hills[0]] if len(hills) else doubt))


def _log_odds(probability: Array) -> Array:
    inside: Array = np.clip(probability, 1e-9, 1 - 1e-9)
    odds: Array = np.log(inside / (1 - inside))
    return odds


def stability(scores: Array, threshold: float) -> float | None:
    """The share of duplicates that stay the same if the threshold moves by 0.05 up or down."""
    near = np.count_nonzero(np.abs(scores - threshold) < STEP)
    above = np.count_nonzero(scores >= threshold)
    return round(max(0.0, float(1 - near / above)), 4) if above else None


def own_thresholds(documents: int, pairs: Pairs, usual: float) -> npt.NDArray[np.float64]:
    """For each document, the score from which a neighbour is an exception. It is infinite if it
    would exceed the ``usual`` threshold, from which pairs pass without contrast."""
    background = _background(documents, pairs.where(pairs.score < usual))
    odds = background / (1 - background) * np.exp(CONTRAST)
    thresholds = np.maximum(odds / (1 + odds), LEAST_THRESHOLD)
    return np.where(thresholds < usual, thresholds, np.inf)


def _background(documents: int, pairs: Pairs) -> Array:
    document = np.concatenate([pairs.a, pairs.b])
    score = np.concatenate([pairs.score, pairs.score])
    order = np.lexsort((-score, document))
    document, score = document[order], score[order]
    ends = np.searchsorted(document, np.arange(documents + 1))
    at = ends[:-1] + NEIGHBOUR - 1
    enough = at < ends[1:]
    background = np.full(documents, NO_BACKGROUND)
    background[enough] = np.maximum(score[at[enough]], NO_BACKGROUND)
    return background


def above_both(pairs: Pairs, thresholds: Array) -> Pairs:
    """The pairs that reach the own thresholds of both their documents."""
    return pairs.where(pairs.score >= np.maximum(thresholds[pairs.a], thresholds[pairs.b]))


def background_pairs(leaders: Leaders, method: Method) -> tuple[Pairs, Array]:
    """The low-scoring pairs of all documents; none if these are too few for a background."""
    places = leaders.long
    enough = places if len(places) >= FEWEST_DOCUMENTS else places[:0]
    return low_scoring_pairs(enough, leaders, method)


def low_scoring_pairs(places: Array, leaders: Leaders, method: Method) -> tuple[Pairs, Array]:
    """Pairs of ``places`` that share rare features, with a score estimated from these features
    alone, and a mask of the pairs that may be exceptions. Empty if no document may be part of an
    exception."""
    if not _anyone_may(places, leaders, method):
        return Pairs.none(), np.empty(0, np.bool_)
    entries, every = _rare_entries(places, leaders, method)
    codes = None if leaders.codes is None else leaders.codes[places]
    return pairs_of_entries(entries, every, places, codes)


def pairs_of_entries(
    rare: RareEntries, every: int, places: Array, codes: Array | None
) -> tuple[Pairs, Array]:
    """``low_scoring_pairs`` of the documents at ``places``, from their rare entries."""
    entries, weights = rare.entries, rare.weights
    groups = share_keys(entries, entries.lengths.astype(np.int32), codes)
    members = groups.where(groups.members.lengths <= LARGEST_GROUP).members
    least = max(2, -(-FEWEST_SHARED // every))
    looks = np.ones(len(members.values), np.uint8)
    columns = members.values, looks, members.offsets
    a, b, shared, _ = _native.sharing_pairs(*columns, len(places), least)
    usual = (entries.values & np.uint64(0xFFFFFFFF)).sum() / max(len(entries.values), 1)
    weight = shared * (usual * every)
    score = weight / np.maximum(weights[a] + weights[b] - weight, weight)
    return Pairs(places[a], places[b], score), rare.may[a] | rare.may[b]


def _anyone_may(places: Array, leaders: Leaders, method: Method) -> bool:
    """Whether any document may be part of an exception; usually none may."""
    blocks = evidence_blocks(places, leaders.order, leaders.store)
    return any(method.may_be_exceptions(evidence).any() for evidence, _ in blocks)


def one_in(features: int) -> int:
    """The sampling interval for so many features: one in this number is used."""
    return 1 + features // MOST_FEATURES


def _rare_entries(places: Array, leaders: Leaders, method: Method) -> tuple[RareEntries, int]:
    order, store = leaders.order, leaders.store
    every = one_in(int(store.lengths[order[places]].sum()))
    parts, at = [], [np.empty(0, np.int64)]
    for evidence, where in evidence_blocks(places, order, store):
        parts.append(method.rare_entries(evidence, every))
        at.append(where)
    back = np.argsort(np.concatenate(at), kind="stable")
    entries = Ragged.concat([part.entries for part in parts], np.uint64)
    weights = np.concatenate([np.empty(0, np.int64), *(part.weights for part in parts)])
    may = np.concatenate([np.empty(0, np.bool_), *(part.may for part in parts)])
    return RareEntries(entries.take(back), weights[back], may[back]), every
