"""Which pairs pass, with a calibration and without, against a loop over single pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.artefacts.calibration import USUAL, Calibration, sorted_pairs
from neardup.matching.scorer import FEW, Scorer, one_with_each
from neardup.methods.base import Method, Prepared, Scores
from neardup.methods.join import Join
from neardup.methods.shingles import Shingles
from neardup.methods.spotsigs import SpotSigs
from neardup.schema import Array, Ragged, offsets_of

SETS = st.lists(st.sets(st.integers(0, 12), min_size=1), min_size=1, max_size=2 * FEW)


@dataclass(frozen=True)
class Near(Method):
    """Documents are numbers from 0 to 100: the score is how near they are, the low score twice
    that; documents that end in 7 are never exceptions."""

    threshold: float = 0.9
    calibrate: bool = True

    name: ClassVar[str] = "near"
    reason: ClassVar[str] = "near"
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.int64)

    def prepare(self, batch: Any, artefacts: Any) -> Prepared:
        raise NotImplementedError

    def whole_score(self, evidence: Ragged, a: Array, b: Array) -> Array:
        return np.asarray(1 - np.abs(evidence.values[a] - evidence.values[b]) / 100)

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        score = self.whole_score(evidence, a, b)
        return Scores(score >= self.threshold, np.where(score >= self.threshold, score, 0))

    def low_score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        may = (evidence.values[a] % 10 != 7) & (evidence.values[b] % 10 != 7)
        return Scores(may, 2 * self.whole_score(evidence, a, b) - 1)


def calibration(thresholds: list[float], pairs: list[tuple[int, int]]) -> Calibration:
    """Document i has the normal form 10 · i."""
    digests = np.arange(len(thresholds), dtype=np.uint64) * np.uint64(10)
    one, other = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    own = np.array(thresholds, np.float32)
    return Calibration(0.9, USUAL, digests, own, pairs=sorted_pairs(one, other))


@given(st.lists(st.integers(0, 100), min_size=2, max_size=12), st.data())
def test_listed_pairs_pass_from_the_own_thresholds_of_both(
    numbers: list[int], data: st.DataObject
) -> None:
    count = len(numbers)
    document = st.integers(0, count - 1)
    own = data.draw(st.lists(st.sampled_from([0.25, 0.5, 0.75]), min_size=count, max_size=count))
    listed = data.draw(st.lists(st.tuples(document, document)))
    known = calibration(own, listed)
    evidence = Ragged(np.array(numbers, np.int64), np.arange(count + 1))
    a, b = (grid.ravel() for grid in np.indices((count, count), np.int64))
    forms = np.arange(count, dtype=np.uint64) * np.uint64(10)
    scores = Scorer(Near(), {"calibration": known}).scores(evidence, a, b, forms)
    both = {frozenset(pair) for pair in listed}
    for i, j, passed, score in zip(a, b, scores.passed, scores.score, strict=True):
        whole = 1 - abs(numbers[i] - numbers[j]) / 100
        may = numbers[i] % 10 != 7 and numbers[j] % 10 != 7
        exception = frozenset((i, j)) in both and may and 2 * whole - 1 >= max(own[i], own[j])
        assert passed == (whole >= 0.9 or exception)
        assert not passed or score == whole


def test_without_forms_or_calibration_only_the_threshold_counts() -> None:
    known = {"calibration": calibration([0.1, 0.1], [(0, 1)])}
    evidence, a, b = Ragged(np.array([0, 30]), np.arange(3)), np.array([0]), np.array([1])
    forms = np.array([0, 10], np.uint64)
    assert Scorer(Near(), known).scores(evidence, a, b, forms).passed.all()
    assert not Scorer(Near(), known).scores(evidence, a, b).passed.any()
    assert not Scorer(Near()).scores(evidence, a, b, forms).passed.any()
    assert not Scorer(Near(calibrate=False), known).scores(evidence, a, b, forms).passed.any()
    assert Scorer(Near(), known).possible(evidence, a, b).passed.all()
    assert Scorer(Near(), known).own_threshold(10) == pytest.approx(0.1)
    assert Scorer(Near(), known).own_threshold(11) is None


@pytest.mark.parametrize("method", [Shingles(threshold=0.5), Join(threshold=0.4), SpotSigs()])
@given(SETS, st.sets(st.integers(0, 12), min_size=1))
def test_one_by_one_scores_are_those_of_all_at_once(
    method: Method, sets: list[set[int]], new: set[int]
) -> None:
    rows = [np.array(sorted(one), np.uint32) for one in sets]
    evidence = np.array(sorted(new), np.uint32)
    scores = method.score(*one_with_each(rows, evidence))
    expected = [float(s) if p else None for p, s in zip(scores.passed, scores.score, strict=True)]
    assert Scorer(method).against(rows, evidence) == expected


def test_an_index_and_a_run_score_exceptions_alike() -> None:
    known = {"calibration": calibration([0.1, 0.1, 0.9], [(0, 1), (0, 2)])}
    scorer, rows = Scorer(Near(), known), [np.array([30]), np.array([40])]
    assert scorer.against(rows, np.array([0]), [10, 20, 0]) == [0.7, None]
    lengths = offsets_of(np.array([1, 1, 1]))
    at_once = scorer.scores(
        Ragged(np.array([30, 40, 0]), lengths),
        np.array([0, 1]),
        np.array([2, 2]),
        np.array([10, 20, 0], np.uint64),
    )
    assert at_once.passed.tolist() == [True, False]
