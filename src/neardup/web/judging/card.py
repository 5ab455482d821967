"""What judging says on the front page of a review."""

from __future__ import annotations

from neardup.evaluation.agreement import verdicts
from neardup.evaluation.judged_folder import DRAWN
from neardup.web.judging.desk import Desk
from neardup.web.judging.results import measured
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
