"""The part of judging: its pages together."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter

from neardup.web.app import Link
from neardup.web.judging.card import card
from neardup.web.judging.desk import Desk
from neardup.web.judging.disputes import Disputes
from neardup.web.judging.exchange import Exchange
from neardup.web.judging.front import Front
from neardup.web.judging.lists import Lists
from neardup.web.judging.pairs import Pairs
from neardup.web.judging.results import Results
from neardup.web.pages import Data, Pages


class Judging:
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

    def router(self, pages: Pages) -> APIRouter:
        router = APIRouter()
        for one in (Front, Pairs, Results, Disputes, Exchange, Lists):
            one(self.desk).add(router, pages)
        return router

    def open(self) -> None:
        pass

    def close(self) -> None:
        pass
