"""Candidates of a document → the best that passes, scored on their evidence.

Few are scored one by one where the method can, many at once; what is found is the same. Where the
method is calibrated, faint pairs that stand out and that its calibration lists pass too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neardup.artefacts.calibration import Calibration
from neardup.methods.method import CalibratedMethod, Method, PairScorer, Scores, ScoresPairs
from neardup.online.signature import Signature
from neardup.schema import Array, Ragged, offsets_of

FEW = 16  # candidates that are scored faster one by one


@dataclass(slots=True)
class Known:
    """A document that can be matched; its evidence where the memory keeps it. ``form``: the digest
    of the normal form by which a calibration knows it, that of the first with such evidence."""

    seq: int
    id: str
    time: int
    text_digest: int
    normal_digest: int
    form: int
    cut: float
    group: int
    evidence: Array


class Found(NamedTuple):
    known: Known
    score: float


def best_of(found: Iterable[Found]) -> Found | None:
    """The first of the best."""
    return max(found, key=lambda one: one.score, default=None)


class Scorer:
    def __init__(self, method: Method, cuts: Calibration | None = None) -> None:
        self._method, self._cuts = method, cuts
        self.calibrated = isinstance(method, CalibratedMethod) and method.calibrate
        self._score_pair = method.pair_scorer() if isinstance(method, ScoresPairs) else None

    def best(self, candidates: list[Known], signature: Signature, form: int) -> Found | None:
        """Of candidates in the order of their arrival; ``form`` is that of the signature."""
        if self._score_pair and len(candidates) <= FEW:
            return best_of(_one_by_one(self._score_pair, candidates, signature.evidence))
        passed, score, _ = self._scores(candidates, signature, form)
        both = zip(candidates, passed.tolist(), score.tolist(), strict=True)
        return best_of(Found(known, s) for known, passes, s in both if passes)

    def confirmed(self, known: Known, signature: Signature) -> bool:
        """Whether one with an equal digest is a copy."""
        if not self._method.confirms_copies:
            return True
        return bool(self._method.score(*evidence_pairs([known], signature)).passed[0])

    def _scores(self, candidates: list[Known], signature: Signature, form: int) -> Scores:
        pairs = evidence_pairs(candidates, signature)
        scores = self._method.score(*pairs)
        if not self.calibrated or self._cuts is None or signature.cut != signature.cut:
            return scores
        forms = np.array([known.form for known in candidates], np.uint64)
        listed = self._cuts.lists(forms, np.full(len(forms), form, np.uint64))
        if not listed.any():
            return scores
        cuts = np.array([known.cut for known in candidates])
        return self._with_faint(pairs, scores, np.maximum(cuts, signature.cut), listed)

    def _with_faint(
        self, pairs: tuple[Ragged, Array, Array], scores: Scores, cuts: Array, listed: Array
    ) -> Scores:
        """Listed pairs below the threshold that stand out: both documents reach their own cuts."""
        method = self._method
        assert isinstance(method, CalibratedMethod)
        faint = method.faint_score(*pairs)
        whole = method.whole_score(*pairs)
        out = listed & faint.passed & (faint.score >= cuts) & (whole < method.threshold)
        return Scores(scores.passed | out, np.where(out & ~scores.passed, whole, scores.score))


def _one_by_one(
    score_pair: PairScorer, candidates: Iterable[Known], evidence: Array
) -> Iterable[Found]:
    for known in candidates:
        score = score_pair(known.evidence, evidence)
        if score is not None:
            yield Found(known, score)


def evidence_pairs(candidates: list[Known], signature: Signature) -> tuple[Ragged, Array, Array]:
    """Evidence of the candidates and then of the document, and the pairs of each with it."""
    rows = [known.evidence for known in candidates]
    rows.append(signature.evidence)
    count = len(candidates)
    evidence = Ragged(np.concatenate(rows), offsets_of(np.array([len(row) for row in rows])))
    return evidence, np.arange(count), np.full(count, count)
