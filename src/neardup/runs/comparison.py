"""Two texts compared in every way that needs no collection: measures, kind, passages, verdict.

Spans and counts of characters are of the texts as they were given. Time and memory are bounded: the
alignment has its own limit (``whole`` records whether it met it), and the edit similarity in words
(Levenshtein 1966) costs the product of both lengths, so beyond ``MOST_WORDS`` words it is read off
the alignment, which makes it a lower bound (``edits_exact`` records it).

The verdict is what one method decides for the two texts, as it would in a run. With the artefacts
of a run, its calibration included, it is the answer of that run; without them, tables are counted
from the two texts alone and a note reports it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from neardup import schema
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts, ReadyNeed, resolved
from neardup.artefacts.calibration import (
    CONSISTENCY,
    FEW_NEIGHBOURS,
    GENERAL,
    INCONSISTENT,
    LEAST_DOUBT,
    PLANTED,
    UNLIKE,
    USUAL,
    VALLEY,
    Calibration,
)
from neardup.artefacts.frequencies import FrequencyNeed
from neardup.decisions.kinds import kind_of
from neardup.features.measures import Measures, Overlap, Q, measure
from neardup.matching.scorer import Scorer
from neardup.methods import registry
from neardup.methods.base import Method, Prepared, whole_scores
from neardup.report import side_by_side_lines
from neardup.report.side_by_side import flowed
from neardup.text.alignment import Alignment, Passage, Span, align
from neardup.text.recognition import FLOOR
from neardup.text.text_options import Text
from neardup.text.words import words
from neardup.wording import many

CUT = {
    VALLEY: "at a gap in the scores of the collection",
    LEAST_DOUBT: "near that of the model, where the fewest duplicates are in doubt",
    PLANTED: "chosen by synthetic copies and decoys",
    USUAL: "the default: the scores of the collection show no natural gap",
    UNLIKE: "that of the model: the collection is unlike what it was trained on",
    GENERAL: "general: no collection was counted",
    CONSISTENCY: "where the groups of the collection are most consistent",
    FEW_NEIGHBOURS: "general: fewer than 100 documents of the collection have a near-duplicate",
    INCONSISTENT: "general: the groups of the collection are consistent at no threshold",
}
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
            told.append(f"the threshold is {self.threshold:.4g}, {CUT[self.cut_by]}")
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
    """By its score the pair is none; where both documents have own thresholds, these decide."""
    low = scorer.method.low_score(prepared.evidence, _FIRST, _SECOND)
    own = _own_cuts(scorer.exceptions, prepared)
    if own is None:
        unsure = bool(low.passed[0]) and Calibration.kind not in artefacts
        return replace(below, note="in a calibrated run it may stand out") if unsure else below
    decided = replace(below, decided="own cuts")
    if scorer.scores(prepared.evidence, _FIRST, _SECOND, prepared.normal_digests).passed[0]:
        return replace(decided, duplicate=True, note="it stands out")
    if low.passed[0] and low.score[0] >= max(own):
        return replace(decided, note="too little of one text can be read in the other")
    return replace(decided, note=below.note or "it does not stand out")


def _own_cuts(calibration: object, prepared: Prepared) -> tuple[float, float] | None:
    """None where one of the two has only the cut of all."""
    if not isinstance(calibration, Calibration):
        return None
    digests = prepared.normal_digests
    if not calibration.has(digests).all():
        return None
    first, second = calibration.thresholds_of(digests)
    return float(first), float(second)


MOST_WORDS = 20_000


def edit_similarity(a: Sequence[str], b: Sequence[str]) -> float:
    """1 − d / max(|a|, |b|), with d the Levenshtein distance in words."""
    from rapidfuzz.distance import Levenshtein

    return float(Levenshtein.normalized_similarity(a, b))


NAMES = ("first", "second")


@dataclass(frozen=True)
class Comparison:
    """``direction``: "a_in_b" where the second contains the first, "b_in_a", or None. Pairs of
    numbers are (first text, second text)."""

    a: str = field(repr=False)
    b: str = field(repr=False)
    names: tuple[str, str]
    kind: str
    direction: str | None
    confidence: float
    measures: Measures
    edit_similarity: float
    edits_exact: bool
    alignment: Alignment = field(repr=False)
    verdict: Verdict | None = None
    note: str | None = None

    @property
    def words(self) -> tuple[int, int]:
        return self.alignment.words

    @property
    def characters(self) -> tuple[int, int]:
        return len(self.a), len(self.b)

    @property
    def shingles(self) -> tuple[Overlap, ...]:
        return self.measures.shingles

    @property
    def passages(self) -> tuple[Passage, ...]:
        return self.alignment.passages

    @property
    def shared(self) -> tuple[Passage, ...]:
        return self.alignment.shared

    @property
    def differing(self) -> tuple[Passage, ...]:
        return self.alignment.differing

    @property
    def moved(self) -> tuple[Passage, ...]:
        return self.alignment.moved

    @property
    def moved_words(self) -> int:
        return sum(passage.words[0] for passage in self.moved)

    def texts_of(self, passage: Passage) -> tuple[str, str]:
        """What a passage says, as it was written in both texts."""
        return _said(self.a, passage.a), _said(self.b, passage.b)

    def to_dict(self) -> dict[str, Any]:
        """Only data, complete, for JSON. Positions count characters of the original texts."""
        return {
            "names": list(self.names),
            "kind": self.kind,
            "direction": self.direction,
            "confidence": self.confidence,
            "words": list(self.words),
            "characters": list(self.characters),
            "measures": self.measures.to_dict(),
            "edit_similarity": self.edit_similarity,
            "edits_exact": self.edits_exact,
            "moved_words": self.moved_words,
            "verdict": None if self.verdict is None else self.verdict.to_dict(),
            "note": self.note,
            "whole": self.alignment.whole,
            "passages": [self._passage_dict(passage) for passage in self.passages],
        }

    def _passage_dict(self, passage: Passage) -> dict[str, Any]:
        sides = zip("ab", (passage.a, passage.b), self.texts_of(passage), strict=True)
        return {
            "how": passage.how,
            **{
                name: {"begin": span.begin, "end": span.end, "text": text}
                for name, span, text in sides
            },
            "words": list(passage.words),
        }

    def facts(self) -> list[tuple[str, str]]:
        """Everything but measures and passages, for people: what it is, what was found."""
        told = [("kind", self._kind())]
        if self.verdict:
            told.append(("method", str(self.verdict)))
            if self.verdict.score_meaning and self.verdict.score is not None:
                told.append(("score", self.verdict.score_meaning))
            told += [("decided", line) for line in self.verdict.lines()]
        if self.note:
            told.append(("note", flowed(self.note)))
        told.append(("words", f"{self.words[0]:,} and {self.words[1]:,}{self._moved()}"))
        told.append(("characters", f"{self.characters[0]:,} and {self.characters[1]:,}"))
        return [*told, ("passages", self._passages())]

    def measure_facts(self) -> list[tuple[str, str]]:
        told = [("shingles", _overlap_line(overlap)) for overlap in self.shingles]
        least = "" if self.edits_exact else "at least "
        edits = f"{least}{self.edit_similarity:.4f} of the words need none"
        return [*told, *_measure_lines(self.measures), ("edits", edits)]

    def _kind(self) -> str:
        which = {"a_in_b": "the first is in the second", "b_in_a": "the second is in the first"}
        sure = f"confidence {self.confidence:.2f}" if self.confidence < 1 else ""
        more = ", ".join(filter(None, [which.get(self.direction or ""), sure]))
        return f"{self.kind} ({more})" if more else self.kind

    def _moved(self) -> str:
        return f", {self.moved_words:,} of them moved" if self.moved_words else ""

    def _passages(self) -> str:
        counts = [
            f"{len(found):,} {how}"
            for found, how in (
                (self.shared, "shared"),
                (self.differing, "differ"),
                (self.moved, "moved"),
            )
            if found
        ]
        cut = "" if self.alignment.whole else "; too long to be aligned throughout"
        return (", ".join(counts) or "none") + cut

    def lines(self, *, most: int | None = side_by_side_lines.MOST_LINES) -> list[str]:
        """For people: the facts, then at most ``most`` passages (None for all); ``-`` is in the
        first only, ``+`` in the second only, ``<`` and ``>`` moved."""
        facts = [*self.facts(), *self.measure_facts()]
        told = [f"{name:<12}{said}" for name, said in facts]
        return told + side_by_side_lines.lines(self.a, self.b, self.alignment, most=most)

    def to_html(self, *, title: str | None = None) -> str:
        """One page that needs nothing else, no script either."""
        from neardup.report.side_by_side import comparison_page

        return comparison_page(self, title)

    def __str__(self) -> str:
        return "\n".join(self.lines())


def compare(
    a: str,
    b: str,
    method: str | Method | None = None,
    *,
    artefacts: Artefacts = NO_ARTEFACTS,
    names: tuple[str, str] = NAMES,
    columns: Mapping[str, Any] | None = None,
) -> Comparison:
    """Measures, kind and passages of two texts; with a method also what it says of them.

    ``artefacts``: those of a run; without them frequencies are the general ones of the package, and
    an idf table that the method has no file for is counted from the two texts alone; the verdict
    says so. ``names`` are for showing.
    ``columns``: for a method that reads more than the text, two values of each column, as in
    ``{"date": ["2003-11-03", "2003-12-24"]}``.
    """
    made = registry.build(method) if isinstance(method, str) else method
    options: Text | None = getattr(made, "text", None)
    alignment = align(a, b, options)
    kind, direction, confidence = kind_of(valid(a), valid(b), options)
    similarity, exact = _edits(a, b, options, alignment)
    return Comparison(
        a=a,
        b=b,
        names=names,
        kind=kind,
        direction=direction,
        confidence=confidence,
        measures=measure(a, b, options),
        edit_similarity=similarity,
        edits_exact=exact,
        alignment=alignment,
        verdict=None if made is None else judge(made, valid(a), valid(b), artefacts, columns or {}),
    )


def valid(text: str) -> str:
    """A lone surrogate separates words; where texts are bytes there is none."""
    return (
        text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    )


def _edits(a: str, b: str, options: Text | None, alignment: Alignment) -> tuple[float, bool]:
    if max(alignment.words) <= MOST_WORDS:
        return edit_similarity(words(a, options), words(b, options)), True
    edits = sum(max(passage.words) for passage in alignment.differing)
    edits += sum(2 * passage.words[0] for passage in alignment.moved)
    return max(0.0, 1 - edits / max(alignment.words)), not edits


def _said(text: str, span: Span) -> str:
    return text[span.begin : span.end]


def _overlap_line(overlap: Overlap) -> str:
    return (
        f"w={overlap.w}: resemblance {overlap.resemblance:.4f}, "
        f"first in second {overlap.a_in_b:.4f}, second in first {overlap.b_in_a:.4f}"
    )


def _measure_lines(found: Measures) -> list[tuple[str, str]]:
    vectors = (
        f"cosine {found.cosine:.4f}, extended Jaccard {found.extended_jaccard:.4f}, "
        f"Dice {found.dice:.4f}, Euclidean distance {found.euclidean:.4g}"
    )
    return [("q-grams", f"q={Q}: {found.doc_q:.4f} of the larger set"), ("word counts", vectors)]
