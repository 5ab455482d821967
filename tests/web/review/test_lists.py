"""Lists show exactly what was asked for, in order, each entry on one page."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import UsageError
from neardup.labels.label_store import Label, LabelStore
from neardup.schema import KINDS
from neardup.web.review.filters import Filter, asked, documents_mask
from neardup.web.review.pagination import PAGE, SORTS, page_of
from neardup.web.review.review_source import open_source
from neardup.web.review.review_state import State
from neardup.web.review.review_tables import BECOMES
from web.review.conftest import NEWS

filters = st.builds(
    Filter,
    q=st.sampled_from(
        ["", "harbour", "goodbye", "HARBOUR pier", '"the old ferry"', "de-", "тр", "zzz"]
    ),
    kind=st.sampled_from(["", *KINDS, "none"]),
    low=st.sampled_from([None, 0.45, 0.8, 1.0]),
    high=st.sampled_from([None, 0.5, 0.9]),
    source=st.sampled_from(["", "Tarn Wire", "Ombra Ledger", "nobody"]),
    since=st.sampled_from(["", "2025-02-13"]),
    until=st.sampled_from(["", "2025-02-13", "2025-03"]),
    action=st.sampled_from(["", *BECOMES, "changed"]),
)


def has(document: dict[str, Any], wanted: Filter) -> bool:
    """The slow twin of what is asked of a document alone."""
    terms = [wanted.q.strip('"')] if '"' in wanted.q else wanted.q.split()
    found = "\n".join(document.get(name) or "" for name in ("id", "title", "text")).lower()
    date = document.get("date")
    if date is None and (wanted.since or wanted.until):
        return False
    return (
        all(term.lower() in found for term in terms)
        and wanted.source in ("", document.get("source"))
        and (not wanted.since or date >= wanted.since)
        and (not wanted.until or date <= wanted.until or date.startswith(wanted.until))
    )


def scored(row: dict[str, Any], wanted: Filter) -> bool:
    """And of a pair, or of what was set aside."""
    score = row["score"]
    kind = row["kind"] or "none"
    low, high = wanted.low, wanted.high
    return (
        wanted.kind in ("", kind)
        and (low is None or score >= low)
        and (high is None or score <= high)
    )


@functools.cache
def documents() -> dict[str, dict[str, Any]]:
    lines = map(json.loads, NEWS.read_text("utf-8").splitlines())
    return {line["id"]: line for line in lines}


@given(wanted=filters)
def test_lists_have_what_is_asked_for(state: State, wanted: Filter) -> None:
    tables = state.tables
    rows = tables.decisions.to_pylist()
    becomes = [BECOMES[code] for code in tables.becomes]

    def own(id: str, row: int) -> bool:
        return has(documents()[id], wanted) and wanted.action in ("", becomes[row])

    row_of = {row["id"]: i for i, row in enumerate(rows)}
    right = [
        i
        for i, row in enumerate(rows)
        if own(row["id"], i)
        and (
            (not wanted.kind and wanted.low is None and wanted.high is None)
            or (row["decision"] == "duplicate" and scored(row, wanted))
        )
    ]
    assert state.order("documents", wanted, "order").tolist() == right
    clusters = {rows[i]["cluster"] for i in right} - {None}
    if not wanted.asks:
        clusters = set(range(len(tables.members)))
    assert state.order("clusters", wanted, "order").tolist() == sorted(clusters)
    pairs = [
        i
        for i, pair in enumerate(tables.pairs.to_pylist())
        if scored(pair, wanted) and any(own(pair[side], row_of[pair[side]]) for side in "ab")
    ]
    assert state.order("pairs", wanted, "order").tolist() == pairs


@pytest.mark.parametrize("what", SORTS)
def test_pages_are_a_partition_in_every_order(state: State, what: str) -> None:
    for sort in SORTS[what]:
        order = state.order(what, Filter(), sort)
        pages = [page_of(order, n + 1) for n in range(page_of(order, 1).pages)]
        assert [entry for page in pages for entry in page.entries] == order.tolist()
        assert sorted(order.tolist()) == list(range(len(order)))
        assert all(len(page.entries) == PAGE for page in pages[:-1])
        assert page_of(order, 10**6).number == len(pages)


def test_orders_are_what_they_say(state: State) -> None:
    tables = state.tables
    weakest = tables.weakest[state.order("clusters", Filter(), "weakest")]
    assert (np.diff(weakest) >= 0).all()
    assert (np.diff(tables.size[state.order("clusters", Filter(), "largest")]) <= 0).all()
    assert (np.diff(tables.pair_score[state.order("pairs", Filter(), "strongest")]) <= 0).all()


def test_pairs_that_decided_are_told_apart(state: State) -> None:
    rows = state.tables.decisions.to_pylist()
    deciding = {frozenset((row["id"], row["kept_id"])) for row in rows if row["kept_id"]}
    pairs = [frozenset((pair["a"], pair["b"])) for pair in state.tables.pairs.to_pylist()]
    found = state.order("pairs", Filter(which="decided"), "order").tolist()
    assert {pairs[i] for i in found} == deciding
    others = state.order("pairs", Filter(which="others"), "order").tolist()
    assert sorted(found + others) == list(range(len(pairs)))


def test_labels_are_seen_as_soon_as_they_are_there(run: Path) -> None:
    state = State(open_source(str(run)))
    pairs = state.tables.pairs.to_pylist()
    a, b, c = (pairs[i] for i in (0, 3, 5))
    assert state.order("pairs", Filter(label="duplicate"), "order").tolist() == []
    (run / "judging").mkdir()
    store = LabelStore(run / "judging" / "labels.jsonl")
    store.add(Label(a["b"], a["a"], "duplicate", "ann"))
    store.add(Label(b["a"], b["b"], "not", "ann"))
    store.add(Label(c["a"], c["b"], "not", "ann"))
    store.add(Label(c["a"], c["b"], "duplicate", "ben"))
    listed = {
        label: state.order("pairs", Filter(label=label), "order").tolist()
        for label in ("duplicate", "not", "disagreed", "undecided")
    }
    assert listed == {"duplicate": [0], "not": [3], "disagreed": [5], "undecided": []}
    assert len(state.order("pairs", Filter(label="none"), "order")) == len(pairs) - 3
    store.add(Label(c["a"], c["b"], "duplicate", "eve", arbiter=True))
    assert state.order("pairs", Filter(label="duplicate"), "order").tolist() == [0, 5]
    aside = documents_mask(state.facts(), Filter(label="duplicate"))
    assert all(state.tables.aside[aside])
    state.close()


@pytest.mark.parametrize(
    "query",
    [
        {"kind": "burnt"},
        {"low": "x"},
        {"high": "1.5"},
        {"low": "nan"},
        {"label": "?"},
        {"which": "no"},
    ],
)
def test_what_nobody_can_ask_is_refused(query: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        asked(**query)


def test_an_unknown_order_is_refused(state: State) -> None:
    with pytest.raises(UsageError, match="no order 'size' of pairs"):
        state.order("pairs", Filter(), "size")
