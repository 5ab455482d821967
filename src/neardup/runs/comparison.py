"""Two texts compared in every way that needs no collection: measures, kind, passages, verdict.

Spans and counts of characters are of the texts as they were given. Time and memory are bounded: the
alignment has its own limit (``whole`` records whether it met it), and the edit similarity in words
(Levenshtein 1966) costs the product of both lengths, so beyond ``MOST_WORDS`` words it is read off
the alignment, which makes it a lower bound (``edits_exact`` records it).
With a method, a comparison also has the verdict of that method (``runs/verdict.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts
from neardup.decisions.kinds import kind_of
from neardup.features.measures import Measures, Overlap, Q, measure
from neardup.methods import registry
from neardup.methods.base import Method
from neardup.report import side_by_side_lines
from neardup.report.side_by_side import flowed
from neardup.runs.verdict import Verdict, judge
from neardup.text.alignment import Alignment, Passage, Span, align
from neardup.text.text_options import Text
from neardup.text.words import words

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
        """The comparison for people: the facts, then at most ``most`` passages (None for all).
        ``-`` marks what is in the first text only, ``+`` in the second only, ``<`` and ``>`` what
        has moved."""
        facts = [*self.facts(), *self.measure_facts()]
        told = [f"{name:<12}{said}" for name, said in facts]
        return told + side_by_side_lines.lines(self.a, self.b, self.alignment, most=most)

    def to_html(self, *, title: str | None = None) -> str:
        """One page that needs nothing else, no script either."""
        from neardup.report.side_by_side import comparison_page

        return comparison_page(self, title)

    def _repr_html_(self) -> str:
        from neardup.report.notebook import comparison_html

        return comparison_html(self)

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
