"""Changes by hand: who is kept, what is done with copies, and taking it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, Field

from neardup.errors import UsageError
from neardup.runs.changes import Change
from neardup.web.doors import Door
from neardup.web.review.filters import Filter, asked
from neardup.web.review.review_rows import Data
from neardup.web.review.review_state import State
from neardup.wording import many, shortened

SHOWN = 10  # documents of a change
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
        """By documents: numbers that a page was made with may be those of others by now."""
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
        "ids": list(change.ids[:SHOWN]),
        "count": len(change.ids),
        "at": change.at,
        "undone": change.undone,
    }
