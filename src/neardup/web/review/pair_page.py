"""The page of one pair: both texts, the measures, and links to the pairs before and after it.

The texts are shown level, with what differs marked, or whole as they were written, in two columns
that scroll together; there, marks with the same number belong together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from fastapi import Query

from neardup.labels.label_store import Pair
from neardup.report.html_page import Html, html
from neardup.report.side_by_side import fragment
from neardup.runs.comparison import Comparison
from neardup.text.alignment import DIFFERS, MOVED, SHARED, Alignment, Span
from neardup.web.doors import Door
from neardup.web.pages import not_found
from neardup.web.review.filters import Facts, Filter
from neardup.web.review.list_pages import Asked, Data, cluster_href, document_row, pair_href
from neardup.web.review.pagination import place_of
from neardup.web.review.review_state import State
from neardup.wording import shortened

MOST = 400_000  # characters of a text that are shown


def columns(texts: tuple[str, str], alignment: Alignment) -> tuple[Html, Html]:
    marks = [
        (passage.how, number, (passage.a, passage.b))
        for number, passage in enumerate(alignment.passages)
    ]
    first, second = (
        _column(text, sorted((spans[side], how, number) for how, number, spans in marks))
        for side, text in enumerate(texts)
    )
    return first, second


def _column(text: str, marks: Sequence[tuple[Span, str, int]]) -> Html:
    made: list[str] = []
    at = 0
    for span, how, number in marks:
        begin, end = max(span.begin, at), min(span.end, MOST)
        if begin >= end:
            continue
        made.append(html(text[at:begin]))
        made.append(_marked(html(text[begin:end]), how, number))
        at = end
    made.append(html(text[at:MOST]))
    if len(text) > MOST:
        made.append(f"<small>… {len(text) - MOST:,} characters more …</small>")
    return Html("".join(made))


def _marked(inside: str, how: str, number: int) -> str:
    if how == SHARED:
        return f'<span class="shared" data-passage="{number}">{inside}</span>'
    if how == MOVED:
        return f'<mark data-passage="{number}">{inside}</mark>'
    assert how == DIFFERS
    return inside


Id = Annotated[str, Query(max_length=100_000)]
MOST_SHOWN = 300_000  # characters of both texts side by side
NO_TEXTS = "The texts of these documents cannot be read any more; the numbers are those of the run."


class PairPage:
    def __init__(self, state: State) -> None:
        self._state = state

    def doors(self) -> Sequence[Door]:
        return [
            Door("/pair", self.pair, template="review/pair.html"),
        ]

    def pair(
        self,
        a: Id,
        b: Id,
        wanted: Asked,
        sort: str = "weakest",
        view: Literal["aligned", "original"] = "aligned",
    ) -> Data:
        facts = self._state.facts()
        rows = [facts.tables.row_of(id) for id in (a, b)]
        if max(rows) < 0:
            raise not_found(f"No document has the id {shortened(a)!r} or {shortened(b)!r}.")
        a, b, rows = _kept_first(facts, a, b, rows)
        context = wanted.query(sort=sort)
        compared = self._compared(a, b, rows)
        return {
            "a": a,
            "b": b,
            "view": view,
            "documents": [document_row(facts, row) if row >= 0 else None for row in rows],
            "pair": self._facts(facts, a, b, rows),
            "cluster": _cluster_href(facts, rows),
            "label": facts.states.get(Pair.of(a, b)),
            "other_view": self._other_view(a, b, context, view),
            **self._neighbours(facts, rows, wanted, sort, context),
            **_shown(compared, view),
            "comparison": compared.to_dict() if compared else None,
            "fault": None if compared else self._fault(),
            "changeable": self._state.source.log is not None,
        }

    def _compared(self, a: str, b: str, rows: list[int]) -> Comparison | None:
        found = self._state.texts.of([a, b], rows)
        if not {a, b} <= found.keys():
            return None
        return self._state.source.compare((found[a], found[b]), (a, b))

    def _fault(self) -> str:
        return self._state.texts.progress.fault or NO_TEXTS

    def _facts(self, facts: Facts, a: str, b: str, rows: list[int]) -> Data | None:
        """What the run said of the pair; None where it is none."""
        tables = facts.tables
        (number,) = tables.pairs_of(np.array(rows[:1]), np.array(rows[1:])).tolist()
        if number < 0:
            aside = next((row for row in rows if row >= 0 and tables.aside[row]), None)
            if aside is None or tables.decisions["kept_id"][aside].as_py() not in (a, b):
                return None
            return _decided(facts, aside)
        said: Data = tables.pairs.slice(number, 1).to_pylist()[0]
        return {
            **{name: said[name] for name in ("score", "kind", "confidence")},
            "decides": bool(tables.pair_decides[number]),
        }

    def _other_view(self, a: str, b: str, context: str, view: str) -> str:
        other = "original" if view == "aligned" else "aligned"
        return pair_href(a, b, f"{context}&view={other}" if context else f"view={other}")

    def _neighbours(
        self, facts: Facts, rows: list[int], wanted: Filter, sort: str, context: str
    ) -> Data:
        """The pairs before and after it in the list that it was reached from."""
        tables = facts.tables
        none: Data = {"before": None, "after": None, "place": None, "total": None}
        back = {"list": f"/pairs?{context}"}
        (number,) = tables.pairs_of(np.array(rows[:1]), np.array(rows[1:])).tolist()
        if number < 0:
            return none | back
        place = place_of(self._state.order("pairs", wanted, sort), number)
        if place is None:
            return none | back

        def href(entry: int | None) -> str | None:
            if entry is None:
                return None
            first, second = (tables.pairs[side][entry].as_py() for side in "ab")
            return pair_href(first, second, context)

        around = {"before": href(place.before), "after": href(place.after)}
        return {**around, "place": place.number, "total": place.total, **back}


def _kept_first(facts: Facts, a: str, b: str, rows: list[int]) -> tuple[str, str, list[int]]:
    """The one that was set aside stands on the right."""
    aside = [row >= 0 and bool(facts.tables.aside[row]) for row in rows]
    if aside[0] and not aside[1]:
        return b, a, rows[::-1]
    return a, b, rows


def _decided(facts: Facts, row: int) -> Data:
    said: Data = facts.tables.decisions.slice(row, 1).to_pylist()[0]
    return {**{name: said[name] for name in ("score", "kind", "confidence")}, "decides": True}


def _cluster_href(facts: Facts, rows: list[int]) -> str | None:
    """The address of the cluster that both documents are in, or None."""
    known = [row for row in rows if row >= 0]
    numbers = {int(facts.tables.cluster[row]) for row in known}
    one = len(numbers) == 1 and min(numbers) >= 0
    return cluster_href(facts.tables.id_of(known[0])) if one else None


def _shown(compared: Comparison | None, view: str) -> Data:
    nothing = Html("")
    made: Data = {"aligned": nothing, "left": nothing, "right": nothing, "facts": [], "more": []}
    if compared is None:
        return made
    made["facts"], made["more"] = compared.facts(), compared.measure_facts()
    if view == "original":
        made["left"], made["right"] = columns((compared.a, compared.b), compared.alignment)
    else:
        made["aligned"] = Html(
            fragment(compared.a, compared.b, compared.alignment, most=MOST_SHOWN)
        )
    return made
