"""The parts of ``neardup review``: the review itself, and what stands beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from neardup.web.app import Part
from neardup.web.evaluation.part import Evaluating
from neardup.web.flow.part import FlowPart
from neardup.web.judging.desk import Desk
from neardup.web.judging.part import Judging
from neardup.web.review.part import Review
from neardup.web.review.sources import open_source


def review_parts(target: str, others: Sequence[Path] = ()) -> list[Part]:
    """Of the folder of a run or the address of an index; the first part has the front page.
    ``others`` are runs that are judged together with it."""
    source = open_source(target)
    if source.judging is None:
        return [Review(source), *_flow(target)]
    desk = Desk.of(Path(target.removeprefix("sqlite:")), tuple(others))
    judging = Judging(desk)
    return [Review(source, [judging.card]), judging, Evaluating(desk), *_flow(target)]


def _flow(target: str) -> list[Part]:
    """A run is over; into an index more may come."""
    return [] if Path(target).is_dir() else [FlowPart(target)]
