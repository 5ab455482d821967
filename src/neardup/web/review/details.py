"""One cluster, as a graph and as a table; one document, with all its pairs."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query

from neardup.decisions.policy import ACTIONS
from neardup.outputs.html.safe import shortened
from neardup.schema import Array
from neardup.web.pages import Pages
from neardup.web.problems import not_found
from neardup.web.review.facts import Facts
from neardup.web.review.graph import MOST_EDGES, MOST_NODES, Edge, Graph, Node, drawn
from neardup.web.review.lists import Number
from neardup.web.review.orders import page_of
from neardup.web.review.pair import Id
from neardup.web.review.shown import Data, cluster_row, document_row, pair_row
from neardup.web.review.state import State

MOST_PAIRS = 100
MOST_TEXT = 100_000  # characters


class Details:
    def __init__(self, state: State) -> None:
        self._state = state

    def add(self, router: APIRouter, pages: Pages) -> None:
        pages.add(router, "/cluster", "review/cluster.html", self.cluster)
        pages.add(router, "/document", "review/document.html", self.document)

    def cluster(self, number: Annotated[int, Query(ge=0)], page: Number = 1) -> Data:
        facts = self._state.facts()
        tables = facts.tables
        if number >= len(tables.members):
            raise not_found(
                f"There is no cluster {number}.", hint="changes may have given it another number."
            )
        members = tables.members[number]
        shown = page_of(members, page)
        rows, weakest = members[:MOST_NODES], self._threshold
        graph = make_graph(facts, rows, weakest)
        return {
            "cluster": cluster_row(facts, number),
            "members": [document_row(facts, row) for row in shown.entries],
            "page": {"number": shown.number, "pages": shown.pages, "total": shown.total},
            "before": self._href(number, shown.number - 1, shown.pages),
            "after": self._href(number, shown.number + 1, shown.pages),
            "graph": drawn(graph),
            "links_shown": links_of(graph),
            "left_out": len(members) - len(rows),
            "changeable": self._state.source.log is not None,
            "actions": ACTIONS,
            "undoable": self._state.undoable,
            "clusters": len(tables.members),
        }

    @property
    def _threshold(self) -> float:
        return self._state.source.about.threshold or 0.0

    def _href(self, number: int, page: int, pages: int) -> str | None:
        return f"/cluster?number={number}&page={page}" if 1 <= page <= pages else None

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
