"""The three lists: clusters, pairs, documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Depends, Query

from neardup.decisions.policy import ACTIONS
from neardup.schema import KINDS
from neardup.web.doors import Door
from neardup.web.review.filters import ACTION_CHOICES, LABEL_CHOICES, UNKNOWN, Filter, asked
from neardup.web.review.pagination import SORTS, Page
from neardup.web.review.review_rows import Data, cluster_row, document_row, pair_row
from neardup.web.review.review_state import State

Asked = Annotated[Filter, Depends(asked)]
Number = Annotated[int, Query(ge=1, le=1_000_000_000)]
MOST_SOURCES = 500  # that a field offers


class Lists:
    def __init__(self, state: State) -> None:
        self._state = state

    def doors(self) -> Sequence[Door]:
        return [
            Door("/clusters", self.clusters, template="review/clusters.html"),
            Door("/pairs", self.pairs, template="review/pairs.html"),
            Door("/documents", self.documents, template="review/documents.html"),
        ]

    def clusters(self, wanted: Asked, sort: str = "", page: Number = 1) -> Data:
        found, common = self._listed("clusters", wanted, sort, page)
        facts, context = self._state.facts(), wanted.query(sort=common["sort"])
        entries = [cluster_row(facts, number, context) for number in found.entries]
        return {**common, "entries": entries}

    def pairs(self, wanted: Asked, sort: str = "", page: Number = 1) -> Data:
        found, common = self._listed("pairs", wanted, sort, page)
        facts, context = self._state.facts(), wanted.query(sort=common["sort"])
        return {**common, "entries": [pair_row(facts, number, context) for number in found.entries]}

    def documents(self, wanted: Asked, sort: str = "", page: Number = 1) -> Data:
        found, common = self._listed("documents", wanted, sort, page)
        facts = self._state.facts()
        return {**common, "entries": [document_row(facts, row) for row in found.entries]}

    def _listed(self, what: str, wanted: Filter, sort: str, number: int) -> tuple[Page, Data]:
        chosen = sort or next(iter(SORTS[what]))
        found = self._state.page(what, wanted, chosen, number)
        return found, {
            **self._choices(what),
            "asked": asdict(wanted),
            "asks": wanted.asks,
            "sort": chosen,
            "page": {**asdict(found), "first": found.first, "last": found.last},
            "before": self._href(what, wanted, chosen, found.number - 1, found),
            "after": self._href(what, wanted, chosen, found.number + 1, found),
        }

    def _href(self, what: str, wanted: Filter, sort: str, number: int, found: Page) -> str | None:
        if not 1 <= number <= found.pages:
            return None
        return f"/{what}?{wanted.query(sort=sort, page=number)}"

    def _choices(self, what: str) -> Data:
        facts = self._state.facts()
        about = self._state.source.about
        return {
            "what": what,
            "sorts": SORTS[what],
            "kinds": [*KINDS, UNKNOWN],
            "labels": LABEL_CHOICES,
            "becomes": self._becomes(),
            "actions": ACTIONS,
            "sources": facts.source_names[:MOST_SOURCES],
            "dates": about.date if self._state.texts.dates is not None else None,
            "changeable": self._state.source.log is not None,
            "undoable": self._state.undoable,
            "reading": progress(self._state),
        }

    def _becomes(self) -> list[str]:
        """The outcomes to choose from; without a policy, only what a person chose is an action."""
        return [*self._state.tables.becomes_counts, ACTION_CHOICES[-1]]


def progress(state: State) -> dict[str, Any]:
    return asdict(state.texts.progress)
