"""The parts of ``neardup review``: the review itself, and what stands beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from neardup.web.app import Part
from neardup.web.flow_pages import FlowPart
from neardup.web.judging.judging_pages import judging_parts
from neardup.web.review.review_pages import Review
from neardup.web.review.review_source import open_source


def review_parts(
    target: str,
    others: Sequence[Path] = (),
    lists: str | None = None,
    guideline: str | None = None,
) -> list[Part]:
    """Of the folder of a run or the address of an index; the first part has the front page.
    ``others`` are runs that are judged together with it, ``lists`` a file of result lists,
    ``guideline`` the name of a definition that assessors see."""
    source = open_source(target)
    if source.judging is None:
        return [Review(source), *_flow(target)]
    place = Path(target.removeprefix("sqlite:"))
    judging, evaluating = judging_parts(place, others=others, lists=lists, guideline=guideline)
    return [Review(source, [judging.card]), judging, evaluating, *_flow(target)]


def _flow(target: str) -> list[Part]:
    """A run is over; into an index more may come."""
    return [] if Path(target).is_dir() else [FlowPart(target)]
