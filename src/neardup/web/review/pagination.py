"""Lists in order, page by page: filtered and sorted once, then a slice a request.

The order of equal ones is that of the run, so that pages are stable: no entry comes twice, none is
left out.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np

from neardup.errors import UsageError
from neardup.schema import Array
from neardup.web.review.filters import Facts, Filter, clusters_mask, documents_mask, pairs_mask

PAGE = 50
REMEMBERED = 16  # lists

# Of each list its orders, the usual one first: name → what is said of it.
SORTS = {
    "clusters": {
        "weakest": "weakest link first",
        "largest": "largest first",
        "order": "in the order of the run",
    },
    "pairs": {
        "weakest": "lowest score first",
        "strongest": "highest score first",
        "order": "in the order of the run",
    },
    "documents": {
        "order": "in the order of the run",
        "weakest": "lowest score first",
        "strongest": "highest score first",
    },
}


@dataclass(frozen=True)
class Page:
    """``number`` counts from 1; there is always one, if an empty one."""

    entries: list[int]
    number: int
    pages: int
    total: int

    @property
    def first(self) -> int:
        return (self.number - 1) * PAGE + 1

    @property
    def last(self) -> int:
        return self.first + len(self.entries) - 1


def page_of(order: Array, number: int) -> Page:
    pages = max(1, -(-len(order) // PAGE))
    number = min(max(1, number), pages)
    entries = order[(number - 1) * PAGE : number * PAGE].tolist()
    return Page(entries, number, pages, len(order))


@dataclass(frozen=True)
class Place:
    """Where an entry stands in a list, counted from 1, and the entries next to it."""

    number: int
    total: int
    before: int | None
    after: int | None


def place_of(order: Array, entry: int) -> Place | None:
    """The place of an entry in the list, or None."""
    found = np.flatnonzero(order == entry)
    if not len(found):
        return None
    at = int(found[0])
    before = int(order[at - 1]) if at else None
    after = int(order[at + 1]) if at + 1 < len(order) else None
    return Place(at + 1, len(order), before, after)


class Orders:
    """The last lists that were asked for. ``version``: of what they were made."""

    def __init__(self) -> None:
        self._made: OrderedDict[Hashable, Array] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, facts: Facts, version: Hashable, what: str, wanted: Filter, sort: str) -> Array:
        """The numbers of clusters, pairs or documents."""
        if sort not in SORTS[what]:
            raise UsageError(
                f"There is no order {sort!r} of {what}.", hint=f"expected {', '.join(SORTS[what])}."
            )
        key = version, what, wanted, sort
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        made = _MAKERS[what](facts, wanted, sort)
        with self._lock:
            self._made[key] = made
            while len(self._made) > REMEMBERED:
                self._made.popitem(last=False)
        return made


def _sorted(numbers: Array, by: Array) -> Array:
    return numbers[np.argsort(by[numbers], kind="stable")]


def _clusters(facts: Facts, wanted: Filter, sort: str) -> Array:
    tables = facts.tables
    numbers = np.flatnonzero(clusters_mask(facts, wanted))
    if sort == "order":
        return numbers
    return _sorted(numbers, tables.weakest if sort == "weakest" else -tables.size)


def _scored(numbers: Array, score: Array, sort: str) -> Array:
    if sort == "order":
        return numbers
    return _sorted(numbers, score if sort == "weakest" else -score)


def _pairs(facts: Facts, wanted: Filter, sort: str) -> Array:
    numbers = np.flatnonzero(pairs_mask(facts, wanted))
    return _scored(numbers, facts.tables.pair_score, sort)


def _documents(facts: Facts, wanted: Filter, sort: str) -> Array:
    numbers = np.flatnonzero(documents_mask(facts, wanted))
    return _scored(numbers, facts.tables.score, sort)


_MAKERS: dict[str, Callable[[Facts, Filter, str], Array]] = {
    "clusters": _clusters,
    "pairs": _pairs,
    "documents": _documents,
}
