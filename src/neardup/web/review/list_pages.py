"""The three lists: clusters, pairs, documents; and each of them as the data of one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any
from urllib.parse import urlencode

import numpy as np
from fastapi import Depends, Query

from neardup.decisions.policy import ACTIONS
from neardup.schema import KINDS
from neardup.web.doors import Door
from neardup.web.review.filters import (
    ACTION_CHOICES,
    LABEL_CHOICES,
    STATES,
    UNKNOWN,
    Facts,
    Filter,
    asked,
)
from neardup.web.review.pagination import SORTS, Page
from neardup.web.review.review_state import State
from neardup.web.review.review_tables import document

Asked = Annotated[Filter, Depends(asked)]
Number = Annotated[int, Query(ge=1, le=1_000_000_000)]
MOST_SOURCES = 500  # that a field offers


SNIPPET = 200  # characters of a text
ROW_SOURCES = 2  # that a row names

Data = dict[str, Any]


def snippet(text: str | None) -> str | None:
    """The beginning, on one line."""
    return None if text is None else " ".join(text[: 2 * SNIPPET].split())[:SNIPPET]


def pair_href(a: str | None, b: str | None, context: str = "") -> str:
    """``context``: the list that it is part of, as in an address."""
    return "/pair?" + urlencode({"a": a or "", "b": b or ""}) + ("&" + context if context else "")


def document_href(id: str | None) -> str:
    return "/document?" + urlencode({"id": id or ""})


def cluster_href(id: str | None, context: str = "") -> str:
    """The address of a cluster, by one of its documents: numbers of clusters change with what is
    changed by hand."""
    return "/cluster?" + urlencode({"of": id or ""}) + ("&" + context if context else "")


def cluster_row(facts: Facts, number: int, context: str = "") -> Data:
    tables = facts.tables
    rows = tables.members[number]
    head = int(tables.head[number])
    aside = rows[tables.aside[rows]]
    first = tables.id_of(int(rows[0]))
    kept = first if head >= 0 else tables.decisions["kept_id"][int(rows[0])].as_py()
    counts = np.bincount(tables.kind[aside] + 1, minlength=len(KINDS) + 1).tolist()
    weakest = float(tables.weakest[number])
    return {
        "number": number,
        "first": first,
        "href": cluster_href(first, context),
        "kept": kept,
        "title": facts.texts.title(head),
        "size": len(rows),
        "aside": len(aside),
        "weakest": weakest if np.isfinite(weakest) else None,
        "kinds": {
            kind: count
            for kind, count in zip(("not classified", *KINDS), counts, strict=True)
            if count
        },
        "sources": _sources(facts, rows),
        "changed": bool((tables.by_hand[rows] | facts.chosen[rows]).any()),
        "labelled": int((facts.document_label[aside] >= 0).sum()),
        "text": snippet(facts.texts.there(head)),
    }


def _sources(facts: Facts, rows: Any) -> Data:
    codes, names = facts.source
    found = np.unique(codes[rows])
    found = found[found >= 0]
    return {"some": [names[code] for code in found[:ROW_SOURCES]], "count": len(found)}


def pair_row(facts: Facts, number: int, context: str = "") -> Data:
    tables = facts.tables
    said: Data = tables.pairs.slice(number, 1).to_pylist()[0]
    rows = [int(side[number]) for side in tables.pair_rows]
    label = int(facts.pair_label[number])
    cluster = max((int(tables.cluster[row]) for row in rows if row >= 0), default=-1)
    return {
        **said,
        "number": number,
        "href": pair_href(said["a"], said["b"], context),
        "decides": bool(tables.pair_decides[number]),
        "label": STATES[label] if label >= 0 else None,
        "cluster": cluster if cluster >= 0 else None,
        "decisions": [_decision(facts, row) for row in rows],
        "titles": [facts.texts.title(row) for row in rows],
        "texts": [snippet(facts.texts.there(row)) for row in rows],
    }


def _decision(facts: Facts, row: int) -> str:
    if row < 0:
        return "reference"
    return ("kept", "duplicate", "rejected")[facts.tables.decision[row]]


def document_row(facts: Facts, row: int) -> Data:
    tables = facts.tables
    said = document(tables, row)
    codes, names = facts.source
    label = int(facts.document_label[row])
    dates = facts.texts.dates
    return {
        **said,
        "title": facts.texts.title(row),
        "kept_title": _title(facts, said["kept_id"]),
        "href": document_href(said["id"]),
        "pair": pair_href(said["kept_id"], said["id"]) if said["kept_id"] is not None else None,
        "from": names[codes[row]] if codes[row] >= 0 else None,
        "date": dates[row].as_py() if dates is not None else None,
        "chosen": bool(facts.chosen[row]),
        "label": STATES[label] if label >= 0 else None,
        "why": why(facts, row, said),
        "text": snippet(facts.texts.there(row)),
    }


def _title(facts: Facts, id: str | None) -> str | None:
    if id is None or facts.texts.titles is None:
        return None
    return facts.texts.title(facts.tables.row_of(id))


def why(facts: Facts, row: int, said: Data) -> str:
    """What becomes of a document, in a sentence: as the policy wrote it where nothing changed."""
    tables = facts.tables
    if facts.chosen[row]:
        return "Kept by choice in review."
    if tables.by_hand[row]:
        return f"{said['becomes'].capitalize()} by choice in review; {said['reason']}."
    if tables.actions is not None:
        return str(tables.actions["reason"][row].as_py())
    reason = said["reason"].partition(" (")[0]
    return _REASONS.get(reason, f"Duplicate: {said['reason']}." if tables.aside[row] else reason)


_REASONS = {
    "unique": "Kept: it matches no kept document before it.",
    "representative": "Kept: it has duplicates.",
    "too_short": "Kept: it is too short or too repetitive to compare.",
    "equal": "Duplicate: it is too short or too repetitive to compare, but equal to one.",
}


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
