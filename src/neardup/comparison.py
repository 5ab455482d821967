"""Two texts compared in every way that needs no collection: measures, kind, passages, verdict.

All numbers are exact; nothing is sketched. Alignment and edit similarity are left out (None, with a
note) for texts beyond ``text.alignment.MOST_WORDS`` words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from neardup import schema
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts, ReadyNeed, resolved
from neardup.features.measures import Overlap, shingle_overlaps
from neardup.methods import registry
from neardup.methods.method import CalibratedMethod, Method
from neardup.schema import Ragged
from neardup.text.alignment import MOST_WORDS, Passage, align, can_align, edit_similarity
from neardup.text.options import Text
from neardup.text.words import normal_form, words

WIDTHS = (1, 3, 5)
SHOWN_WORDS = 8  # at either end of a long shared passage


@dataclass(frozen=True)
class Verdict:
    """What one method says of the pair. ``note`` says why it may mean less than in a run."""

    method: str
    threshold: float
    score: float
    duplicate: bool
    note: str | None = None

    def __str__(self) -> str:
        says = "duplicate" if self.duplicate else "no duplicate"
        note = f" ({self.note})" if self.note else ""
        return f"{self.method} ≥ {self.threshold:.4g}: score {self.score:.4f}, {says}{note}"


@dataclass(frozen=True)
class Comparison:
    """``kind`` None: neither identical nor equal after normalisation, and not classified further.

    Pairs of numbers are (first text, second text).
    """

    kind: str | None
    words: tuple[int, int]
    characters: tuple[int, int]
    shingles: tuple[Overlap, ...]
    edit_similarity: float | None
    passages: tuple[Passage, ...] | None
    verdict: Verdict | None = None
    note: str | None = None

    @property
    def shared(self) -> tuple[Passage, ...] | None:
        return None if self.passages is None else tuple(p for p in self.passages if p.shared)

    @property
    def differing(self) -> tuple[Passage, ...] | None:
        return None if self.passages is None else tuple(p for p in self.passages if not p.shared)

    def to_dict(self) -> dict[str, Any]:
        """Only data, for JSON."""
        return {
            "kind": self.kind,
            "words": list(self.words),
            "characters": list(self.characters),
            "shingles": [_overlap_dict(overlap) for overlap in self.shingles],
            "edit_similarity": self.edit_similarity,
            "verdict": None if self.verdict is None else vars(self.verdict),
            "shared": _passages_list(self.shared),
            "differing": _passages_list(self.differing),
            "note": self.note,
        }

    def lines(self) -> list[str]:
        """For people: numbers, then passages; ``-`` is in the first only, ``+`` in the second."""
        told = [f"kind        {self.kind or 'not classified'}"]
        told.append(f"words       {self.words[0]:,} and {self.words[1]:,}")
        told.append(f"characters  {self.characters[0]:,} and {self.characters[1]:,}")
        told += [_overlap_line(overlap) for overlap in self.shingles]
        if self.edit_similarity is not None:
            told.append(f"edits       {self.edit_similarity:.4f} of the words need none")
        if self.verdict:
            told.append(f"method      {self.verdict}")
        if self.note:
            told.append(f"note        {self.note}")
        return told + [line for passage in self.passages or () for line in _passage_lines(passage)]

    def __str__(self) -> str:
        return "\n".join(self.lines())


def compare(
    a: str, b: str, method: str | Method | None = None, *, artefacts: Artefacts = NO_ARTEFACTS
) -> Comparison:
    """Measures, kind and passages of two texts; with a method also what it says of them.

    ``artefacts``: those of a run; without them an idf table that the method has no file for is
    counted from the two texts alone, and the verdict says so.
    """
    made = registry.build(method) if isinstance(method, str) else method
    options: Text | None = getattr(made, "text", None)
    cut = words(a, options), words(b, options)
    near = can_align(*cut)
    note = f"texts of more than {MOST_WORDS:,} words are not aligned"
    return Comparison(
        kind=_kind(a, b, options),
        words=(len(cut[0]), len(cut[1])),
        characters=(len(a), len(b)),
        shingles=shingle_overlaps(a, b, WIDTHS, options),
        edit_similarity=edit_similarity(*cut) if near else None,
        passages=align(*cut) if near else None,
        verdict=None if made is None else _verdict(made, a, b, artefacts),
        note=None if near else note,
    )


def _kind(a: str, b: str, options: Text | None) -> str | None:
    if a == b:
        return "identical"
    return "normalised" if normal_form(a, options) == normal_form(b, options) else None


def _verdict(method: Method, a: str, b: str, artefacts: Artefacts) -> Verdict:
    """As in a run: short texts count as duplicates only if their evidence is equal."""
    columns = [
        pa.array([1, 2], pa.int64()),
        *(pa.array(x, pa.large_string()) for x in (["a", "b"], [a, b])),
    ]
    batch = pa.RecordBatch.from_arrays(columns, schema=schema.documents())
    for name in method.columns:  # of two bare texts nothing more is known
        batch = batch.append_column(name, pa.nulls(2, pa.large_string()))
    prepared = method.prepare(batch, artefacts or resolved(method.needs, batch))
    score, passed, below = _scored(method, prepared.evidence)
    equal = bool((prepared.digests[0] == prepared.digests[1]).all())
    counted = [
        need.name
        for need in method.needs
        if need.file is None and not artefacts and not isinstance(need, ReadyNeed)
    ]
    alone = f"{' and '.join(counted)} counted from these two texts alone" if counted else None
    note = "; ".join(said for said in (below, alone) if said) or None
    if equal or not prepared.too_short.any():
        if equal:
            score, passed, note = 1.0, True, alone
        return Verdict(method.name, method.threshold, score, passed, note)
    short = "too short to be compared"
    return Verdict(
        method.name, method.threshold, score, False, f"{short}; {alone}" if alone else short
    )


def _scored(method: Method, evidence: Ragged) -> tuple[float, bool, str | None]:
    """Score, whether it passes, and what else is to be said of a pair that does not."""
    first, second = np.array([0], np.int64), np.array([1], np.int64)
    scores = method.score(evidence, first, second)
    score, passed = float(scores.score[0]), bool(scores.passed[0])
    if passed or not isinstance(method, CalibratedMethod):
        return score, passed, None
    score = float(method.whole_score(evidence, first, second)[0])
    if score >= method.threshold:
        return score, passed, method.refusal
    stands_out = method.calibrate and bool(method.faint_score(evidence, first, second).passed[0])
    return score, passed, "in a calibrated run it may stand out" if stands_out else None


def _overlap_dict(overlap: Overlap) -> dict[str, Any]:
    return {
        **vars(overlap),
        "resemblance": overlap.resemblance,
        "a_in_b": overlap.a_in_b,
        "b_in_a": overlap.b_in_a,
    }


def _overlap_line(overlap: Overlap) -> str:
    return (
        f"shingles    w={overlap.w}: resemblance {overlap.resemblance:.4f}, "
        f"first in second {overlap.a_in_b:.4f}, second in first {overlap.b_in_a:.4f}"
    )


def _passages_list(passages: tuple[Passage, ...] | None) -> list[list[str]] | None:
    if passages is None:
        return None
    return [[" ".join(passage.a), " ".join(passage.b)] for passage in passages]


def _passage_lines(passage: Passage) -> list[str]:
    if passage.shared:
        return ["  " + _shortened(passage.a)]
    signs = ("- ", passage.a), ("+ ", passage.b)
    return [sign + " ".join(side) for sign, side in signs if side]


def _shortened(found: tuple[str, ...]) -> str:
    left_out = len(found) - 2 * SHOWN_WORDS
    if left_out < SHOWN_WORDS:
        return " ".join(found)
    head, tail = found[:SHOWN_WORDS], found[-SHOWN_WORDS:]
    return f"{' '.join(head)} … {left_out:,} words … {' '.join(tail)}"
