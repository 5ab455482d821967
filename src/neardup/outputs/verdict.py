"""What one method says of two texts, as it would in a run, and what decided it.

The artefacts of a run make it that run's own word, its calibration included; without them, tables
are counted from the two texts alone and a note says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from neardup import schema
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts, ReadyNeed, resolved
from neardup.artefacts.calibration import LEAST_DOUBT, PLANTED, UNLIKE, USUAL, VALLEY, Calibration
from neardup.methods.method import CalibratedMethod, Method, Prepared

CUT = {
    VALLEY: "where the scores of the collection have a valley",
    LEAST_DOUBT: "near the model's, where the fewest duplicates of the collection are in doubt",
    PLANTED: "where planted copies and traps say",
    USUAL: "the usual one: the scores of the collection have no clear valley",
    UNLIKE: "the model's own: the collection is unlike what it was trained on",
}
WHY = {
    "equal": ("their evidence is equal, so nothing else is asked",),
    "too short": ("texts as short as these are duplicates only of equal ones",),
    "veto": ("the score passes, a veto of the method does not",),
    "own cuts": ("a pair below the cut for all has to reach both own cuts with what is rare",),
}
_FIRST, _SECOND = np.array([0], np.int64), np.array([1], np.int64)


@dataclass(frozen=True)
class Verdict:
    """``decided``: "score", "equal" (evidence), "too short", "veto" (above the threshold, and
    refused all the same) or "own cuts" (below it, but the pair stands out in its collection).

    ``cut_by``: in a calibrated run, what says where to cut: "valley", "planted", "least doubt",
    "usual" or "unlike".
    ``own_cuts`` are those of the two documents there, where both have one. ``note`` says what else
    is to be known.
    """

    method: str
    threshold: float
    score: float
    duplicate: bool
    decided: str = "score"
    note: str | None = None
    cut_by: str | None = None
    own_cuts: tuple[float, float] | None = None

    def __str__(self) -> str:
        says = "duplicate" if self.duplicate else "no duplicate"
        note = f" ({self.note})" if self.note else ""
        return f"{self.method} ≥ {self.threshold:.4g}: score {self.score:.4f}, {says}{note}"

    def lines(self) -> list[str]:
        """What decided, where it was more than one score and one threshold."""
        told = []
        if self.cut_by is not None:
            told.append(f"the cut for all is {self.threshold:.4g}, {CUT[self.cut_by]}")
        if self.own_cuts:
            first, second = self.own_cuts
            told.append(f"own cuts of the two documents: {first:.4g} and {second:.4g}")
        return [*told, *WHY.get(self.decided, ())]

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "own_cuts": list(self.own_cuts) if self.own_cuts else None}


def judge(method: Method, a: str, b: str, artefacts: Artefacts = NO_ARTEFACTS) -> Verdict:
    """Of valid texts. Short ones are duplicates only if their evidence is equal, as in a run."""
    batch = _batch(method, a, b)
    prepared = method.prepare(batch, artefacts or resolved(method.needs, batch))
    found = _found(method, prepared, artefacts)
    counted = [
        need.name
        for need in method.needs
        if need.file is None and not artefacts and not isinstance(need, ReadyNeed)
    ]
    alone = f"{' and '.join(counted)} counted from these two texts alone" if counted else None
    calibration = artefacts.get(Calibration.kind)
    return Verdict(
        method=method.name,
        threshold=method.threshold,
        score=found.score,
        duplicate=found.duplicate,
        decided=found.decided,
        note="; ".join(said for said in (found.note, alone) if said) or None,
        cut_by=calibration.by if isinstance(calibration, Calibration) else None,
        own_cuts=_own_cuts(calibration, prepared),
    )


def _batch(method: Method, a: str, b: str) -> pa.RecordBatch:
    columns = [
        pa.array([1, 2], pa.int64()),
        *(pa.array(x, pa.large_string()) for x in (["a", "b"], [a, b])),
    ]
    batch = pa.RecordBatch.from_arrays(columns, schema=schema.documents())
    for name in method.columns:  # of two bare texts nothing more is known
        batch = batch.append_column(name, pa.nulls(2, pa.large_string()))
    return batch


@dataclass(frozen=True)
class _Found:
    score: float
    duplicate: bool
    decided: str
    note: str | None = None


def _found(method: Method, prepared: Prepared, artefacts: Artefacts) -> _Found:
    if bool((prepared.digests[0] == prepared.digests[1]).all()):
        return _Found(1.0, True, "equal")
    scores = method.score(prepared.evidence, _FIRST, _SECOND)
    score, passed = float(scores.score[0]), bool(scores.passed[0])
    if prepared.too_short.any():
        return _Found(score, False, "too short", "too short to be compared")
    if passed or not isinstance(method, CalibratedMethod):
        return _Found(score, passed, "score")
    return _below(method, prepared, artefacts)


def _below(method: CalibratedMethod, prepared: Prepared, artefacts: Artefacts) -> _Found:
    """A pair that did not pass: refused, or faint and perhaps standing out."""
    evidence = prepared.evidence
    score = float(method.whole_score(evidence, _FIRST, _SECOND)[0])
    if score >= method.threshold:
        return _Found(score, False, "veto", method.refusal)
    if not method.calibrate:
        return _Found(score, False, "score")
    faint = method.faint_score(evidence, _FIRST, _SECOND)
    may = bool(faint.passed[0])
    cuts = _own_cuts(artefacts.get(Calibration.kind), prepared)
    if cuts is None:
        unsure = may and Calibration.kind not in artefacts
        said = "in a calibrated run it may stand out" if unsure else None
        return _Found(score, False, "score", said)
    if may and faint.score[0] >= max(cuts):
        return _Found(score, True, "own cuts", "it stands out")
    return _Found(score, False, "own cuts", "it does not stand out")


def _own_cuts(calibration: object, prepared: Prepared) -> tuple[float, float] | None:
    """None where one of the two has only the cut of all."""
    if not isinstance(calibration, Calibration):
        return None
    digests = prepared.normal_digests
    if not np.isin(digests, calibration.digests).all():
        return None
    first, second = calibration.cuts_of(digests)
    return float(first), float(second)
