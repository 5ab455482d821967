"""The parts of ``neardup review``: the review itself, and what stands beside it."""

from __future__ import annotations

from neardup.web.app import Part
from neardup.web.review.part import Review
from neardup.web.review.sources import open_source


def review_parts(target: str) -> list[Part]:
    """Of the folder of a run or the address of an index; the first part has the front page.

    A part that has something to say on the front page gives a ``Card`` (review/front.py).
    """
    return [Review(open_source(target))]
