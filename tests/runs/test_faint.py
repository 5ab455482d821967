"""Faint pairs of a calibrated run, told to people: explain, compare, rethreshold, the summary."""

from __future__ import annotations

from pathlib import Path

import pytest

from neardup import api as nd
from neardup.cli.summary import lines
from neardup.methods.rareshingles import Rareshingles
from neardup.runs.comparison import compare
from neardup.runs.result import Result
from reference.scans import COLLECTION, two_modes

STUB = " ".join(f"notice{i}" for i in range(60))
STUBS = [f"{STUB} {' '.join(f'story{d}word{i}' for i in range(10))}" for d in range(30)]


@pytest.fixture(scope="module")
def result() -> Result:
    return nd.dedup(COLLECTION, method="rareshingles")


def test_explain_says_why_a_pair_below_the_cut_is_one(result: Result, tmp_path: Path) -> None:
    why = result.explain("input:2")
    assert (why.decision, why.kept_id, why.reason) == (
        "duplicate",
        "input:1",
        Rareshingles().exception_reason,
    )
    assert why.comparison is not None
    assert why.comparison.verdict is not None
    assert why.comparison.verdict.duplicate
    assert why.comparison.verdict.score == pytest.approx(why.score)
    assert why.note is not None
    assert "below the threshold, 0.4" in why.note
    assert "at least 60 % of the smaller text is found in" in why.note
    assert "no duplicate" not in str(why)
    assert "changed" not in why.note
    result.save(tmp_path / "run")
    loaded = Result.load(tmp_path / "run").explain("input:2")
    assert "is found in the other" in str(loaded)
    assert "no duplicate" not in str(loaded)


def test_others_have_no_such_note(result: Result) -> None:
    assert result.explain("input:1").note is None
    more = nd.dedup([*COLLECTION, COLLECTION[-1] + " and more"], method="rareshingles")
    assert more.explain(f"input:{len(COLLECTION) + 1}").note is None


def test_another_threshold_is_a_plain_cut(result: Result) -> None:
    same = result.rethreshold(0.4)
    assert same.counts.duplicates == 0
    assert not same.info["settings"]["parameters"]["calibrate"]
    assert same.info["settings"]["threshold"] == 0.4
    assert "calibration" not in same.artefacts
    assert "calibration" not in same.info["artefacts"]
    texts = two_modes()
    higher = nd.dedup(texts, method="rareshingles").rethreshold(0.7)
    plain = nd.find(texts, method="rareshingles", threshold=0.7)
    assert higher.decisions.equals(plain.decisions)
    assert higher.info["settings"]["signature"] == plain.info["settings"]["signature"]


def test_the_summary_says_where_it_cut(result: Result) -> None:
    said = "\n".join(lines(result, None, 1.0, None))
    assert "Threshold 0.4 (default; the scores show no natural gap). 8 lower-scoring pairs" in said
    clear = nd.dedup(two_modes(), method="rareshingles")
    cut = f"{clear.threshold:.4g}"
    assert f"Threshold {cut} (at a gap in the scores; in a self-test it found " in "\n".join(
        lines(clear, None, 1.0, None)
    )
    plain = nd.dedup(two_modes(), method="rareshingles", threshold=0.5)
    assert "Threshold 0.5." in "\n".join(lines(plain, None, 1.0, None))


def test_compare_says_why_a_template_is_refused() -> None:
    stubs = nd.dedup(STUBS, method="rareshingles")
    assert stubs.counts.duplicates == 0
    said = compare(STUBS[0], STUBS[1], Rareshingles(threshold=0.2), artefacts=stubs.artefacts)
    assert said.verdict is not None
    assert not said.verdict.duplicate
    assert said.verdict.score > 0.2
    assert said.verdict.note == (
        "they share only what many have, and each goes on with words of its own"
    )


def test_equal_texts_are_duplicates_with_no_more_to_say() -> None:
    verdict = compare(STUBS[0], STUBS[0], Rareshingles()).verdict
    assert verdict is not None
    assert (verdict.score, verdict.duplicate) == (1.0, True)
    assert verdict.note == "with general frequencies and vocabulary; a run counts its own"
