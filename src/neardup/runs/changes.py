"""What a person changed after a run: other representatives, other actions for some copies.

``RUN/review/changes.jsonl`` only grows; nothing of the run is rewritten. A change is one row: the
documents that are to come *first* (each is then kept, and the rule decides anew who is set aside
for whom), or set-aside documents and the *action* that is taken with them whatever the policy says.
Another row takes a change back. The file belongs to one run: its first row has the digest of the
run's decisions, and it does not count for any other.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from neardup.decisions.policy import ACTIONS
from neardup.errors import DataError, InputError, UsageError
from neardup.files import Row, adding, read_rows

FILE = Path("review") / "changes.jsonl"
DECISIONS = "decisions.parquet"


@dataclass(frozen=True)
class Change:
    """``action`` None: the documents come first. ``undone``: it was taken back."""

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
    """All that were ever made, in order; those that were taken back count for nothing."""

    made: tuple[Change, ...] = ()

    @property
    def counting(self) -> list[Change]:
        return [change for change in self.made if not change.undone]

    @functools.cached_property
    def first(self) -> tuple[str, ...]:
        """Who comes before all others: what was said last stands first."""
        chosen = [id for one in reversed(self.counting) if one.action is None for id in one.ids]
        return tuple(dict.fromkeys(chosen))

    @functools.cached_property
    def actions(self) -> Mapping[str, str]:
        """By id, what was said last."""
        return {id: one.action for one in self.counting if one.action for id in one.ids}

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
        """Another one where somebody has written since."""
        try:
            found = self.path.stat()
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_size

    def read(self) -> Changes:
        return self._changes(read_rows(self.path))

    def add(self, ids: Sequence[str], action: str | None) -> Change:
        """On the disk when it returns."""
        if not ids:
            raise UsageError("No document was named.", hint="choose at least one.")
        if action is not None and action not in ACTIONS:
            raise UsageError(
                f"There is no action {action!r}.", hint=f"actions are {', '.join(ACTIONS)}."
            )
        with adding(self.path) as file:
            rows = file.rows()
            number = len(self._changes(rows).made) + 1
            made = Change(number, tuple(dict.fromkeys(ids)), action, _now())
            file.add([*([] if rows else [{"of": self._digest}]), made.row()])
        return made

    def undo(self, number: int | None = None) -> Change:
        """Takes a change back, the last one that counts if none is named."""
        with adding(self.path) as file:
            counting = {one.number: one for one in self._changes(file.rows()).counting}
            if not counting or (number is not None and number not in counting):
                which = "No change" if number is None else f"Change {number} does not count, so it"
                raise DataError(
                    f"{which} can be taken back.", hint="the list of changes says which count."
                )
            taken = counting[max(counting) if number is None else number]
            file.add([{"undo": taken.number, "at": _now()}])
        return taken

    @functools.cached_property
    def _digest(self) -> str:
        with self._decisions.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _changes(self, rows: Sequence[Row]) -> Changes:
        if not rows:
            return NO_CHANGES
        if rows[0].get("of") != self._digest:
            raise InputError(
                f"The changes in {self.path} were made for another run than the one that lies "
                "beside them now.",
                hint="move that file away, or make the earlier run again.",
            )
        made: dict[int, Change] = {}
        for line, row in enumerate(rows[1:], 2):
            try:
                _take(made, row)
            except (KeyError, TypeError, ValueError) as error:
                raise InputError(
                    f"{self.path}, line {line} is no change: {error!r}.",
                    hint="restore the file from a copy.",
                ) from error
        return Changes(tuple(made.values()))


def read_changes(run: Path) -> Changes:
    return ChangeLog(run).read()


def _take(made: dict[int, Change], row: Row) -> None:
    if "undo" in row:
        before = made[row["undo"]]
        made[before.number] = Change(before.number, before.ids, before.action, before.at, True)
        return
    number, action = row["change"], row.get("action")
    if number != len(made) + 1:
        raise ValueError(f"expected change {len(made) + 1}, got {number}")
    if action is not None and action not in ACTIONS:
        raise ValueError(f"no action {action!r}")
    ids = row["first"] if action is None else row["ids"]
    made[number] = Change(number, _strings(ids), action, str(row["at"]))


def _strings(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise ValueError("expected a list of ids")
    return tuple(given)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
