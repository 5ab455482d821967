"""What one method decides for two texts, as it would in a run, and what decided it.

With the artefacts of a run, its calibration included, the verdict is the answer of that run;
without them, tables are counted from the two texts alone and a note reports it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from neardup import schema
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts, ReadyNeed, resolved
from neardup.artefacts.calibration import ORIGINS, Calibration
from neardup.artefacts.frequencies import FrequencyNeed
from neardup.matching.scorer import Scorer
from neardup.methods.base import Method, Prepared, whole_scores
from neardup.text.recognition import FLOOR
from neardup.text.words import words
from neardup.wording import many

WHY = {
    "equal": ("their evidence is equal, so nothing else is asked",),
    "too short": ("texts with so few different words are duplicates only of equal ones",),
    "veto": ("the score passes, a veto of the method does not",),
    "own cuts": (
        "a pair below the threshold passes if its rare features reach the thresholds of both "
        f"documents and at least {FLOOR} % of the smaller text is found in the other",
    ),
    "read": (
        "a pair that shares little text, or scores below the threshold, passes only if the "
        "calibration read both texts and recognised one in the other",
    ),
    "neighbours": ("a pair has to reach the smaller of the thresholds of its documents",),
}
NO_COLUMNS: Mapping[str, Any] = MappingProxyType({})
DECIMALS, MOST_DECIMALS = 4, 12
REPETITIVE = 4  # times that a word occurs on average in a text that is rather repetitive than short
_FIRST, _SECOND = np.array([0], np.int64), np.array([1], np.int64)


@dataclass(frozen=True)
class Verdict:
    """``decided``: "score", "equal" (evidence), "too short", "veto" (above the threshold, and
    refused all the same), "own cuts" (below it, but far above the background), "read"
    (the calibration lists it) or "neighbours" (both documents have much better neighbours).

    ``score`` is always that of the whole comparison, whatever the threshold; None where the method
    does not compare texts as short as these. ``score_meaning`` says in plain words what it is.
    ``cut_by``: in a calibrated run, what says where to cut: "valley", "planted", "least doubt",
    "usual", "unlike", "consistency", "few neighbours" or "inconsistent".
    ``own_cuts`` are those of the two documents there, where both have one. ``note`` says what else
    is to be known.
    """

    method: str
    threshold: float
    score: float | None
    duplicate: bool
    decided: str = "score"
    note: str | None = None
    cut_by: str | None = None
    own_cuts: tuple[float, float] | None = None
    score_meaning: str | None = None

    def __str__(self) -> str:
        says = "duplicate" if self.duplicate else "no duplicate"
        note = f" ({self.note})" if self.note else ""
        return f"{self.method} ≥ {self.threshold:.4g}: {self._scored()}, {says}{note}"

    def _scored(self) -> str:
        """The score with as many decimals as show on which side of the threshold it is."""
        if self.score is None:
            return "not scored"
        reached = self.score >= self.threshold
        for decimals in range(DECIMALS, MOST_DECIMALS):
            said = f"{self.score:.{decimals}f}"
            if (float(said) >= self.threshold) == reached:
                return f"score {said}"
        return f"score {self.score!r}"

    def lines(self) -> list[str]:
        """What decided, where it was more than one score and one threshold."""
        told = []
        if self.cut_by is not None:
            told.append(f"the threshold is {self.threshold:.4g}, {ORIGINS[self.cut_by]}")
        if self.own_cuts:
            first, second = self.own_cuts
            told.append(f"thresholds of the two documents: {first:.4g} and {second:.4g}")
        return [*told, *WHY.get(self.decided, ())]

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "own_cuts": list(self.own_cuts) if self.own_cuts else None}


def judge(
    method: Method,
    a: str,
    b: str,
    artefacts: Artefacts = NO_ARTEFACTS,
    columns: Mapping[str, Any] = NO_COLUMNS,
) -> Verdict:
    """What the method decides for two valid texts. Short ones are duplicates only if their evidence
    is equal, as in a run."""
    batch = _batch(method, a, b, columns)
    general = {need.name: need.general() for need in _general(method)}
    known = artefacts or {**resolved(method.needs, batch), **general}
    prepared = method.prepare(batch, known)
    found = _found(method, prepared, artefacts)
    if found.decided in ("too short", "equal"):
        found = _worded(found, [words(text, getattr(method, "text", None)) for text in (a, b)])
    calibration = artefacts.get(Calibration.kind)
    unknown = _unknown(method, artefacts, columns, scored=found.score is not None)
    return Verdict(
        method=method.name,
        threshold=method.threshold,
        score=found.score,
        duplicate=found.duplicate,
        decided=found.decided,
        note="; ".join(filter(None, (found.note, *unknown))) or None,
        cut_by=calibration.by if isinstance(calibration, Calibration) else None,
        own_cuts=_own_cuts(calibration, prepared),
        score_meaning=method.score_meaning,
    )


def _general(method: Method) -> list[Any]:
    """The needs of frequencies, which two texts cannot meet: what strangers share would be rare in
    all documents. The part of a combined method wraps its need."""
    frequencies = [n for n in method.needs if isinstance(getattr(n, "need", n), FrequencyNeed)]
    return [need for need in frequencies if need.file is None]


def _unknown(
    method: Method, artefacts: Artefacts, columns: Mapping[str, Any], *, scored: bool
) -> Iterator[str]:
    """What a run would know beside the two texts."""
    unknown = [need for need in method.needs if need.file is None and not artefacts and scored]
    general = [need.name for need in _general(method)] if unknown else []
    if general:
        yield f"with general {' and '.join(general)}; a run counts its own"
    counted = [n.name for n in unknown if n.name not in general and not isinstance(n, ReadyNeed)]
    if counted:
        yield f"{' and '.join(counted)} counted from these two texts alone"
    if missing := [name for name in method.columns if name not in columns]:
        yield f"compared without the column {' and '.join(missing)}, which is not given"


def _batch(method: Method, a: str, b: str, columns: Mapping[str, Any]) -> pa.RecordBatch:
    texts = [
        pa.array([1, 2], pa.int64()),
        *(pa.array(x, pa.large_string()) for x in (["a", "b"], [a, b])),
    ]
    batch = pa.RecordBatch.from_arrays(texts, schema=schema.documents())
    for name in method.columns:
        values = pa.array(columns[name]) if name in columns else pa.nulls(2, pa.large_string())
        batch = batch.append_column(name, values)
    return batch


@dataclass(frozen=True)
class _Found:
    score: float | None
    duplicate: bool
    decided: str
    note: str | None = None


def _found(method: Method, prepared: Prepared, artefacts: Artefacts) -> _Found:
    if bool((prepared.digests[0] == prepared.digests[1]).all()):
        return _Found(1.0, True, "equal")
    if prepared.too_short.any():  # what stands for a short text is a digest: it has no score
        return _Found(None, False, "too short", "too short to be compared")
    scorer = Scorer(method, artefacts)
    scores = whole_scores(method, prepared.evidence, _FIRST, _SECOND)
    score = float(scores.score[0])
    if scorer.consistency is not None:
        return _consistent(scorer, prepared, score)
    if scores.passed[0]:
        return _Found(score, True, "score")
    refusal = method.refusals(prepared.evidence, _FIRST, _SECOND)[0]
    if score >= method.threshold:
        return _Found(score, False, "veto", refusal)
    below = _Found(score, False, "score", refusal)
    return _low(scorer, prepared, artefacts, below) if method.calibrate else below


def _worded(found: _Found, texts: Sequence[Sequence[str]]) -> _Found:
    """Says what the texts lack. Texts without words are equal, but nothing of them was measured."""
    if found.duplicate:
        return found if any(texts) else replace(found, score=None, note="neither text has a word")
    longest = max(texts, key=lambda text: len(text) / max(len(set(text)), 1))
    if len(longest) < REPETITIVE * max(len(set(longest)), 1):
        return found
    different = f"{many(len(set(longest)), 'different word')} of {len(longest):,}"
    return replace(found, note=f"too repetitive to be compared: {different}")


def _consistent(scorer: Scorer, prepared: Prepared, score: float) -> _Found:
    """What a calibration by consistency decides, and what decided it."""
    calibration, forms = scorer.consistency, prepared.normal_digests
    assert calibration is not None
    evidence = prepared.evidence
    duplicate = bool(scorer.scores(evidence, _FIRST, _SECOND, forms).passed[0])
    if duplicate and calibration.lists(forms[:1], forms[1:])[0]:
        return _Found(score, True, "read", "the texts were read and recognised")
    if duplicate or score < calibration.threshold:
        return _Found(score, duplicate, "score")
    if refusal := scorer.method.refusals(evidence, _FIRST, _SECOND)[0]:
        return _Found(score, False, "veto", refusal)
    if scorer.method.comparisons(evidence, _FIRST, _SECOND).thin[0]:
        return _Found(score, False, "veto", "they share too little text to pass unread")
    return _Found(score, False, "neighbours", "both have much better neighbours")


def _low(scorer: Scorer, prepared: Prepared, artefacts: Artefacts, below: _Found) -> _Found:
    """The verdict on a pair whose score is below the threshold; where both documents have own
    thresholds, these decide."""
    low = scorer.method.low_score(prepared.evidence, _FIRST, _SECOND)
    own = _own_cuts(scorer.exceptions, prepared)
    if own is None:
        unsure = bool(low.passed[0]) and Calibration.kind not in artefacts
        return (
            replace(below, note="a calibrated run may accept it as unusually similar")
            if unsure
            else below
        )
    decided = replace(below, decided="own cuts")
    if scorer.scores(prepared.evidence, _FIRST, _SECOND, prepared.normal_digests).passed[0]:
        return replace(decided, duplicate=True, note="it is unusually similar")
    if low.passed[0] and low.score[0] >= max(own):
        return replace(decided, note="too little of one text can be read in the other")
    return replace(decided, note=below.note or "it is not unusually similar")


def _own_cuts(calibration: object, prepared: Prepared) -> tuple[float, float] | None:
    """The own thresholds of both documents; None if one of them has only the threshold of all."""
    if not isinstance(calibration, Calibration):
        return None
    digests = prepared.normal_digests
    if not calibration.has(digests).all():
        return None
    first, second = calibration.thresholds_of(digests)
    return float(first), float(second)
