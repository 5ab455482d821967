"""The front page: what was found, what to do next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

from fastapi import APIRouter

from neardup.outputs.report.columns import DUPLICATE, KEPT, REJECTED
from neardup.web.pages import Pages
from neardup.web.review.filters import DECIDED, Filter
from neardup.web.review.lists import progress
from neardup.web.review.shown import Data, pair_row
from neardup.web.review.state import State

WEAKEST = 5
CONTEXT = f"which={DECIDED}&sort=weakest"

# What another part says on the front page: title, text, href, link (what is written on it), and
# ``main`` for the one thing to do first. None where it has nothing to say.
Card = Callable[[], Data | None]


class Front:
    def __init__(self, state: State, cards: Sequence[Card]) -> None:
        self._state = state
        self._cards = cards

    def add(self, router: APIRouter, pages: Pages) -> None:
        pages.add(router, "/", "review/front.html", self.front)

    def front(self) -> Data:
        state, facts = self._state, self._state.facts()
        tables = facts.tables
        weakest = state.page("pairs", Filter(which=DECIDED), "weakest", 1).entries[:WEAKEST]
        said = [int((tables.decision == code).sum()) for code in (KEPT, DUPLICATE, REJECTED)]
        return {
            "about": asdict(state.source.about),
            "counts": dict(zip(("kept", "duplicates", "rejected"), said, strict=True))
            | {
                "documents": len(tables.decisions),
                "clusters": len(tables.members),
                "pairs": len(tables.pairs),
                "changes": len(state.now.changes.counting),
                "labelled": len(facts.states),
            },
            "becomes": tables.becomes_counts,
            "policy": state.source.policy is not None,
            "changeable": state.source.log is not None,
            "cards": [card for make in self._cards if (card := make())],
            "weakest": [pair_row(facts, number, CONTEXT) for number in weakest],
            "reading": progress(state),
        }
