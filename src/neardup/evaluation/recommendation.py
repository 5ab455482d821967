"""Recommends a setting and threshold, and states how certain the recommendation is.

For F1 it is the highest on these labels; its certainty is the share of bootstrap resamples in which
it is best or within 0.01 of the best. For a wished precision it is the setting with the highest
recall among those whose 95 % interval lies above the wish. If there is none, it is chosen among
those whose estimate meets the wish, and the probability that the wish is met is stated. A wished
recall is treated in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.errors import SettingsError
from neardup.evaluation.measurement import AtCut, Line, Measured
from neardup.labels.intervals import Interval, probability
from neardup.methods.thresholds import THRESHOLD
from neardup.schema import Array

NEAR = 0.01
LOWEST = 0.1  # a lower threshold than this is not worth a warning
FEW = 50  # with fewer positives a recommendation is mostly chance

WISHES = "f1, precision=0.99 or recall=0.95"


@dataclass(frozen=True)
class Wish:
    """``measure`` to optimise: "f1", or "precision" or "recall", which must reach ``least``."""

    measure: str = "f1"
    least: float | None = None

    @classmethod
    def parse(cls, written: str) -> Wish:
        measure, equals, value = written.strip().lower().partition("=")
        try:
            least = float(value) if equals else None
        except ValueError:
            least = None
        needs_value = measure in ("precision", "recall")
        if measure == "f1" and not equals:
            return cls()
        if not needs_value or least is None or not 0 < least <= 1:
            raise SettingsError(f"recommend is {written!r}.", hint=f"expected {WISHES}.")
        return cls(measure, least)

    def __str__(self) -> str:
        if self.least is None:
            return "the highest F1"
        return f"{self.measure} of {self.least:g} or more"

    @property
    def other(self) -> str:
        """The measure to maximise among settings that meet the wish."""
        return {"f1": "f1", "precision": "recall", "recall": "precision"}[self.measure]


@dataclass(frozen=True, eq=False)
class Candidate:
    """One setting at one threshold."""

    setting: int
    cut: int
    of: Measured
    at: AtCut

    @property
    def line(self) -> Line:
        return self.at.every

    def resampled(self, measure: str) -> Array:
        column: Array = getattr(self.of.resamples, measure)()[:, self.cut]
        return column


@dataclass(frozen=True)
class Recommendation:
    """``chosen`` is None if nothing can be recommended; ``text`` gives reason and certainty."""

    wish: Wish
    chosen: Candidate | None
    sure: float | None  # the share of resamples that agree, or the probability of a wish
    met_by_interval: bool | None  # whether the whole interval meets the wish, not only the estimate
    text: str
    warnings: tuple[str, ...] = ()
    inputs: str = "INPUT"  # documents, and options how to read them, as the command names them

    @property
    def command(self) -> str | None:
        """The command that runs the chosen setting."""
        if self.chosen is None:
            return None
        return self.chosen.of.setting.command(self.chosen.at.cut, self.inputs)

    def data(self) -> dict[str, Any]:
        chosen = self.chosen
        return {
            "wish": {"measure": self.wish.measure, "least": self.wish.least},
            "method": chosen and chosen.of.setting.name,
            "parameter": chosen and chosen.at.cut.parameter,
            "value": chosen and chosen.at.cut.value,
            "threshold": chosen and chosen.at.cut.threshold,
            "measures": chosen and chosen.line.data(),
            "sure": self.sure,
            "met_by_interval": self.met_by_interval,
            "text": self.text,
            "warnings": list(self.warnings),
            "command": self.command,
        }


def recommend(measured: Sequence[Measured], wish: Wish) -> Recommendation:
    every = [
        Candidate(i, j, setting, at)
        for i, setting in enumerate(measured)
        for j, at in enumerate(setting.at)
    ]
    usable = [c for c in every if getattr(c.line, wish.measure) is not None]
    if not usable:
        return Recommendation(wish, None, None, None, _nothing_to_judge(every, wish))
    return _highest(usable, wish) if wish.least is None else _meeting(usable, wish)


def _nothing_to_judge(every: Sequence[Candidate], wish: Wish) -> str:
    counts = every[0].line.counts
    if not counts.tp + counts.fn:
        return f"Nothing can be recommended for {wish}: the labels have no positive pair."
    if not any(c.line.judged for c in every):
        return (
            f"Nothing can be recommended for {wish}: no negative pair is known, so precision "
            "cannot be judged. Label some pairs that are no duplicates, or say --complete if all "
            "duplicates are listed; recall=0.95 can be asked for as it is."
        )
    return f"Nothing can be recommended for {wish}: no labelled pair was found at any threshold."


def _highest(usable: Sequence[Candidate], wish: Wish) -> Recommendation:
    best = max(usable, key=lambda c: (*c.line.merit, -c.setting, c.cut))
    if not best.line.f1:
        text = "No setting finds a single labelled duplicate."
        return Recommendation(wish, None, None, None, text)
    samples = np.stack([c.resampled("f1") for c in usable], axis=1)
    samples = samples[~np.isnan(samples).any(axis=1)]
    own = samples[:, usable.index(best)]
    sure = float((own >= samples.max(axis=1) - NEAR).mean()) if len(samples) else None
    text = (
        f"{_named(best)} has the highest F1: {_valued(best.line.f1, best.line.f1_interval)}, with "
        f"{_both(best.line)}."
    )
    if len(usable) > 1 and sure is not None:
        text += (
            f" In {sure:.0%} of {len(samples):,} resamples of the documents it is the best of the "
            f"{len(usable)} or within {NEAR:g} of it."
        )
    return Recommendation(wish, best, sure, None, text, _warnings(best))


def _meeting(usable: Sequence[Candidate], wish: Wish) -> Recommendation:
    least = wish.least or 0.0

    def value(c: Candidate) -> float:
        measured: float = getattr(c.line, wish.measure)
        return measured

    def bound(c: Candidate) -> Interval | None:
        interval: Interval | None = getattr(c.line, f"{wish.measure}_interval")
        return interval

    meeting = [c for c in usable if value(c) >= least]
    certain = [c for c in meeting if (interval := bound(c)) and interval.low >= least]
    if not meeting:
        best = max(usable, key=lambda c: (value(c), getattr(c.line, wish.other) or 0))
        text = (
            f"No setting has a {wish}. The nearest is {_named(best)}: {wish.measure} "
            f"{_valued(value(best), bound(best))}."
        )
        return Recommendation(wish, None, None, False, text, _warnings(best))
    known = getattr(meeting[0].line, wish.other) is not None
    best = max(
        certain or meeting,
        key=lambda c: (
            getattr(c.line, wish.other) or 0,
            value(c) if known else 0,
            -c.setting,
            c.cut,
        ),
    )
    sure = _probability(best, wish.measure, least)
    how = (
        "its whole 95 % interval meets the wish"
        if certain
        else "only the estimate meets the wish, its interval does not"
    )
    what = f"has the highest {wish.other}" if known else "is the strictest setting"
    text = (
        f"{_named(best)} {what} with a {wish}: {_both(best.line)}; "
        f"{how}. The probability that it is met is {_percent(sure)}."
    )
    return Recommendation(wish, best, sure, bool(certain), text, _warnings(best))


def _percent(share: float) -> str:
    """The share in percent, never 0 or 100: a measured probability is not certain."""
    if share > 0.99:
        return "over 99%"
    return "under 1%" if share < 0.01 else f"{share:.0%}"


def _probability(best: Candidate, measure: str, least: float) -> float:
    """The smaller of two estimates: the posterior given the number of labels, and the share of
    resamples. The first ignores that pairs of one group are not independent; the second never draws
    an error that did not occur."""
    counts = best.line.counts
    of = counts.tp + (counts.fp if measure == "precision" else counts.fn)
    drawn = best.resampled(measure)
    drawn = drawn[~np.isnan(drawn)]
    share = float((drawn >= least).mean()) if len(drawn) else 0.0
    return min(share, probability(counts.tp, of, least))


def _warnings(best: Candidate) -> tuple[str, ...]:
    counts, warnings = best.line.counts, []
    positives = counts.tp + counts.fn
    if positives < FEW:
        warnings.append(
            f"Only {positives} positive pairs are known: label more before trusting this."
        )
    warnings += _doubts(best)
    if not best.of.complete:
        warnings.append("Pairs were left out because there were too many: recall is too low.")
    return tuple(warnings)


def doubts(measured: Sequence[Measured], cuts: Sequence[int], but: Candidate | None) -> list[str]:
    """What to know of each setting at its cut, except of ``but``, of which it is said elsewhere."""
    said = []
    for i, (one, cut) in enumerate(zip(measured, cuts, strict=True)):
        candidate = Candidate(i, cut, one, one.at[cut])
        if but is None or (but.setting, but.cut) != (i, cut):
            said += [
                f"{_named(candidate)}: {doubt[0].lower()}{doubt[1:]}"
                for doubt in _doubts(candidate)
            ]
    return said


def _doubts(best: Candidate) -> list[str]:
    counts, few = best.line.counts, []
    if counts.unlabelled > counts.tp + counts.fp:
        few = [
            f"{counts.unlabelled:,} of the {best.at.predicted:,} predicted pairs are not labelled: "
            "precision is that of the labelled ones."
        ]
    return few + _at_an_end(best)


def _at_an_end(best: Candidate) -> list[str]:
    """A sweep that ends at its best threshold may have missed a better one: a lower one if labelled
    duplicates are missed, a higher one if pairs are wrong."""
    counts, last = best.line.counts, len(best.of.at) - 1
    if not last:
        return []
    count = best.at.cut.parameter
    if best.cut == 0 and counts.fn and count not in (None, THRESHOLD):
        return [f"It is the largest {count} that was tried: a larger one may be better still."]
    if best.cut == 0 and counts.fn and best.at.cut.threshold > LOWEST:
        return ["It is the lowest threshold that was tried: a lower one may be better still."]
    if best.cut == last and counts.fp and best.at.cut.threshold < 1:
        return ["It is the highest threshold that was tried: a higher one may be better still."]
    return []


def _named(candidate: Candidate) -> str:
    cut = candidate.at.cut
    at = "" if cut.parameter is None else f" at {cut.parameter} {cut.value:g}"
    return f"{candidate.of.setting.name}{at}"


def _both(line: Line) -> str:
    precision = _valued(line.precision, line.precision_interval)
    return f"precision {precision} and recall {_valued(line.recall, line.recall_interval)}"


def _valued(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return "not known"
    return f"{value:.3f}" + (f" ({interval.low:.3f}–{interval.high:.3f})" if interval else "")
