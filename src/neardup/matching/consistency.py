"""Where duplicates begin, estimated from how consistent the groups of a collection are.

For a threshold t the documents fall into groups by average link, where a pair that never met scores
0. Groups are consistent if each document is a neighbour of nearly all others of its group, and if
its best score outside the group is far below its scores inside. J(t) adds that up over the
documents in groups. The threshold is the highest one that is nearly as consistent as the best; it
falls below 0.5 only in collections that are large and in which most documents have a neighbour.

Then documents refuse neighbours that are much worse than their best ones (own thresholds), and in
collections with a low threshold two documents that are each other's best neighbour may pass below
it (mutual bests). Documents are numbered by their digests before anything is added up, so the
result does not depend on the order of the input.

The constants were chosen together on labelled collections (decisions 0024 and 0027); whoever
changes one runs ``make quality``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.artefacts.calibration import (
    CONSISTENCY,
    EVERY_PAIR,
    FEW_NEIGHBOURS,
    INCONSISTENT,
    Calibration,
    Curve,
    Expected,
)
from neardup.classes import dataclass
from neardup.matching.evidence import Pairs
from neardup.schema import Array

RULE = "consistency"  # the value of ``Method.calibration``
LEAST = 0.06  # the lowest score of a pair that is looked at
GRID = np.arange(8, 87, 2) / 100
EXPECTED = 0.6  # what a document in a group must have of consistency to count for the threshold
GENERAL = 0.5  # the threshold where the collection shows none
NEAR, NEAR_LOW = 0.97, 0.95  # shares of the best J that are as good, from ``GENERAL`` on and below
FEWEST_LINKED = 100  # documents in groups at ``GENERAL``; fewer move nothing
FEWEST_DOCUMENTS = 500  # of fewer the threshold never falls below ``GENERAL``
CLEAR = 0.05  # J for each document below which a low threshold is not believed
GAIN = 1.1  # times the best J from ``GENERAL`` on, which a low threshold must reach
GAIN_OF_CUTS = 1.3  # the same of a method that takes only its threshold from the groups
LINKED_SHARE = 0.4  # of the documents, in groups at a low threshold
# Articles about one event come that near by chance. So low a threshold is believed only where this
# share of the documents is in groups at ``GENERAL`` too.
BY_CHANCE, LINKED_TOO = 0.2, 0.2
CONTRAST, CONTRAST_LOW = 0.75, 0.35  # of the reference score, from ``GENERAL`` on and below
REFERENCE = 10  # one in so many neighbours is better than the reference of a document
FLOOR, FLOOR_LOW = 60, 40  # percent of the pieces of the smaller text that must be recognised
NEARLY = 0.75  # pairs from this share of the threshold on may be duplicates that were missed
# Shares of what is in doubt: of pairs that pass, wrong ones, and at most; of pairs nearly at the
# threshold, missed ones. And the share of the duplicates that may be further away than that.
WRONG, WRONG_AT_MOST, MISSED, MISSED_UNSEEN = 0.3, 1.4, 0.5, 0.1
MOST_READ = 2_000  # pairs whose texts are read for a calibration
# What pairs are matched by before a calibration is made: templates and thin pairs pass too.
MATCHING = Calibration(LEAST, EVERY_PAIR)


def consistency_curve(
    documents: int, pairs: Pairs, thresholds: Array = GRID, least: float = LEAST
) -> Curve:
    """J(t) and the number of documents in groups, for each of the thresholds. The sums are added in
    the order of the documents; those without a pair are in no group, and are left out."""
    paired, pairs = pairs.alone(documents)
    documents = len(paired)
    sided = _by_document(pairs)
    once = np.ones(documents)
    low, high, height = _native.average_link(once, pairs.a, pairs.b, pairs.score, least)
    height = np.minimum.accumulate(height)
    values, linked = np.zeros(len(thresholds)), np.zeros(len(thresholds), np.int64)
    for step, threshold in enumerate(thresholds):
        merged = np.searchsorted(-height, -threshold, side="right")
        group = merged_groups(documents, low[:merged], high[:merged])
        values[step], linked[step] = _consistency(group, sided, threshold)
    return Curve(thresholds, values, linked)


def merged_groups(documents: int, low: Array, high: Array) -> npt.NDArray[np.int64]:
    """The smallest document of each document's group. Clusters are named by their smallest
    document, so each ``high`` is merged only once."""
    group = np.arange(documents)
    group[high] = low
    while (further := group[group]).tobytes() != group.tobytes():
        group = further
    return group


class _Sided(NamedTuple):
    """Each pair from both sides, by document and falling score."""

    document: Array
    other: Array
    score: Array


def _by_document(pairs: Pairs) -> _Sided:
    document = np.concatenate([pairs.a, pairs.b])
    other = np.concatenate([pairs.b, pairs.a])
    score = np.concatenate([pairs.score, pairs.score])
    order = np.lexsort((-score, document))
    return _Sided(document[order], other[order], score[order])


def _consistency(group: Array, sided: _Sided, threshold: float) -> tuple[float, int]:
    documents = len(group)
    size = np.bincount(group, minlength=documents)[group]
    inside = group[sided.document] == group[sided.other]
    linked = inside & (sided.score >= threshold)
    neighbour, score = sided.document[linked], sided.score[linked]
    degree = np.bincount(neighbour, minlength=documents)
    mean = np.bincount(neighbour, score, minlength=documents) / np.maximum(degree, 1)
    outside = np.zeros(documents)
    document, score = sided.document[~inside], sided.score[~inside]
    best = np.append(True, document[1:] != document[:-1])[: len(document)]
    outside[document[best]] = score[best]
    some = size > 1
    complete = degree[some] / (size[some] - 1)
    apart = 1 - outside[some] / np.maximum(mean[some], 1e-9)
    return float((complete * apart - EXPECTED).sum()), int(some.sum())


class Choice(NamedTuple):
    """``by`` is the value of ``Calibration.by``."""

    threshold: float
    by: str


def chosen_threshold(documents: int, curve: Curve) -> Choice:
    """The highest threshold whose J is near the best one."""
    low = _low_threshold(documents, curve)
    if low is not None:
        return Choice(low, CONSISTENCY)
    high = curve.thresholds >= GENERAL
    values = curve.consistency[high]
    if curve.linked[high][0] < FEWEST_LINKED:
        return Choice(GENERAL, FEW_NEIGHBOURS)
    if values.max() <= 0:
        return Choice(GENERAL, INCONSISTENT)
    return Choice(float(curve.thresholds[high][values >= NEAR * values.max()].max()), CONSISTENCY)


def chosen_cut(documents: int, curve: Curve, usual: float) -> Choice | None:
    """The same for a method that asks for nothing but its threshold, which is ``usual`` the one of
    its own. It goes below that for a clear gain and where many documents are in groups. None where
    the groups show no threshold."""
    best, high = float(curve.consistency.max()), curve.thresholds >= usual
    above = float(curve.consistency[high].max(initial=0.0))
    if best <= 0:
        return None
    step = int(np.flatnonzero(curve.consistency >= NEAR_LOW * best).max())
    low = best >= GAIN_OF_CUTS * above and curve.thresholds[step] < usual
    if low and curve.linked[step] >= max(LINKED_TOO * documents, FEWEST_LINKED):
        return Choice(float(curve.thresholds[step]), CONSISTENCY)
    if above <= 0 or curve.linked[high][0] < FEWEST_LINKED:
        return None
    steps = high & (curve.consistency >= NEAR * above)
    return Choice(float(curve.thresholds[steps].max()), CONSISTENCY)


def _low_threshold(documents: int, curve: Curve) -> float | None:
    """A threshold below ``GENERAL``, where the collection shows one clearly."""
    best = float(curve.consistency.max())
    above = float(curve.consistency[curve.thresholds >= GENERAL].max())
    if documents < FEWEST_DOCUMENTS or best < CLEAR * documents or best < GAIN * max(above, 0.0):
        return None
    step = int(np.flatnonzero(curve.consistency >= NEAR_LOW * best).max())
    threshold = float(curve.thresholds[step])
    enough = curve.linked[step] >= LINKED_SHARE * documents
    linked_too = curve.linked[np.searchsorted(curve.thresholds, GENERAL)] >= LINKED_TOO * documents
    believed = enough and (linked_too or threshold >= BY_CHANCE)
    return threshold if threshold < GENERAL and believed else None


def expected_quality(passing: int, near: float, curve: Curve, threshold: float) -> Expected | None:
    """What can be known without labels of the pairs that pass. What is inconsistent speaks against
    them; pairs ``near`` the threshold that do not pass may be duplicates that were missed. How far
    the truth is from that was seen on labelled collections (docs/quality.md, "What a run expects
    of itself")."""
    if not passing:
        return None
    step = int(np.abs(curve.thresholds - threshold).argmin())
    linked = int(curve.linked[step])
    # The mean of what J adds up, over the documents in groups: 1 where nothing is in doubt.
    doubt = 1 - (float(curve.consistency[step]) / linked + EXPECTED if linked else 1.0)
    right, found = 1 - WRONG_AT_MOST * doubt, passing / (passing + near)
    shares = (
        1 - WRONG * doubt,
        _lower_end(right, passing),
        passing / (passing + MISSED * near),
        _lower_end(found, passing) - MISSED_UNSEEN,
    )
    return Expected(*(round(min(max(share, 0.0), 1.0), 4) for share in shares))


def _lower_end(share: float, n: int) -> float:
    """The lower end of Wilson's interval of 90 %."""
    z, share = 1.645, max(share, 0.0)
    spread = z * np.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    return float((share + z * z / (2 * n) - spread) / (1 + z * z / n))


@dataclass(frozen=True)
class Neighbourhoods:
    """``own`` is the threshold of each document, ``best`` the score of its best neighbour. A pair
    must reach the smaller of the two own thresholds."""

    own: npt.NDArray[np.float32]
    best: npt.NDArray[np.float64]

    def passes(self, pairs: Pairs, threshold: float) -> npt.NDArray[np.bool_]:
        """The pairs that pass by their scores, before templates and thin pairs are refused."""
        smaller = np.minimum(self.own[pairs.a], self.own[pairs.b]).astype(np.float64)
        passing: npt.NDArray[np.bool_] = (pairs.score >= threshold) & (pairs.score >= smaller)
        if threshold >= GENERAL:
            return passing
        best = np.maximum(self.best[pairs.a], self.best[pairs.b])
        return passing | ((pairs.score >= best) & (pairs.score >= LEAST))


def neighbourhoods(documents: int, pairs: Pairs, threshold: float) -> Neighbourhoods:
    sided = _by_document(pairs)
    ends = np.searchsorted(sided.document, np.arange(documents + 1))
    alone = ends[1:] == ends[:-1]
    padded = np.append(sided.score, 0.0)
    best = np.where(alone, 0.0, padded[ends[:-1]])
    if threshold < GENERAL:
        return Neighbourhoods((CONTRAST_LOW * best).astype(np.float32), best)
    near = sided.document[sided.score >= threshold]
    degree = np.bincount(near, minlength=documents)
    reference = np.where(alone, 0.0, padded[ends[:-1] + degree // REFERENCE])
    return Neighbourhoods((CONTRAST * reference).astype(np.float32), best)
