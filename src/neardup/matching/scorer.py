"""Which pairs pass, and with which score: the one answer for batch, index, result lists and Spark
(a bitmap window of an index, ``matching/window.py``, gives exact scores of its own).

A pair passes where its method passes it at the threshold that holds for all. A calibration
(``artefacts/calibration.py``) may list exceptions below that threshold: pairs of documents that are
known by the digests of their normal forms, each with a threshold of its own. A listed pair passes
where its score on rare features alone reaches the own thresholds of both documents.

By a calibration of consistency, a pair passes where it also reaches the smaller of the own
thresholds of its documents and shares enough of their texts, or where it is listed. A document that
the calibration does not know has no threshold of its own, and its pairs are never listed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts
from neardup.artefacts.calibration import EVERY_PAIR, Calibration
from neardup.matching import consistency
from neardup.methods.base import Method, Scores
from neardup.methods.meeting import SPREAD
from neardup.schema import Array, Ragged, offsets_of

ROUNDING = 1e-6  # more than a score can be below a threshold that it reaches in integers
FEW = 16  # pairs that are scored faster one by one
_EXCEPTION = np.uint64(0xD1B54A32D192ED03)  # keys of exceptions never meet the others


class Scorer:
    """``method`` has its threshold where the calibration among the artefacts puts it."""

    def __init__(self, method: Method, artefacts: Artefacts = NO_ARTEFACTS) -> None:
        self.method = method
        stored = artefacts.get(Calibration.kind) if method.calibrate else None
        calibration = stored if isinstance(stored, Calibration) else None
        consistent = method.calibration == consistency.RULE
        self.consistency = calibration if consistent else None
        listing = calibration is not None and len(calibration.digests) > 0
        self.exceptions = calibration if listing and not consistent else None
        # Whether it matters which documents a pair is of.
        self.asks_forms = listing
        self._score_pair = None if calibration is not None and consistent else method.pair_scorer()

    def scores(self, evidence: Ragged, a: Array, b: Array, forms: Array | None = None) -> Scores:
        """The scores of pairs of rows of the evidence. ``forms`` has the digest of the normal
        form of each row; without it no exception passes."""
        if self.consistency is not None:
            return self._consistent(self.consistency, evidence, a, b, forms)
        scores = self.method.score(evidence, a, b)
        if self.exceptions is None or forms is None:
            return scores
        listed = np.flatnonzero(self.exceptions.lists(forms[a], forms[b]) & ~scores.passed)
        if not len(listed):
            return scores
        found = self.low_scores(evidence, a[listed], b[listed], forms)
        passed, score = scores.passed.copy(), scores.score.copy()
        passed[listed] = found.passed
        score[listed] = np.where(found.passed, found.score, score[listed])
        return scores._replace(passed=passed, score=score)

    def _consistent(
        self, calibration: Calibration, evidence: Ragged, a: Array, b: Array, forms: Array | None
    ) -> Scores:
        if calibration.by == EVERY_PAIR:
            return self._looked_at(evidence, a, b)
        scores = self.method.score(evidence, a, b)
        passed, score, listed = scores.passed.copy(), scores.score.copy(), np.zeros(len(a), bool)
        if forms is not None and self.asks_forms:
            listed = calibration.lists(forms[a], forms[b])
            # Where there is none, the threshold for all pairs has decided already, in integers.
            own = calibration.thresholds_of(forms, otherwise=0.0)
            passed &= score >= np.minimum(own[a], own[b])
        if not self.method.refuses_thin:
            thin = np.flatnonzero(passed & ~listed)
            passed[thin] = ~self.method.comparisons(evidence, a[thin], b[thin]).thin
        low = np.flatnonzero(listed)
        compared = self.method.comparisons(evidence, a[low], b[low])
        passed[low] = ~compared.refused
        score[low] = np.where(scores.passed[low], score[low], compared.score)
        # A method may have counted these among the refused ones.
        again = passed[low] & ~scores.passed[low] & (compared.score >= self.method.threshold)
        return Scores(passed, score, max(scores.refused - int(again.sum()), 0))

    def _looked_at(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        """All pairs that a calibration by consistency looks at."""
        compared = self.method.comparisons(evidence, a, b)
        return Scores(compared.score >= consistency.LEAST, compared.score)

    def low_scores(self, evidence: Ragged, a: Array, b: Array, forms: Array) -> Scores:
        """Which of listed pairs pass below the threshold, and the whole score of each."""
        assert self.exceptions is not None
        own = self.exceptions.thresholds_of(forms)
        low = self.method.low_score(evidence, a, b)
        whole = self.method.whole_score(evidence, a, b)
        reached = low.passed & (low.score >= np.maximum(own[a], own[b]))
        return Scores(reached & (whole < self.method.threshold), whole)

    def reached(self, score: Array) -> npt.NDArray[np.bool_]:
        """Which pairs pass that were scored, and passed, at a lower threshold."""
        return np.asarray(score >= self.method.threshold)

    def possible(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        """Which pairs may pass, whatever documents they are of: all that do are among them."""
        if self.consistency is not None:
            scores = self._looked_at(evidence, a, b)
            least = self.method.threshold - ROUNDING
            every = self.consistency.by == EVERY_PAIR or len(self.consistency.pairs)
            return scores if every else scores._replace(passed=scores.score >= least)
        scores = self.method.score(evidence, a, b)
        if self.exceptions is None:
            return scores
        low = self.method.low_score(evidence, a, b)
        return scores._replace(passed=scores.passed | low.passed)

    def against(
        self, rows: Sequence[Array], evidence: Array, forms: Sequence[int] = ()
    ) -> list[float | None]:
        """The score of one document with each of others, by their evidence; None where the pair
        does not pass. ``forms``: those of the others, then its own."""
        if self._score_pair and len(rows) <= FEW:
            return [self._score_pair(row, evidence) for row in rows]
        digests = np.array(forms, np.uint64) if len(forms) else None
        scores = self.scores(*one_with_each(rows, evidence), digests)
        both = zip(scores.passed.tolist(), scores.score.tolist(), strict=True)
        return [score if passed else None for passed, score in both]

    def confirmed(self, row: Array, evidence: Array) -> bool:
        """Whether documents with equal digests are copies of each other."""
        if not self.method.confirms_copies:
            return True
        return bool(self.method.score(*one_with_each([row], evidence)).passed[0])

    def own_threshold(self, form: int) -> float | None:
        """The threshold of one document, by the digest of its normal form; None where it is in no
        listed pair."""
        if self.exceptions is None:
            return None
        listed = np.array([form], np.uint64)
        own = self.exceptions.thresholds_of(listed)
        return float(own[0]) if self.exceptions.has(listed)[0] else None

    def exception_keys(self, evidence: Ragged) -> Ragged:
        """Keys by which documents of listed pairs meet: their rare features."""
        entries = self.method.rare_entries(evidence, 1).entries
        return Ragged((entries.values >> np.uint64(32)) * SPREAD ^ _EXCEPTION, entries.offsets)


def one_with_each(rows: Sequence[Array], evidence: Array) -> tuple[Ragged, Array, Array]:
    """The evidence of others and then of one document, and the pairs of each of them with it."""
    every, count = [*rows, evidence], len(rows)
    lengths = np.array([len(row) for row in every])
    together = Ragged(np.concatenate(every), offsets_of(lengths))
    return together, np.arange(count), np.full(count, count)
