"""What judging says on the front page: an invitation, or what was found so far."""

from __future__ import annotations

from neardup.evaluation.agreement import verdicts
from neardup.evaluation.judged_folder import DRAWN
from neardup.evaluation.sampling import PER_TREATMENT
from neardup.web.judging.desk import Desk
from neardup.web.judging.posted import address
from neardup.web.judging.results import measured
from neardup.web.pages import Data


def card(desk: Desk) -> Data | None:
    """None where there is no pair that could be judged."""
    if not len(desk.results()[desk.name].pairs):
        return None
    for name in reversed([name for name in desk.folder.samples() if name.startswith(DRAWN)]):
        if (said := _measured(desk, name)) is not None:
            return {
                "title": "How good it is",
                "text": said,
                "href": address("/judge/result", sample=name),
                "link": "See how that was found",
                "main": False,
            }
    return {
        "title": "How good is it?",
        "text": f"Judge {PER_TREATMENT} pairs, drawn at random, with the keys 1, 2 and 3. That "
        "takes a few minutes and says how many of all pairs are right, and how sure that is.",
        "href": "/judge",
        "link": f"Judge {PER_TREATMENT} pairs",
        "main": True,
    }


def _measured(desk: Desk, sample: str) -> str | None:
    key = desk.folder.key(sample)
    labels = desk.folder.labels().among(set(key.pairs.values()))
    found = next((one for one in measured(key, verdicts(labels)) if one["name"] == desk.name), None)
    return found["sentence"] if found else None
