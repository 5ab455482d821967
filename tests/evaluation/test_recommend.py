from __future__ import annotations

import pytest

from evaluation.collections import grouped
from neardup.errors import SettingsError
from neardup.evaluation.article import latex
from neardup.evaluation.evaluation import Evaluation, evaluate
from neardup.evaluation.recommendation import Wish

DOCUMENTS = grouped(groups=40)
# Pairs that only look like duplicates: the same first half, another second one.
HALVES = [
    {"id": f"half-{i}", "group": f"half-{i}", "text": one["text"][:240] + other["text"][240:]}
    for i, (one, other) in enumerate(zip(DOCUMENTS[::4], DOCUMENTS[4::4], strict=False))
]


def swept(
    wish: str, documents: list[dict[str, object]] | None = None, **more: object
) -> Evaluation:
    given = {"group": "group", "method": "shingles words=2", "sweep": ".1:.9:.1", **more}
    return evaluate(DOCUMENTS + HALVES if documents is None else documents, wish=wish, **given)


def test_the_highest_f1_is_recommended() -> None:
    made = swept("f1")
    found = made.recommendation
    assert found is not None
    assert found.chosen is not None
    best = max(at.every.f1 or 0 for at in made.measured[0].at)
    assert found.chosen.line.f1 == best
    assert found.sure is not None
    assert 0 < found.sure <= 1
    assert f"--threshold {found.chosen.at.cut.value:g}" in str(found.command)
    assert found.text.startswith(f"shingles words=2 at threshold {found.chosen.at.cut.value:g} has")


def test_ties_are_broken_alike_on_the_screen_and_in_latex() -> None:
    """Equal copies alone: every threshold and both methods have the F1 1."""
    same = [{**one, "group": one["text"]} for one in DOCUMENTS[::4] for _ in range(2)]
    same = [{**one, "id": str(i)} for i, one in enumerate(same)]
    made = swept("f1", same, method=["shingles words=3", "shingles words=2"])
    assert made.recommendation is not None
    chosen = made.recommendation.chosen
    assert chosen is not None
    assert (chosen.setting, chosen.at.cut.value) == (0, 0.9)
    bold = [line for line in latex(made).splitlines() if r"\textbf" in line]
    assert len(bold) == 1
    assert r"\textbf{shingles words=3} & \textbf{0.9}" in bold[0].replace("threshold ", "")


def test_a_wished_precision_is_met_with_the_highest_recall() -> None:
    made = swept("precision=0.9")
    found = made.recommendation
    assert found is not None
    assert found.chosen is not None
    assert found.met_by_interval
    interval = found.chosen.line.precision_interval
    assert interval is not None
    assert interval.low >= 0.9
    sure = [
        at.every.recall or 0
        for at in made.measured[0].at
        if (bound := at.every.precision_interval) and bound.low >= 0.9
    ]
    assert found.chosen.line.recall == max(sure)
    assert "whole 95 % interval" in found.text


def test_a_wished_recall_is_met_with_the_highest_precision() -> None:
    found = swept("recall=0.9").recommendation
    assert found is not None
    assert found.chosen is not None
    assert (found.chosen.line.recall or 0) >= 0.9


def test_what_only_the_estimate_meets_is_not_called_sure() -> None:
    few = grouped(groups=3)
    found = swept("precision=0.999", few).recommendation
    assert found is not None
    assert found.chosen is not None
    assert found.met_by_interval is False
    assert found.sure is not None
    assert found.sure < 0.1
    assert "only the estimate" in found.text
    assert any("Only 18 positive pairs" in warning for warning in found.warnings)


def test_what_nothing_meets_is_not_recommended() -> None:
    found = swept("recall=1", sweep=(0.8, 0.9)).recommendation
    assert found is not None
    assert found.chosen is None
    assert found.command is None
    assert found.text.startswith("No setting has a recall of 1 or more. The nearest is")


def test_the_lowest_threshold_may_not_be_low_enough() -> None:
    found = swept("f1", DOCUMENTS, sweep=(0.6, 0.7, 0.9)).recommendation
    assert found is not None
    assert any("lowest threshold that was tried" in warning for warning in found.warnings)


def test_a_count_that_ends_a_sweep_is_named() -> None:
    """The largest distance of SimHash is its lowest threshold, which nobody would call it."""
    found = evaluate(DOCUMENTS, group="group", method="simhash", sweep=True).recommendation
    assert found is not None
    assert any("largest distance that was tried" in warning for warning in found.warnings)


def test_the_highest_threshold_may_not_be_high_enough() -> None:
    """Where no pair is wrong a higher one only loses, and the end is no reason for a warning."""

    def warned(sweep: tuple[float, ...], documents: list[dict[str, object]]) -> bool:
        found = swept("f1", documents, sweep=sweep).recommendation
        assert found is not None
        assert found.chosen is not None
        assert found.chosen.at.cut.value == sweep[-1]
        return any("highest threshold that was tried" in warning for warning in found.warnings)

    assert warned((0.1, 0.15, 0.2), DOCUMENTS + HALVES)
    assert not warned((0.05, 0.1), DOCUMENTS)


def test_without_negatives_only_recall_can_be_wished() -> None:
    rows = [{"a": f"{g}-0", "b": f"{g}-1"} for g in range(40)]
    made = swept("f1", DOCUMENTS, group=None, pairs=rows)
    assert made.recommendation is not None
    assert made.recommendation.chosen is None
    assert "no negative pair is known" in made.recommendation.text
    assert all(at.every.precision is None for at in made.measured[0].at)
    made = swept("recall=0.5", DOCUMENTS, group=None, pairs=rows)
    found = made.recommendation
    assert found is not None
    assert found.chosen is not None
    assert "is the strictest setting" in found.text
    met = [
        at for at in made.measured[0].at if (bound := at.every.recall_interval) and bound.low > 0.5
    ]
    assert found.chosen.at is met[-1]


def test_without_positives_nothing_is_recommended() -> None:
    rows = [{"a": f"{g}-0", "b": f"{g + 1}-0", "label": "no"} for g in range(39)]
    made = swept("f1", DOCUMENTS, group=None, pairs=rows)
    assert made.recommendation is not None
    assert "no positive pair" in made.recommendation.text
    assert made.measured[0].at[0].every.recall is None


@pytest.mark.parametrize("written", ["", "f2", "precision", "recall=2", "precision=x", "f1=0.9"])
def test_wrong_wishes_are_refused(written: str) -> None:
    with pytest.raises(SettingsError, match="expected f1, precision"):
        Wish.parse(written)
