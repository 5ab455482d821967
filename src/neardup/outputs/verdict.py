"""What one method says of two texts, as it would in a run, and what decided it.

The artefacts of a run make it that run's own word, its calibration included; without them, tables
are counted from the two texts alone and a note says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from neardup import schema
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts, ReadyNeed, resolved
from neardup.artefacts.calibration import (
    GENERAL,
    LEAST_DOUBT,
    PLANTED,
    UNLIKE,
    USUAL,
    VALLEY,
    Calibration,
)
from neardup.methods.method import (
    CalibratedMethod,
    Method,
    NamesItsScore,
    Prepared,
    Refuses,
    Scores,
    whole_scores,
)
from neardup.text.recognition import FLOOR

CUT = {
    VALLEY: "where the scores of the collection have a valley",
    LEAST_DOUBT: "near the model's, where the fewest duplicates of the collection are in doubt",
    PLANTED: "where planted copies and traps say",
    USUAL: "the usual one: the scores of the collection have no clear valley",
    UNLIKE: "the model's own: the collection is unlike what it was trained on",
    GENERAL: "the one for general tables: no collection was counted",
}
WHY = {
    "equal": ("their evidence is equal, so nothing else is asked",),
    "too short": ("texts as short as these are duplicates only of equal ones",),
    "veto": ("the score passes, a veto of the method does not",),
    "own cuts": (
        "a pair below the cut for all has to reach both own cuts with what is rare, and at least "
        f"{FLOOR} % of the smaller text has to be readable in the other",
    ),
}
NO_COLUMNS: Mapping[str, Any] = MappingProxyType({})
DECIMALS, MOST_DECIMALS = 4, 12
_FIRST, _SECOND = np.array([0], np.int64), np.array([1], np.int64)


@dataclass(frozen=True)
class Verdict:
    """``decided``: "score", "equal" (evidence), "too short", "veto" (above the threshold, and
    refused all the same) or "own cuts" (below it, but the pair stands out in its collection).

    ``score`` is always that of the whole comparison, whatever the threshold; None where the method
    does not compare texts as short as these. ``score_meaning`` says in plain words what it is.
    ``cut_by``: in a calibrated run, what says where to cut: "valley", "planted", "least doubt",
    "usual" or "unlike".
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
        """With as many decimals as show on which side of the threshold it is."""
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
            told.append(f"the cut for all is {self.threshold:.4g}, {CUT[self.cut_by]}")
        if self.own_cuts:
            first, second = self.own_cuts
            told.append(f"own cuts of the two documents: {first:.4g} and {second:.4g}")
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
    """Of valid texts. Short ones are duplicates only if their evidence is equal, as in a run."""
    batch = _batch(method, a, b, columns)
    prepared = method.prepare(batch, artefacts or resolved(method.needs, batch))
    found = _found(method, prepared, artefacts)
    calibration = artefacts.get(Calibration.kind)
    return Verdict(
        method=method.name,
        threshold=method.threshold,
        score=found.score,
        duplicate=found.duplicate,
        decided=found.decided,
        note="; ".join(filter(None, (found.note, *_unknown(method, artefacts, columns)))) or None,
        cut_by=calibration.by if isinstance(calibration, Calibration) else None,
        own_cuts=_own_cuts(calibration, prepared),
        score_meaning=method.score_meaning if isinstance(method, NamesItsScore) else None,
    )


def _unknown(method: Method, artefacts: Artefacts, columns: Mapping[str, Any]) -> Iterator[str]:
    """What a run would know beside the two texts."""
    counted = [
        need.name
        for need in method.needs
        if need.file is None and not artefacts and not isinstance(need, ReadyNeed)
    ]
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
    scores = whole_scores(method, prepared.evidence, _FIRST, _SECOND)
    score = float(scores.score[0])
    if scores.passed[0]:
        return _Found(score, True, "score")
    return _below(method, prepared, artefacts, score)


def _below(method: Method, prepared: Prepared, artefacts: Artefacts, score: float) -> _Found:
    """A pair that did not pass: refused, or faint and perhaps standing out."""
    refusal = _refusal(method, prepared)
    if score >= method.threshold:
        return _Found(score, False, "veto", refusal)
    if not isinstance(method, CalibratedMethod) or not method.calibrate:
        return _Found(score, False, "score", refusal)
    faint = method.faint_score(prepared.evidence, _FIRST, _SECOND)
    return _faint(faint, prepared, artefacts, _Found(score, False, "score", refusal))


def _refusal(method: Method, prepared: Prepared) -> str | None:
    if not isinstance(method, Refuses):
        return None
    return method.refusals(prepared.evidence, _FIRST, _SECOND)[0]


def _faint(faint: Scores, prepared: Prepared, artefacts: Artefacts, found: _Found) -> _Found:
    """By its score the pair is none: where both documents have own cuts, these decide."""
    may = bool(faint.passed[0])
    calibration = artefacts.get(Calibration.kind)
    cuts = _own_cuts(calibration, prepared)
    if cuts is None:
        unsure = may and Calibration.kind not in artefacts
        return replace(found, note="in a calibrated run it may stand out") if unsure else found
    assert isinstance(calibration, Calibration)
    if not (may and faint.score[0] >= max(cuts)):
        return replace(found, decided="own cuts", note=found.note or "it does not stand out")
    if not calibration.lists(*prepared.normal_digests[:, None]).all():
        said = "too little of one text can be read in the other"
        return replace(found, decided="own cuts", note=said)
    return replace(found, duplicate=True, decided="own cuts", note="it stands out")


def _own_cuts(calibration: object, prepared: Prepared) -> tuple[float, float] | None:
    """None where one of the two has only the cut of all."""
    if not isinstance(calibration, Calibration):
        return None
    digests = prepared.normal_digests
    if not np.isin(digests, calibration.digests).all():
        return None
    first, second = calibration.cuts_of(digests)
    return float(first), float(second)
