"""The places of items: originals are forwarded, duplicates and unreadable items are set aside with
a note.

A move is one rename, so an item is in exactly one place and arrives there once, even if somebody
takes it away at once. Across file systems, the item is copied under a hidden name, the staged file
is marked to show that the copy is complete, and then the copy is renamed. A command runs before its
item is moved; if the flow is killed before its success is marked, the command runs again.

``Totals`` counts what a flow has done, as data and as a status line.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from neardup import files
from neardup.engines.index.arrival_rule import Match
from neardup.engines.index.flow.workplace import COMMAND_DONE, Batch, Entry
from neardup.errors import DataError

ORIGINAL, DUPLICATE, UNREADABLE = "original", "duplicate", "unreadable"
NOTE = ".why.json"
_SHOWN = 300  # characters of the error output of a failed command


@dataclass(frozen=True)
class Outcome:
    """The decision on an item, with the match of a duplicate or why the item is unreadable."""

    what: str
    match: Match | None = None
    reason: str | None = None
    about: Mapping[str, str] = field(default_factory=dict)  # title, source and url of the item
    other: Mapping[str, str] = field(default_factory=dict)  # the same of the match, and its path

    def note(self) -> dict[str, Any]:
        match = self.match._asdict() if self.match else {"reason": self.reason}
        named = {**self.about, **match, **{f"of_{name}": v for name, v in self.other.items()}}
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True)
class Places:
    """``forward`` and ``command`` are for originals: either of them, or first the command and then
    the folder. Without a folder, an item is deleted once its command has succeeded."""

    forward: Path | None
    aside: Path
    unreadable: Path
    command: Sequence[str] = ()
    _changed: set[Path] = field(default_factory=set, init=False, compare=False)

    @property
    def folders(self) -> dict[str, Path]:
        aside = {DUPLICATE: self.aside, UNREADABLE: self.unreadable}
        return aside if self.forward is None else {ORIGINAL: self.forward, **aside}

    def path_of(self, entry: Entry) -> str:
        """Where an original is to be found, unless its name is taken there."""
        return str(self.forward / entry.name) if self.forward else entry.name

    def carried(self, batch: Batch, entry: Entry) -> str | None:
        """The place that has a complete copy of the item which is not renamed yet."""
        marks = (what for what in self.folders if batch.staged(entry, f".{what}").exists())
        return next(marks, None)

    def run_command(self, batch: Batch, entry: Entry, document: dict[str, Any]) -> bool:
        """Run the command on an original unless it is marked as done; whether it ran."""
        staged = batch.staged(entry)
        if not self.command or not staged.exists():
            return False
        _run(self.command, {"name": entry.name, **document})
        staged.rename(batch.staged(entry, COMMAND_DONE))
        return True

    def write_notes(self, decided: Iterable[tuple[Entry, Outcome]], now: float) -> None:
        """Write the notes of all items that are set aside. Notes come before their items: an item
        without a note could not be explained, while a note without an item is harmless."""
        notes: dict[Path, bytes] = {}
        for entry, outcome in decided:
            if outcome.what != ORIGINAL:
                target = self._target(entry, outcome.what, notes)
                self._make(target.parent)
                notes[_note_of(target)] = files.as_json(_note(entry, outcome, now))
        files.write_all(notes)

    def _target(self, entry: Entry, what: str, notes: Container[Path] = ()) -> Path:
        """A free path without the note of a different item; ``notes`` are about to be written."""
        return files.free(
            self.folders[what] / entry.name,
            lambda target: _note_of(target) in notes or _is_of_another(_note_of(target), entry),
        )

    def put(self, batch: Batch, entry: Entry, outcome: Outcome, now: float) -> Path | None:
        """Move the item to its place and return its new path."""
        staged = batch.current(entry)
        folder = self.folders.get(outcome.what)
        if folder is None:
            staged.unlink()
            return None
        target = self._target(entry, outcome.what)
        self._make(target.parent)
        if outcome.what != ORIGINAL and not _note_of(target).exists():
            self.write_notes([(entry, outcome)], now)
        try:
            os.rename(staged, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            files.copy(staged, self._part(batch, entry, outcome.what))
            staged.rename(batch.staged(entry, f".{outcome.what}"))
            return self.complete(batch, entry, outcome.what)
        return target

    def _make(self, folder: Path) -> None:
        files.make_folder(folder)
        self._changed.add(folder)

    def sync(self) -> None:
        """Sync the folders that got items since the last time, before their batch is dropped."""
        files.sync(folder for folder in self._changed if folder.is_dir())
        self._changed.clear()

    def complete(self, batch: Batch, entry: Entry, what: str) -> Path:
        """Rename a complete copy; if there is no copy, it was renamed before."""
        part, target = self._part(batch, entry, what), self.folders[what] / entry.name
        if part.exists():
            target = self._target(entry, what)
            part.rename(target)
            self._changed.add(target.parent)
        batch.staged(entry, f".{what}").unlink()
        return target

    def _part(self, batch: Batch, entry: Entry, what: str) -> Path:
        """The name of the copy in progress, which no other flow uses for the same folder."""
        flow = hashlib.sha256(os.fsencode(batch.folder.resolve())).hexdigest()[:12]
        return self.folders[what] / f".{flow}-{entry.file}.part"


def _note(entry: Entry, outcome: Outcome, now: float) -> dict[str, Any]:
    when = datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds")
    return {"what": outcome.what, "id": entry.id, **outcome.note(), "time": when}


def _note_of(target: Path) -> Path:
    return target.with_name(target.name + NOTE)


def _is_of_another(note: Path, entry: Entry) -> bool:
    """Whether the note belongs to a different item. After a kill it may be the item's own."""
    try:
        written = json.loads(note.read_bytes())
    except FileNotFoundError:
        return False
    except ValueError:
        return True
    return not isinstance(written, dict) or written.get("id") != entry.id


def _run(command: Sequence[str], document: dict[str, Any]) -> None:
    data = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    done = subprocess.run(
        command,
        input=data,
        stdout=subprocess.DEVNULL,  # our stdout is for events
        stderr=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C must reach only the flow, which finishes the current item
        check=False,
    )
    if done.returncode:
        output = done.stderr.decode("utf-8", "replace").strip()[-_SHOWN:]
        raise DataError(
            f"The command {command[0]} failed on {document['name']} with code {done.returncode}"
            f"{': ' + output if output else ''}.",
            hint="the item is kept and the command tried again.",
        )


@dataclass
class Totals:
    """``lag`` is the time of the last item from its arrival to its place; ``waiting`` counts items
    that could not be moved yet; ``told`` counts runs of the command."""

    began: float
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys((ORIGINAL, DUPLICATE, UNREADABLE), 0)
    )
    waiting: int = 0
    lag: float = 0.0
    checked: int = 0
    check_seconds: float = 0.0
    told: int = 0
    told_seconds: float = 0.0

    def count(self, what: str, lag: float) -> None:
        self.counts[what] += 1
        self.lag = max(lag, 0.0)

    @property
    def items(self) -> int:
        return sum(self.counts.values())

    @property
    def share(self) -> float:
        """The share of duplicates among readable items."""
        read = self.counts[ORIGINAL] + self.counts[DUPLICATE]
        return self.counts[DUPLICATE] / read if read else 0.0

    @property
    def pays_from(self) -> float | None:
        """Checking pays if processing an item costs more seconds than this (Montanari & Puglisi,
        §5: share of duplicates × cost of processing > cost of checking)."""
        if not self.checked or not self.share:
            return None
        return self.check_seconds / self.checked / self.share

    @property
    def pays(self) -> bool | None:
        """Whether checking pays; known if a command does the processing."""
        if not self.told or self.pays_from is None:
            return None
        return self.told_seconds / self.told > self.pays_from

    def data(self, now: float) -> dict[str, Any]:
        figures = {name: value for name, value in asdict(self).items() if name not in _INNER}
        seconds = max(now - self.began, 0.0)
        counts = {"items": self.items, **self.counts, **figures, "seconds": seconds}
        return counts | {"pays_from_seconds": self.pays_from, "pays": self.pays}

    def line(self, now: float) -> str:
        """The live status."""
        rate = self.items / max(now - self.began, 1e-9)
        parts = [
            f"{_counted(self.items, 'item')}, {rate:,.1f}/s",
            *self._counted(),
            f"lag {_span(self.lag)}",
        ]
        return ", ".join([*parts, *self._payment()])

    def _counted(self) -> list[str]:
        counts = [_counted(self.counts[what], what) for what in (ORIGINAL, DUPLICATE)]
        counts.append(f"{self.counts[UNREADABLE]:,} unreadable")
        return [*counts, f"{self.waiting:,} waiting"] if self.waiting else counts

    def _payment(self) -> list[str]:
        if self.pays_from is None:
            return []
        if self.pays is None:
            return [f"checking pays if processing an item takes over {_span(self.pays_from)}"]
        verb = "pays" if self.pays else "does not pay"
        cost = _span(self.told_seconds / self.told)
        return [f"checking {verb}: processing takes {cost}, break-even {_span(self.pays_from)}"]

    def sentence(self) -> str:
        return f"{_counted(self.items, 'item')}: {', '.join(self._counted())}"


_INNER = ("began", "counts", "check_seconds", "told_seconds")


def _counted(number: int, name: str) -> str:
    return f"{number:,} {name}{'' if number == 1 else 's'}"


def _span(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 120 else f"{seconds / 60:,.0f} min"
