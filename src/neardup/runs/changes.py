"""Changes that a person made after a run: different representatives, or different actions for
copies.

``RUN/review/changes.jsonl`` only grows; nothing of the run is rewritten. A row is one change:
documents that must come *first* (each is then kept, and the rule decides the rest again), or
set-aside documents and the *action* that replaces that of the policy. A later row can withdraw a
change. The first row has the digest of the decisions, so the file counts only for the run that it
was made for.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from neardup.decisions.policy import ACTIONS
from neardup.errors import DataError, InputError, UsageError
from neardup.files import Row, adding, read_rows
from neardup.runs.checksums import file_digest

FILE = Path("review") / "changes.jsonl"
DECISIONS = "decisions.parquet"


@dataclass(frozen=True)
class Change:
    """``action`` None: the documents come first. ``undone``: the change was withdrawn."""

    number: int
    ids: tuple[str, ...]
    action: str | None
    at: str
    undone: bool = False

    def row(self) -> Row:
        what: Row = {"first": self.ids} if self.action is None else {"action": self.action}
        more = {} if self.action is None else {"ids": self.ids}
        return {"change": self.number, **what, **more, "at": self.at}


@dataclass(frozen=True)
class Changes:
    """All changes ever made, in order, including withdrawn ones, which have no effect."""

    made: tuple[Change, ...] = ()

    @property
    def counting(self) -> list[Change]:
        return [change for change in self.made if not change.undone]

    @functools.cached_property
    def first(self) -> tuple[str, ...]:
        """The documents that come before all others; the latest change comes first."""
        latest = [change for change in reversed(self.counting) if change.action is None]
        return tuple(dict.fromkeys(id for change in latest for id in change.ids))

    @functools.cached_property
    def actions(self) -> Mapping[str, str]:
        """The latest action of each document, by id."""
        return {id: change.action for change in self.counting if change.action for id in change.ids}

    def __bool__(self) -> bool:
        return bool(self.first or self.actions)


NO_CHANGES = Changes()


class ChangeLog:
    """The changes of one run folder."""

    def __init__(self, run: Path) -> None:
        self.path = run / FILE
        self._decisions = run / DECISIONS

    @property
    def stamp(self) -> tuple[int, int]:
        """A value that differs once somebody has written to the file."""
        try:
            status = self.path.stat()
        except OSError:
            return 0, 0
        return status.st_mtime_ns, status.st_size

    def read(self) -> Changes:
        return self._changes(read_rows(self.path))

    def add(self, ids: Sequence[str], action: str | None) -> Change:
        """Add a change, which is on the disk when this returns."""
        if not ids:
            raise UsageError("No document was named.", hint="choose at least one.")
        if action is not None and action not in ACTIONS:
            raise UsageError(
                f"There is no action {action!r}.", hint=f"actions are {', '.join(ACTIONS)}."
            )
        with adding(self.path) as file:
            rows = file.rows()
            number = len(self._changes(rows).made) + 1
            change = Change(number, tuple(dict.fromkeys(ids)), action, _now())
            file.add([*([] if rows else [{"of": self._digest}]), change.row()])
        return change

    def undo(self, number: int | None = None) -> Change:
        """Withdraw a change, by default the last one in effect."""
        with adding(self.path) as file:
            counting = {change.number: change for change in self._changes(file.rows()).counting}
            if not counting or (number is not None and number not in counting):
                which = "No change" if number is None else f"Change {number} does not count, so it"
                raise DataError(
                    f"{which} can be taken back.", hint="the list of changes says which count."
                )
            withdrawn = counting[max(counting) if number is None else number]
            file.add([{"undo": withdrawn.number, "at": _now()}])
        return withdrawn

    @functools.cached_property
    def _digest(self) -> str:
        return file_digest(self._decisions)

    def _changes(self, rows: Sequence[Row]) -> Changes:
        if not rows:
            return NO_CHANGES
        if rows[0].get("of") != self._digest:
            raise InputError(
                f"The changes in {self.path} were made for another run than the one that lies "
                "beside them now.",
                hint="move that file away, or make the earlier run again.",
            )
        changes: dict[int, Change] = {}
        for line, row in enumerate(rows[1:], 2):
            try:
                _take(changes, row)
            except (KeyError, TypeError, ValueError) as error:
                raise InputError(
                    f"{self.path}, line {line} is no change: {error!r}.",
                    hint="restore the file from a copy.",
                ) from error
        return Changes(tuple(changes.values()))


def read_changes(run: Path) -> Changes:
    return ChangeLog(run).read()


def _take(changes: dict[int, Change], row: Row) -> None:
    if "undo" in row:
        before = changes[row["undo"]]
        changes[before.number] = Change(before.number, before.ids, before.action, before.at, True)
        return
    number, action = row["change"], row.get("action")
    if number != len(changes) + 1:
        raise ValueError(f"expected change {len(changes) + 1}, got {number}")
    if action is not None and action not in ACTIONS:
        raise ValueError(f"no action {action!r}")
    ids = row["first"] if action is None else row["ids"]
    changes[number] = Change(number, _strings(ids), action, str(row["at"]))


def _strings(ids: Any) -> tuple[str, ...]:
    if not isinstance(ids, list) or not all(isinstance(id, str) for id in ids):
        raise ValueError("expected a list of ids")
    return tuple(ids)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
