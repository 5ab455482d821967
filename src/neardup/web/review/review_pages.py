"""The review as a part of an application: its front page, and the doors of all its pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

from neardup.report.run_view import DUPLICATE, KEPT, REJECTED
from neardup.web.app import Link
from neardup.web.doors import Door
from neardup.web.review.changes_page import Changing
from neardup.web.review.cluster_page import Details
from neardup.web.review.filters import DECIDED, Filter
from neardup.web.review.list_pages import Lists, progress
from neardup.web.review.pair_page import PairPage
from neardup.web.review.review_rows import Data, pair_row
from neardup.web.review.review_source import Source
from neardup.web.review.review_state import State
from neardup.web.review.threshold_page import Thresholds

WEAKEST = 5
CONTEXT = f"which={DECIDED}&sort=weakest"

# What another part says on the front page: title, text, href, link (what is written on it), and
# ``main`` for the one thing to do first. None where it has nothing to say.
Card = Callable[[], Data | None]


class Front:
    def __init__(self, state: State, cards: Sequence[Card]) -> None:
        self._state = state
        self._cards = cards

    def doors(self) -> Sequence[Door]:
        return [
            Door("/", self.front, template="review/front.html"),
        ]

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


class Review:
    """``cards`` are what other parts say on the front page."""

    def __init__(self, source: Source, cards: Sequence[Card] = ()) -> None:
        self.state = State(source)
        self._cards = cards

    @property
    def links(self) -> Sequence[Link]:
        always = [
            Link("/", "Overview"),
            Link("/clusters", "Clusters"),
            Link("/pairs", "Pairs"),
            Link("/documents", "Documents"),
            Link("/threshold", "Threshold"),
        ]
        return always if self.state.source.log is None else [*always, Link("/changes", "Changes")]

    def doors(self) -> Sequence[Door]:
        pages = (Lists, PairPage, Details, Thresholds, Changing)
        front = Front(self.state, self._cards).doors()
        return [*front, *(door for page in pages for door in page(self.state).doors())]

    def open(self) -> None:
        self.state.open()

    def close(self) -> None:
        self.state.close()
