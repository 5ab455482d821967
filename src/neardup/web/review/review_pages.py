"""The review as a part of an application: its front page, the doors of all its pages, the page of
the threshold (what a higher one would decide), and changes by hand with their undoing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
from fastapi import Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from neardup.errors import UsageError
from neardup.report.html_page import score_bars
from neardup.report.run_view import DUPLICATE, KEPT, REJECTED
from neardup.runs.changes import Change
from neardup.runs.export import ENDINGS
from neardup.runs.policy_order import put_first
from neardup.runs.run_info import is_passage_run
from neardup.web.app import Link, Part
from neardup.web.doors import Door
from neardup.web.flow_pages import FlowPart
from neardup.web.judging.judging_pages import judging_parts
from neardup.web.pages import not_found
from neardup.web.review.cluster_page import Details
from neardup.web.review.filters import DECIDED, Filter, asked
from neardup.web.review.list_pages import Data, Lists, pair_row, progress
from neardup.web.review.pair_page import PairPage
from neardup.web.review.passage_pages import passage_parts, trace_parts
from neardup.web.review.review_source import Source, open_source
from neardup.web.review.review_state import BINS, State, histogram
from neardup.wording import many, shortened

WEAKEST = 5
CONTEXT = f"which={DECIDED}&sort=weakest"

# What another part says on the front page: title, text, href, link (what is written on it), and
# ``main`` for the one thing to do first. None where it has nothing to say.
Card = Callable[[], Data | None]


class Front:
    def __init__(self, state: State, cards: Sequence[Card]) -> None:
        self._state = state
        self._cards = cards

    def doors(self) -> Sequence[Door]:
        return [
            Door("/", self.front, template="review/front.html"),
            Door("/export", self.export),
        ]

    def export(self, form: str = "csv") -> Response:
        """The documents as a file to download, with what was put first by hand."""
        result = self._state.source.result
        if result is None or form not in ENDINGS:
            raise not_found(f"There is no export as {form!r}.", hint=", ".join(ENDINGS))
        first = self._state.now.changes.first
        with TemporaryDirectory(prefix="neardup-export-") as folder:
            made = put_first(result, first) if first else result
            path = made.export(Path(folder) / f"export{ENDINGS[form]}")
            data = path.read_bytes()
        named = {"Content-Disposition": f'attachment; filename="{path.name}"'}
        return Response(data, media_type="application/octet-stream", headers=named)

    def front(self) -> Data:
        state, facts = self._state, self._state.facts()
        tables = facts.tables
        weakest = state.page("pairs", Filter(which=DECIDED), "weakest", 1).entries[:WEAKEST]
        said = [int((tables.decision == code).sum()) for code in (KEPT, DUPLICATE, REJECTED)]
        return {
            "about": asdict(state.source.about),
            "counts": dict(zip(("kept", "duplicates", "rejected"), said, strict=True))
            | {
                "documents": len(tables.decisions),
                "clusters": len(tables.members),
                "pairs": len(tables.pairs),
                "changes": len(state.now.changes.counting),
                "labelled": len(facts.states),
            },
            "becomes": tables.becomes_counts,
            "policy": state.source.policy is not None,
            "changeable": state.source.log is not None,
            "exports": list(ENDINGS) if state.source.result else [],
            "cards": [card for make in self._cards if (card := make())],
            "weakest": [pair_row(facts, number, CONTEXT) for number in weakest],
            "reading": progress(state),
        }


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

    def doors(self) -> Sequence[Door]:
        pages = (Lists, PairPage, Details, Thresholds, Changing)
        front = Front(self.state, self._cards).doors()
        return [*front, *(door for page in pages for door in page(self.state).doors())]

    def open(self) -> None:
        self.state.open()

    def close(self) -> None:
        self.state.close()


MOST_FALLEN = 20  # pairs that would be no duplicates any more


class Thresholds:
    def __init__(self, state: State) -> None:
        self._state = state

    def doors(self) -> Sequence[Door]:
        return [
            Door("/threshold", self.threshold, template="review/threshold.html"),
        ]

    def threshold(self, at: Annotated[float | None, Query(ge=0, le=1)] = None) -> Data:
        cuts, about = self._state.cuts, self._state.source.about
        result = self._state.source.result
        scores = self._state.tables.pair_score
        bins = histogram(scores[~np.isnan(scores)])
        lowest = about.threshold or 0.0
        chosen = max(at if at is not None else lowest, 0.0)
        exact = None if cuts.partial else cuts.at(chosen)
        return {
            "method": about.method,
            "lowest": lowest,
            "at": chosen,
            "partial": cuts.partial,
            "exact": asdict(exact) if exact else None,
            "run": asdict(result.counts) if result else None,
            "below": int((scores < lowest).sum()),
            "cuts": cuts.data(),
            "done": cuts.done,
            "bins": bins,
            "bars": bars(bins),
            "figure": score_bars(bins, chosen),
            "tallest": max(bins, default=0),
            "fallen": self._fallen(chosen) if exact else [],
            "consistency": consistency(result.info) if result else [],
        }

    def _fallen(self, threshold: float) -> list[Data]:
        """Pairs of the run as it was made; who was put first by hand changes none of them."""
        facts = self._state.facts()
        numbers = self._state.cuts.fallen(threshold)[:MOST_FALLEN].tolist()
        return [pair_row(facts, number) for number in numbers]


def consistency(info: Data) -> list[Data]:
    """How consistent the groups were at each threshold, where that chose the threshold."""
    curve = info.get("artefacts", {}).get("calibration", {}).get("curve")
    if not curve:
        return []
    names = ("threshold", "consistency", "linked")
    columns = (curve[name] for name in ("thresholds", "consistency", "linked"))
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def bars(bins: list[int]) -> list[Data]:
    """The numbers of the figure."""
    return [{"count": n, "low": i / BINS, "high": (i + 1) / BINS} for i, n in enumerate(bins)]


MOST_NAMED = 10  # documents of a change
MOST = 100_000  # documents or clusters that one request may name

Ids = Annotated[list[Annotated[str, Field(max_length=100_000)]], Field(max_length=MOST)]


class First(BaseModel):
    id: str


class Act(BaseModel):
    """What is named: documents, clusters by one of their documents (meant are the set-aside ones in
    them), or all that a list shows."""

    action: str
    ids: Ids = []
    clusters: Ids = []
    what: Literal["documents", "clusters", ""] = ""
    asked: dict[str, Any] = {}


class Undo(BaseModel):
    number: int | None = None


class Changing:
    def __init__(self, state: State) -> None:
        self._state = state

    def doors(self) -> Sequence[Door]:
        if self._state.source.log is None:
            return []
        return [
            Door("/changes", self.changes, template="review/changes.html"),
            Door("/changes/first", self.first, "POST"),
            Door("/changes/act", self.act, "POST"),
            Door("/changes/undo", self.undo, "POST"),
        ]

    def changes(self) -> Data:
        made = self._state.current().changes
        policy = self._state.source.policy
        return {
            "changes": [_data(change) for change in reversed(made.made)],
            "counting": len(made.counting),
            "path": str(self._state.log.path),
            "policy": policy.describe() if policy else None,
            "command": self._state.source.about.command,
            "counts": self._state.tables.becomes_counts,
        }

    def first(self, asked: First) -> Data:
        change = self._state.put_first(asked.id)
        row = self._state.tables.row_of(asked.id)
        cluster = int(self._state.tables.cluster[row])
        return {
            "change": _data(change),
            "said": "It is kept now.",
            "cluster": cluster if cluster >= 0 else None,
        }

    def act(self, asked: Act) -> Data:
        made = self._state.act(self._named(asked), asked.action)
        said = f"{many(len(made.change.ids), 'document')}: {asked.action}."
        if made.skipped:
            said += f" {made.skipped:,} kept or unknown left as they are."
        return {"change": _data(made.change), "skipped": made.skipped, "said": said}

    def undo(self, asked: Undo) -> Data:
        taken = self._state.undo(asked.number)
        return {"change": _data(taken), "said": f"Change {taken.number} is taken back."}

    def _named(self, given: Act) -> list[str]:
        tables = self._state.tables
        rows: list[int] = []
        clusters = self._clusters_with(given.clusters)
        if given.what == "documents":
            rows += self._state.order("documents", _filter(given.asked), "order").tolist()
        elif given.what == "clusters":
            clusters = self._state.order("clusters", _filter(given.asked), "order").tolist()
        for number in clusters:
            members = tables.members[number]
            rows += members[tables.aside[members]].tolist()
        found = tables.decisions["id"].take(rows).to_pylist() if rows else []
        return list(dict.fromkeys([*given.ids, *(id for id in found if id is not None)]))

    def _clusters_with(self, ids: list[str]) -> list[int]:
        """The clusters of these documents. The numbers that a page was made with may be those of
        other clusters by now."""
        tables = self._state.tables
        rows = tables.rows_of(pa.array(ids, pa.large_string()))
        found: list[int] = np.append(tables.cluster, -1)[rows].tolist()
        if found and min(found) < 0:
            raise UsageError(
                f"There is no cluster with a document {shortened(ids[found.index(-1)])!r}.",
                hint="look at the list again.",
            )
        return found


def _filter(given: dict[str, Any]) -> Filter:
    known = {name: "" if value is None else str(value) for name, value in given.items()}
    try:
        return asked(**known)
    except TypeError:
        raise UsageError(
            f"There is no filter {', '.join(known)}.", hint="send what the list was asked for."
        ) from None


def _data(change: Change) -> Data:
    return {
        "number": change.number,
        "action": change.action,
        "ids": list(change.ids[:MOST_NAMED]),
        "count": len(change.ids),
        "at": change.at,
        "undone": change.undone,
    }


def review_parts(
    target: str,
    others: Sequence[Path] = (),
    lists: str | None = None,
    guideline: str | None = None,
) -> list[Part]:
    """The parts of the review of a run's folder or an index's address; the first part has the front
    page. ``others`` are runs that are judged together with it, ``lists`` a file of result lists,
    ``guideline`` the name of a definition that assessors see."""
    if is_passage_run(Path(target)):
        return passage_parts(Path(target))
    source = open_source(target)
    if source.judging is None:
        return [Review(source), *trace_parts(target), *_flow(target)]
    place = Path(target.removeprefix("sqlite:"))
    judging, evaluating = judging_parts(place, others=others, lists=lists, guideline=guideline)
    pages = [Review(source, [judging.card]), judging, evaluating]
    return [*pages, *trace_parts(target), *_flow(target)]


def _flow(target: str) -> list[Part]:
    """A run is over; into an index more may come."""
    return [] if Path(target).is_dir() else [FlowPart(target)]
