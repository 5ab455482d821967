"""Where items go: originals forwarded, duplicates and unreadable ones set aside with a note.

A move is one rename, so an item is in one place and comes there once, whoever takes it away again.
To another file system it is a copy under a hidden name, then a mark at the staged file that the
copy is whole, then the rename. A command is run before its item is moved; it may be run twice for
an item, if the flow is killed before its success is marked.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from neardup.errors import DataError
from neardup.online.flow import durable
from neardup.online.flow.work import TOLD, Batch, Entry
from neardup.online.rule import Match

ORIGINAL, DUPLICATE, UNREADABLE = "original", "duplicate", "unreadable"
NOTE = ".why.json"
_SAID = 300  # characters of what a command says when it fails


@dataclass(frozen=True)
class Outcome:
    """What an item is; for duplicates the match, for unreadable ones the reason."""

    what: str
    match: Match | None = None
    reason: str | None = None

    def note(self) -> dict[str, Any]:
        match = self.match._asdict() if self.match else {"reason": self.reason}
        return {name: value for name, value in match.items() if value is not None}


@dataclass(frozen=True)
class Places:
    """``forward`` and ``command`` are for originals: either, or first the command, then the
    folder. Without a folder, what a command has taken is removed."""

    forward: Path | None
    aside: Path
    unreadable: Path
    command: Sequence[str] = ()

    @property
    def folders(self) -> dict[str, Path]:
        aside = {DUPLICATE: self.aside, UNREADABLE: self.unreadable}
        return aside if self.forward is None else {ORIGINAL: self.forward, **aside}

    def carried(self, batch: Batch, entry: Entry) -> str | None:
        """Where a copy of the item is whole, but has not got its name yet."""
        marks = (what for what in self.folders if batch.staged(entry, f".{what}").exists())
        return next(marks, None)

    def tell(self, batch: Batch, entry: Entry, document: dict[str, Any]) -> bool:
        """Runs the command on an original, unless that is marked as done; whether it did."""
        staged = batch.staged(entry)
        if not self.command or not staged.exists():
            return False
        _run(self.command, {"name": entry.name, **document})
        staged.rename(batch.staged(entry, TOLD))
        return True

    def write_notes(self, decided: Iterable[tuple[Entry, Outcome]], now: float) -> None:
        """Of all that are set aside, before they are: a note without its item says too much, an
        item without its note too little."""
        notes: dict[Path, bytes] = {}
        for entry, outcome in decided:
            if outcome.what != ORIGINAL:
                target = self._target(entry, outcome.what, notes)
                target.parent.mkdir(parents=True, exist_ok=True)
                notes[_note_of(target)] = durable.as_json(_note(entry, outcome, now))
        durable.write_all(notes)

    def _target(self, entry: Entry, what: str, notes: Container[Path] = ()) -> Path:
        """Free, and without the note of another item; ``notes`` are about to be written."""
        return durable.free(
            self.folders[what] / entry.name,
            lambda target: _note_of(target) in notes or _is_of_another(_note_of(target), entry),
        )

    def put(self, batch: Batch, entry: Entry, outcome: Outcome, now: float) -> Path | None:
        """Moves the item to its place, and says where it is now."""
        told = batch.staged(entry, TOLD)
        staged = told if told.exists() else batch.staged(entry)
        folder = self.folders.get(outcome.what)
        if folder is None:
            staged.unlink()
            return None
        target = self._target(entry, outcome.what)
        target.parent.mkdir(parents=True, exist_ok=True)
        if outcome.what != ORIGINAL and not _note_of(target).exists():
            self.write_notes([(entry, outcome)], now)
        try:
            os.rename(staged, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            durable.copy(staged, self._part(batch, entry, outcome.what))
            staged.rename(batch.staged(entry, f".{outcome.what}"))
            return self.complete(batch, entry, outcome.what)
        return target

    def complete(self, batch: Batch, entry: Entry, what: str) -> Path:
        """Gives a copy that is whole its name; without a copy it has got it already."""
        part, target = self._part(batch, entry, what), self.folders[what] / entry.name
        if part.exists():
            target = self._target(entry, what)
            part.rename(target)
        batch.staged(entry, f".{what}").unlink()
        return target

    def _part(self, batch: Batch, entry: Entry, what: str) -> Path:
        """Its own, whoever else writes into that folder."""
        ours = hashlib.sha256(os.fsencode(batch.folder.resolve())).hexdigest()[:12]
        return self.folders[what] / f".{ours}-{entry.file}.part"


def _note(entry: Entry, outcome: Outcome, now: float) -> dict[str, Any]:
    when = datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds")
    return {"what": outcome.what, "id": entry.id, **outcome.note(), "time": when}


def _note_of(target: Path) -> Path:
    return target.with_name(target.name + NOTE)


def _is_of_another(note: Path, entry: Entry) -> bool:
    """One of our own is there after a kill."""
    try:
        found = json.loads(note.read_bytes())
    except FileNotFoundError:
        return False
    except ValueError:
        return True
    return not isinstance(found, dict) or found.get("id") != entry.id


def _run(command: Sequence[str], document: dict[str, Any]) -> None:
    data = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    done = subprocess.run(
        command,
        input=data,
        stdout=subprocess.DEVNULL,  # ours is for events
        stderr=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is meant for us, who finish the item at hand
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()[-_SAID:]
        raise DataError(
            f"The command {command[0]} failed on {document['name']} with code {done.returncode}"
            f"{': ' + said if said else ''}.",
            hint="the item is kept and the command tried again.",
        )
