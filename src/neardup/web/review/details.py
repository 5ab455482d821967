"""One cluster, as a graph and as a table; one document, with all its pairs."""

from __future__ import annotations

import numpy as np
from fastapi import APIRouter

from neardup.decisions.policy import ACTIONS
from neardup.names import shortened
from neardup.schema import Array
from neardup.web.pages import Pages
from neardup.web.problems import not_found
from neardup.web.review.facts import Facts
from neardup.web.review.filters import Filter
from neardup.web.review.graph import MOST_EDGES, MOST_NODES, Edge, Graph, Node, drawn
from neardup.web.review.lists import Asked, Number
from neardup.web.review.orders import page_of, place_of
from neardup.web.review.pair import Id
from neardup.web.review.shown import Data, cluster_href, cluster_row, document_row, pair_row
from neardup.web.review.state import State

MOST_PAIRS = 100
MOST_TEXT = 100_000  # characters


class Details:
    def __init__(self, state: State) -> None:
        self._state = state

    def add(self, router: APIRouter, pages: Pages) -> None:
        pages.add(router, "/cluster", "review/cluster.html", self.cluster)
        pages.add(router, "/document", "review/document.html", self.document)

    def cluster(self, of: Id, wanted: Asked, sort: str = "weakest", page: Number = 1) -> Data:
        """``of``: a document in it; ``wanted`` and ``sort``: the list that it is part of."""
        facts = self._state.facts()
        tables = facts.tables
        row = tables.row_of(of)
        number = int(tables.cluster[row]) if row >= 0 else -1
        if number < 0:
            raise not_found(
                f"There is no cluster with a document {shortened(of)!r}.",
                hint="what is changed by hand may leave a document alone.",
            )
        members = tables.members[number]
        context = wanted.query(sort=sort)
        shown = page_of(members, page)
        rows, weakest = members[:MOST_NODES], self._threshold
        graph = make_graph(facts, rows, weakest)
        return {
            "cluster": cluster_row(facts, number, context),
            **self._neighbours(facts, number, wanted, sort),
            "members": [document_row(facts, row) for row in shown.entries],
            "page": {"number": shown.number, "pages": shown.pages, "total": shown.total},
            "page_before": _page_href(of, context, shown.number - 1, shown.pages),
            "page_after": _page_href(of, context, shown.number + 1, shown.pages),
            "graph": drawn(graph),
            "links_shown": links_of(graph),
            "left_out": len(members) - len(rows),
            "changeable": self._state.source.log is not None,
            "actions": ACTIONS,
            "undoable": self._state.undoable,
        }

    @property
    def _threshold(self) -> float:
        return self._state.source.about.threshold or 0.0

    def _neighbours(self, facts: Facts, number: int, wanted: Filter, sort: str) -> Data:
        """The clusters before and after it in the list that it was reached from."""
        context = wanted.query(sort=sort)
        place = place_of(self._state.order("clusters", wanted, sort), number)
        near = (place.before, place.after) if place else (None, None)
        rows = [None if one is None else int(facts.tables.members[one][0]) for one in near]
        before, after = (
            None if row is None else cluster_href(facts.tables.id_of(row), context) for row in rows
        )
        return {
            "list": f"/clusters?{context}",
            "before": before,
            "after": after,
            "place": place.number if place else None,
            "total": place.total if place else None,
        }

    def document(self, id: Id) -> Data:
        facts = self._state.facts()
        tables = facts.tables
        row = tables.row_of(id)
        if row < 0:
            raise not_found(
                f"No document has the id {shortened(id)!r}.", hint="ids are searched, too."
            )
        text = self._state.texts.of([id], [row]).get(id)
        pairs = pairs_with(facts, row)
        return {
            "document": document_row(facts, row),
            "text": None if text is None else text[:MOST_TEXT],
            "characters": None if text is None else len(text),
            "fault": self._state.texts.progress.fault,
            "pairs": [pair_row(facts, number) for number in pairs[:MOST_PAIRS].tolist()],
            "pair_count": len(pairs),
            "changeable": self._state.source.log is not None,
            "actions": ACTIONS,
            "undoable": self._state.undoable,
        }


def _page_href(of: str, context: str, page: int, pages: int) -> str | None:
    return cluster_href(of, f"{context}&page={page}") if 1 <= page <= pages else None


def pairs_with(facts: Facts, row: int) -> Array:
    """The strongest first."""
    a, b = facts.tables.pair_rows
    found = np.flatnonzero((a == row) | (b == row))
    return np.asarray(found[np.argsort(-facts.tables.pair_score[found], kind="stable")])


def make_graph(facts: Facts, rows: Array, threshold: float) -> Graph:
    """Of these documents. Where there are too many links, those that decided and the weakest."""
    tables = facts.tables
    ids = tables.decisions["id"].take(rows).to_pylist()
    nodes = [
        Node(id, bool(tables.kept[row]), bool(tables.by_hand[row] or facts.chosen[row]))
        for id, row in zip(ids, rows.tolist(), strict=True)
    ]
    found = tables.pairs_within(rows)
    decides, score = tables.pair_decides, tables.pair_score
    found = found[np.lexsort((score[found], ~decides[found]))][:MOST_EDGES]
    place = {row: i for i, row in enumerate(rows.tolist())}
    a, b = tables.pair_rows
    edges = [
        Edge(place[int(a[i])], place[int(b[i])], float(score[i]), bool(decides[i]))
        for i in found.tolist()
    ]
    return Graph(nodes, edges, threshold)


def links_of(graph: Graph) -> list[Data]:
    """As the picture has them, the weakest first."""
    bridging = graph.bridges()
    made = [
        {
            "a": graph.nodes[edge.a].id,
            "b": graph.nodes[edge.b].id,
            "score": edge.score,
            "decides": edge.decides,
            "weak": graph.weak(edge),
            "bridge": number in bridging,
        }
        for number, edge in enumerate(graph.edges)
    ]
    return sorted(made, key=lambda link: link["score"])
