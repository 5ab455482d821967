"""Judging as a part of an application: its doors, and its card on the front page of a review."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from neardup.labels.agreement import verdicts
from neardup.labels.guidelines import guideline_of
from neardup.labels.result_lists import add_lists, read_lists
from neardup.labels.samples import DRAWN
from neardup.web.app import Link, Part
from neardup.web.doors import Door
from neardup.web.evaluation_pages import Evaluating
from neardup.web.judging.desk import Desk
from neardup.web.judging.judged_lists import Lists
from neardup.web.judging.judged_pairs import Pairs
from neardup.web.judging.judging_front import Front
from neardup.web.judging.judging_results import Disputes, Exchange, Results, measured
from neardup.web.pages import Data


def card(desk: Desk) -> Data | None:
    """An invitation, or precision with its interval where something was judged; None where there is
    nothing to judge."""
    if not len(desk.results()[desk.name].pairs):
        return None
    said = _precision(desk)
    if said is None:
        return {
            "title": "How good is it?",
            "text": "Judge twenty of its pairs with the keys 1, 2 and 3. That takes a few minutes, "
            "and says how many of all pairs are right, and how sure that is.",
            "href": "/judge",
            "link": "Judge 20 pairs",
            "main": True,
        }
    return {
        "title": "How good it is",
        "text": said,
        "href": "/evaluation",
        "link": "See the evaluation",
        "main": False,
    }


def _precision(desk: Desk) -> str | None:
    """By the sample of which most is decided."""
    word = verdicts(desk.folder.labels())
    drawn = [name for name in desk.folder.samples() if name.startswith(DRAWN)]
    found = [one for name in drawn for one in measured(desk.key(name), word)]
    own = [one for one in found if one["name"] == desk.name and one["sentence"]]
    best = max(own, key=lambda one: one["decided"], default=None)
    return str(best["sentence"]) if best else None


class Judging(Part):
    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    @property
    def links(self) -> Sequence[Link]:
        found = [Link("/judge", "Judge")]
        if self.desk.folder.lists_path.exists():
            found.append(Link("/judge/lists", "Result lists"))
        return [*found, Link("/judge/disputes", "Disagreements")]

    def card(self) -> Data | None:
        return card(self.desk)

    def doors(self) -> Sequence[Door]:
        pages = (Front, Pairs, Results, Disputes, Exchange, Lists)
        return [door for page in pages for door in page(self.desk).doors()]


class JudgingParts(NamedTuple):
    judging: Judging
    evaluating: Evaluating


def judging_parts(
    target: Path,
    *,
    others: Sequence[Path] = (),
    lists: str | Path | None = None,
    guideline: str | None = None,
) -> JudgingParts:
    """``others`` are runs whose pairs are mixed into the samples; ``lists`` a file of result lists
    that is added to those that are there."""
    desk = Desk.of(target, tuple(others))
    desk.guideline = guideline_of(guideline) if guideline else None
    if lists is not None:
        add_lists(desk.folder.lists_path, read_lists(lists))
    return JudgingParts(Judging(desk), Evaluating(desk))
