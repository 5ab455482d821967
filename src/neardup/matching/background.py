"""Where duplicates begin, told from the scores of a collection alone (decision 0014).

Two signs. A valley in the distribution of scores: few pairs are neither alike nor unlike, and a cut
there changes little. And contrast: a document whose other neighbours are all far away has a
neighbour that stands out, even at a score that would say nothing elsewhere; scans and rewritten
texts are found so. The background of a document is its third best neighbour below the usual
threshold, because the best ones may be its copies.

A model has a cut that was learned in another collection. Here it may go downhill, to where the
fewest pairs are in doubt (low-density separation, Chapelle & Zien 2005).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.matching.verify import Pairs
from neardup.methods.thresholds import moved
from neardup.schema import Array

STEP = 0.05
HIGHEST = 0.6  # no valley is looked for above
DEPTH = 0.7  # of the lower of its two sides, that a clear valley has at most
FEWEST_PAIRS = 50
NEIGHBOUR = 3
CONTRAST = 1.5  # in log-odds
LEAST_CUT, NO_BACKGROUND = 0.02, 0.005
DOUBT = 0.5  # log-odds around a model's cut where pairs are in doubt
STRIDE = 0.05  # log-odds from one place of it to the next
HILL = 1.05  # times the lowest doubt so far
ENOUGH_PAIRS = 300  # within a log-odd of a model's cut; of fewer a valley may be chance


class Valley(NamedTuple):
    threshold: float
    clear: bool


def valley(scores: Array, usual: float) -> Valley:
    """The lowest place between the ``usual`` threshold and ``HIGHEST``, where it is one."""
    edges = np.arange(usual, 1.0 + STEP / 2, STEP)
    if len(scores) < FEWEST_PAIRS or len(edges) < 5 or usual + STEP >= HIGHEST:
        return Valley(usual, False)
    counts = np.histogram(np.minimum(scores, edges[-1] - STEP / 2), edges)[0].astype(np.float64)
    padded = np.concatenate([counts[:1], counts, counts[-1:]])
    smooth = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
    inside = int(np.count_nonzero(edges[:-1] + STEP <= HIGHEST + STEP / 2))
    lowest = int(np.argmin(smooth[:inside]))
    if lowest == 0:
        return Valley(usual, False)
    sides = min(smooth[:lowest].max(), smooth[lowest + 1 :].max())
    if smooth[lowest] > DEPTH * sides or sides - smooth[lowest] < 3 * np.sqrt(sides):
        return Valley(usual, False)
    return Valley(round(float(edges[lowest]) + STEP / 2, 3), True)


def least_doubt(scores: Array, usual: float, reach: float) -> float:
    """The cut that lies downhill from the ``usual`` one: where fewer pairs are in doubt, for what
    passes. No hill is crossed to get there, and it is half as far up as down, because what is
    lost by a cut too high nobody sees. All pairs from ``reach`` on are given; those of probability
    1 are equal texts and tell nothing."""
    at, odds = _log_odds(np.array([usual]))[0], np.sort(_log_odds(scores[scores < 1]))
    if np.diff(np.searchsorted(odds, [at - 1, at + 1]))[0] < ENOUGH_PAIRS:
        return usual
    far = round((at - _log_odds(np.array([reach]))[0] - DOUBT) / STRIDE)
    cuts = at + STRIDE * np.arange(-far, far + 1)
    below, cut, beyond = np.searchsorted(odds, cuts + np.array([[-DOUBT], [0], [DOUBT]]))
    # With their number alone, a cut that lets hardly anything pass would look best.
    doubt = (beyond - below) / np.sqrt(len(odds) - cut + 1)
    down, up = _downhill(doubt[far::-1]), _downhill(doubt[far : far + far // 2 + 1])
    steps = -down if doubt[far - down] <= doubt[far + up] else up
    return moved(usual, STRIDE * steps) if steps else usual


def _downhill(doubt: Array) -> int:
    """How many steps from the first it is to the lowest, before a hill begins."""
    lowest = np.minimum.accumulate(doubt)
    hills = np.flatnonzero(doubt > HILL * lowest)
    return int(np.argmin(doubt[: hills[0]] if len(hills) else doubt))


def _log_odds(probability: Array) -> Array:
    kept: Array = np.clip(probability, 1e-9, 1 - 1e-9)
    odds: Array = np.log(kept / (1 - kept))
    return odds


def stability(scores: Array, threshold: float) -> float | None:
    """The share of duplicates that moving the cut by 0.05 either way would not touch."""
    near = np.count_nonzero(np.abs(scores - threshold) < STEP)
    above = np.count_nonzero(scores >= threshold)
    return round(max(0.0, float(1 - near / above)), 4) if above else None


def own_cuts(documents: int, pairs: Pairs, usual: float) -> npt.NDArray[np.float64]:
    """The score from which each document's neighbours stand out; infinite where that would be above
    the ``usual`` threshold, which needs no contrast."""
    background = _background(documents, pairs.where(pairs.score < usual))
    odds = background / (1 - background) * np.exp(CONTRAST)
    cuts = np.maximum(odds / (1 + odds), LEAST_CUT)
    return np.where(cuts < usual, cuts, np.inf)


def _background(documents: int, pairs: Pairs) -> Array:
    document = np.concatenate([pairs.a, pairs.b])
    score = np.concatenate([pairs.score, pairs.score])
    order = np.lexsort((-score, document))
    document, score = document[order], score[order]
    ends = np.searchsorted(document, np.arange(documents + 1))
    at = ends[:-1] + NEIGHBOUR - 1
    there = at < ends[1:]
    found = np.full(documents, NO_BACKGROUND)
    found[there] = np.maximum(score[at[there]], NO_BACKGROUND)
    return found


def standing_out(pairs: Pairs, cuts: Array) -> Pairs:
    """The pairs that reach the cuts of both their documents."""
    return pairs.where(pairs.score >= np.maximum(cuts[pairs.a], cuts[pairs.b]))
