"""Clusters, pairs and documents as the data of one row of a list."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import numpy as np

from neardup.schema import KINDS
from neardup.web.review.filters import STATES, Facts
from neardup.web.review.review_tables import document

SNIPPET = 200  # characters of a text
MOST_SOURCES = 2

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
    return {"some": [names[code] for code in found[:MOST_SOURCES]], "count": len(found)}


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
