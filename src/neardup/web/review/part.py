"""The part of the review: its pages together."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter

from neardup.web.app import Link
from neardup.web.pages import Pages
from neardup.web.review.changing import Changing
from neardup.web.review.details import Details
from neardup.web.review.front import Card, Front
from neardup.web.review.lists import Lists
from neardup.web.review.pair import PairPage
from neardup.web.review.sources import Source
from neardup.web.review.state import State
from neardup.web.review.thresholds import Thresholds


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

    def router(self, pages: Pages) -> APIRouter:
        router = APIRouter()
        Front(self.state, self._cards).add(router, pages)
        for one in (Lists, PairPage, Details, Thresholds, Changing):
            one(self.state).add(router, pages)
        return router

    def open(self) -> None:
        self.state.open()

    def close(self) -> None:
        self.state.close()
