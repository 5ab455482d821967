"""The pages of one cluster (a graph and a table) and of one document with all its pairs.

The graph of documents and verified pairs is drawn on the server, the same every time. Springs pull
the documents of a pair together, the closer the more similar they are, and all documents push each
other away (Fruchterman & Reingold 1991). A *weak* link has a score in the lowest quarter between
the threshold and 1. A *bridge* is the only link between two groups of two or more documents: if it
is wrong, two clusters were merged by mistake (Tarjan 1974).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import numpy as np

from neardup.decisions.clusters import bridges
from neardup.decisions.policy import ACTIONS
from neardup.report.html_page import Html, html
from neardup.schema import Array
from neardup.web.doors import Door
from neardup.web.pages import not_found
from neardup.web.review.filters import Facts, Filter
from neardup.web.review.list_pages import (
    Asked,
    Data,
    Number,
    cluster_href,
    cluster_row,
    document_row,
    pair_row,
)
from neardup.web.review.pagination import page_of, place_of
from neardup.web.review.pair_page import Id
from neardup.web.review.review_state import State
from neardup.wording import score_text, shortened

MOST_NODES = 60
MOST_EDGES = 600  # the weakest and the strongest of more would be a black cloud
FEW_EDGES = 80
LABELLED = 30  # nodes: beyond, only the kept ones have their names written
WIDTH, HEIGHT, MARGIN = 800, 480, 50
ROUNDS = 200
WEAK = 0.25


@dataclass(frozen=True)
class Node:
    """``title``: what the picture calls it, where the id would say less."""

    id: str
    kept: bool
    changed: bool
    title: str | None = None

    @property
    def name(self) -> str:
        return self.title or self.id


@dataclass(frozen=True)
class Edge:
    """Numbers of nodes. ``decides``: one was set aside for the other."""

    a: int
    b: int
    score: float
    decides: bool


@dataclass(frozen=True)
class Graph:
    nodes: Sequence[Node]
    edges: Sequence[Edge]
    threshold: float

    def weak(self, edge: Edge) -> bool:
        return edge.score < self.threshold + WEAK * (1 - self.threshold)

    @property
    def scale(self) -> float:
        """The factor of the width of lines: many thick ones would be a cloud."""
        return max(0.3, min(1.0, FEW_EDGES / max(len(self.edges), 1)))

    def bridges(self) -> set[int]:
        """Numbers of edges."""
        return bridges(len(self.nodes), [(edge.a, edge.b) for edge in self.edges])


def places(count: int, edges: Sequence[Edge]) -> Array:
    """The place of each node, from 0 to 1 both ways. The layout begins on a circle, with the first
    node in the middle."""
    if count == 1:
        return np.array([[0.5, 0.5]])
    turn = np.arange(count) * (2 * np.pi / max(count - 1, 1))
    at = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    at[0] = 0.01, 0.02
    a, b = (np.array([getattr(edge, side) for edge in edges], np.int64) for side in "ab")
    length = 0.35 + 1.3 * (1 - np.array([edge.score for edge in edges], np.float64))
    for step in range(ROUNDS):
        at = at + _moves(at, a, b, length, count) * (0.12 * (1 - step / ROUNDS))
    span = np.maximum(at.max(axis=0) - at.min(axis=0), 1e-6)
    return np.asarray((at - at.min(axis=0)) / span)


def _moves(at: Array, a: Array, b: Array, length: Array, count: int) -> Array:
    between = at[:, None, :] - at[None, :, :]
    square = np.maximum((between**2).sum(axis=2), 1e-4)
    push = (between / square[:, :, None]).sum(axis=1) * (1.2 / count)
    line = at[b] - at[a]
    distance = np.maximum(np.sqrt((line**2).sum(axis=1)), 1e-6)
    pull = line * ((distance - length) / distance)[:, None]
    np.add.at(push, a, pull / np.sqrt(count))
    np.subtract.at(push, b, pull / np.sqrt(count))
    size = np.sqrt((push**2).sum(axis=1))
    return np.asarray(push / np.maximum(size, 1.0)[:, None])


def drawn(graph: Graph) -> Html:
    """SVG without a style of its own; every document and every link can be pointed at."""
    at = places(len(graph.nodes), graph.edges)
    x = MARGIN + at[:, 0] * (WIDTH - 2 * MARGIN)
    y = MARGIN + at[:, 1] * (HEIGHT - 2 * MARGIN - 20)
    spots = list(zip(x.tolist(), y.tolist(), strict=True))
    bridging = graph.bridges()
    lines = "".join(
        _line(graph, edge, spots, number in bridging) for number, edge in enumerate(graph.edges)
    )
    named = len(graph.nodes) <= LABELLED
    dots = "".join(
        _dot(node, spot, named or node.kept) for node, spot in zip(graph.nodes, spots, strict=True)
    )
    many = " many" if len(graph.edges) > FEW_EDGES else ""
    title = f"{len(graph.nodes):,} documents and {len(graph.edges):,} links"
    return Html(
        f'<svg class="graph{many}" viewBox="0 0 {WIDTH} {HEIGHT}" role="group" '
        f'aria-label="{title}; the table below says the same">{lines}{dots}</svg>'
    )


def _line(graph: Graph, edge: Edge, spots: Sequence[tuple[float, float]], bridge: bool) -> str:
    (x1, y1), (x2, y2) = spots[edge.a], spots[edge.b]
    weak = graph.weak(edge)
    css = " ".join(
        name
        for name, there in (("weak", weak), ("bridge", bridge), ("decides", edge.decides))
        if there
    )
    share = (edge.score - graph.threshold) / max(1 - graph.threshold, 1e-9)
    width = (1 + 5 * min(max(share, 0.0), 1.0)) * graph.scale
    ids = graph.nodes[edge.a].id, graph.nodes[edge.b].id
    first, second = (shortened(graph.nodes[end].name, 40) for end in (edge.a, edge.b))
    said = f"{first} – {second}: {score_text(edge.score)}"
    said += ", weak" * weak + ", a bridge" * bridge
    href = html("/pair?" + urlencode({"a": ids[0], "b": ids[1]}))
    return (
        f'<a href="{href}" tabindex="-1"><line class="{css}" x1="{x1:.1f}" y1="{y1:.1f}" '
        f'x2="{x2:.1f}" y2="{y2:.1f}" stroke-width="{width:.1f}"><title>{html(said)}</title>'
        "</line></a>"
    )


def _dot(node: Node, spot: tuple[float, float], named: bool) -> str:
    x, y = spot
    css = "kept" if node.kept else "aside"
    said = f"{shortened(node.name, 80)}, {'kept' if node.kept else 'duplicate'}"
    href = html("/document?" + urlencode({"id": node.id}))
    ring = f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="14"/>' if node.kept else ""
    name = f'<text x="{x:.1f}" y="{y + 28:.1f}">{html(_label(node.name))}</text>' if named else ""
    return (
        f'<a href="{href}" class="{css}">{ring}<circle cx="{x:.1f}" cy="{y:.1f}" r="9">'
        f"<title>{html(said)}</title></circle>{name}</a>"
    )


def _label(name: str) -> str:
    """The label of a node, of at most 17 characters: the beginning and the end."""
    line = " ".join(name.split())
    return line if len(line) <= 17 else f"{line[:9]}…{line[-7:]}"


MOST_PAIRS = 100
MOST_TEXT = 100_000  # characters


class Details:
    def __init__(self, state: State) -> None:
        self._state = state

    def doors(self) -> Sequence[Door]:
        return [
            Door("/cluster", self.cluster, template="review/cluster.html"),
            Door("/document", self.document, template="review/document.html"),
        ]

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
    """The graph of these documents. If there are too many links, it has those that decided and the
    weakest."""
    tables = facts.tables
    ids = tables.decisions["id"].take(rows).to_pylist()
    titles = [facts.texts.title(row) for row in rows.tolist()]
    if len(set(titles)) < len(titles):  # copies often have one title: then ids tell them apart
        titles = [None] * len(titles)
    nodes = [
        Node(id, bool(tables.kept[row]), bool(tables.by_hand[row] or facts.chosen[row]), title)
        for id, row, title in zip(ids, rows.tolist(), titles, strict=True)
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
    """The links as the picture has them, the weakest first."""
    bridging = graph.bridges()
    made = [
        {
            "a": graph.nodes[edge.a].id,
            "b": graph.nodes[edge.b].id,
            "titles": [graph.nodes[end].title for end in (edge.a, edge.b)],
            "score": edge.score,
            "decides": edge.decides,
            "weak": graph.weak(edge),
            "bridge": number in bridging,
        }
        for number, edge in enumerate(graph.edges)
    ]
    return sorted(made, key=lambda link: link["score"])
