"""Drives a flow from its source through an index to its places.

Each step first finishes what this process or an earlier one has claimed, and then claims new
arrivals. A failure on the way (a full disk, a missing folder, a failing command) is reported as a
sentence and tried again, with growing pauses up to a minute; no item is lost meanwhile.

Staged items are first looked up in the index and then added to it. If the index has the id under
which an item was claimed, the item was added before a crash, and the stored decision counts. A
batch is added in one transaction, or item by item if the index rejects one of its items.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from neardup.documents.extraction.extractor import Extractor
from neardup.engines.index.arrival_rule import Match
from neardup.engines.index.flow.items import (
    PROBLEM,
    WHOLE,
    Event,
    Fields,
    Item,
    Naming,
    ending,
    is_whole,
    items,
    sentence,
    whole_problem,
)
from neardup.engines.index.flow.places import (
    DUPLICATE,
    ORIGINAL,
    UNREADABLE,
    Outcome,
    Places,
    Totals,
)
from neardup.engines.index.flow.watched_folder import Opened, Opener, Staged, WholeFile
from neardup.engines.index.flow.workplace import (
    COMMAND_DONE,
    Batch,
    Entry,
    Originals,
    Piece,
    Taken,
    Work,
    entry_of,
)
from neardup.engines.index.index import Index
from neardup.errors import NeardupError, RejectedError
from neardup.progress import LOG
from neardup.schema import DUPLICATE as SET_ASIDE

SAME_ID = "same id"


class Decided(NamedTuple):
    entry: Entry
    outcome: Outcome
    document: dict[str, Any]


def decided(batch: Batch, index: Index, opener: Opener) -> Iterator[Decided]:
    """Decisions on all items that are still staged, in the order of the batch."""
    fields, opened = opener.fields, _read(batch, opener)
    readable = [(entry, document) for entry, (document, _, problem) in opened if not problem]
    known = {entry.id for entry, _ in readable if entry.id in index}
    new = [document for entry, document in readable if entry.id not in known]
    ids = (document[fields.id] for document in new)
    outcomes = dict(zip(ids, _added(index, new, fields), strict=True))
    for entry, (document, _, problem) in opened:
        if problem:
            outcome = Outcome(UNREADABLE, reason=problem)
        elif batch.staged(entry, COMMAND_DONE).exists():
            outcome = Outcome(ORIGINAL)
        else:
            outcome = outcomes.get(entry.id) or _remembered(index, entry)
        yield Decided(entry, outcome, document)


def _remaining(batch: Batch) -> list[Entry]:
    states = ("", COMMAND_DONE)
    return [
        entry for entry in batch.entries if any(batch.staged(entry, s).exists() for s in states)
    ]


def _read(batch: Batch, opener: Opener) -> list[tuple[Entry, Opened]]:
    """The document of each remaining item, or the problem with it."""
    read = [(entry, _staged(batch, entry)) for entry in _remaining(batch)]
    opened = iter(opener.documents([staged for _, staged in read if isinstance(staged, Staged)]))
    return [
        (entry, next(opened) if isinstance(staged, Staged) else staged) for entry, staged in read
    ]


def _staged(batch: Batch, entry: Entry) -> Staged | Opened:
    if entry.problem is not None:
        return Opened({}, problem=entry.problem)
    path = batch.current(entry)
    try:
        folder = entry.name.rpartition("/")[0]
        return Staged(path.read_bytes(), entry.form, entry.id, folder)
    except PermissionError:
        return Opened({}, problem="there is no permission to read it")


def _added(index: Index, new: Sequence[dict[str, Any]], fields: Fields) -> list[Outcome]:
    try:
        return [_outcome(match) for match in index.add_many(new)] if new else []
    except RejectedError:
        return [_added_alone(index, document, fields) for document in new]


def _added_alone(index: Index, document: dict[str, Any], fields: Fields) -> Outcome:
    try:
        return _outcome(index.add(document))
    except RejectedError as error:
        id_ = document[fields.id]
        if id_ in index:  # another process has added it meanwhile
            return Outcome(DUPLICATE, Match(id_, 1.0, SAME_ID))
        return Outcome(UNREADABLE, reason=error.message)


def _outcome(match: Match | None) -> Outcome:
    return Outcome(ORIGINAL) if match is None else Outcome(DUPLICATE, match)


def _remembered(index: Index, entry: Entry) -> Outcome:
    record = index.get(entry.id)
    if record.decision != SET_ASIDE:
        return Outcome(ORIGINAL)
    kept, score = record.kept_id or "", record.score or 0.0
    return Outcome(DUPLICATE, Match(kept, score, record.reason, record.kind, record.by))


BATCH_ITEMS, BATCH_BYTES = 64, 16 << 20
MOST_WAITING = 1000  # with more, nothing is claimed: items are just as safe in the source
LONGEST_PAUSE = 60.0


class Source(Protocol):
    ended: bool

    @property
    def pending(self) -> int:
        """The number of arrivals that may be complete at the next look."""

    def look(self) -> Sequence[WholeFile | Item]: ...

    def settle(self) -> None:
        """Called when all items of the last look are staged."""


@dataclass
class Flow:
    """``clock`` gives seconds since 1970; ``tell`` is called with every event."""

    source: Source
    index: Index
    work: Work
    places: Places
    poll: float = 1.0
    clock: Callable[[], float] = time.time
    extractor: Extractor = field(default_factory=Extractor)
    tell: Callable[[Event], None] = lambda _: None
    stopped: bool = False  # set it to stop after the current batch
    totals: Totals = field(init=False)
    _held: deque[WholeFile | Item] = field(default_factory=deque)  # seen, not claimed yet
    _waiting: dict[Path, int] = field(default_factory=dict)  # batch → number of failed items
    _failures: int = 0
    _not_before: float = 0.0
    _last_problem: str = ""

    def __post_init__(self) -> None:
        self.totals = Totals(self.clock())
        self._fields = Fields.of(self.index)
        self._opener = Opener(self._fields, self.extractor)
        self._originals = Originals(self.work.folder / "originals.db")

    def run(self, wait: Callable[[float], None], *, once: bool = False) -> None:
        """Run until ``stopped``, until the source has ended, or with ``once`` until all present
        items are done. ``wait`` lets time pass between looks."""
        self.work.open()
        try:
            while not self.stopped:
                if self.step():
                    continue
                if (once or self.source.ended) and not self.source.pending:
                    break
                wait(self.poll)
            self._guarded(self._arrivals)  # lines that were read from a pipe exist only in memory
        finally:
            self._originals.close()
            self.work.close()

    def step(self) -> bool:
        """One round of work; whether any item came to its place."""
        before = self.totals.items
        if self.clock() >= self._not_before:
            self._again()
        if self.totals.waiting < MOST_WAITING:
            self._guarded(self._look)
            self._guarded(self._arrivals)
        return self.totals.items > before

    def unclaimed(self) -> int:
        """The number of lines that were read but could not be stored."""
        return sum(isinstance(arrival, Item) for arrival in self._held)

    def _guarded(self, work: Callable[[], None]) -> bool:
        try:
            work()
        except (OSError, NeardupError) as error:
            self._problem(error)
            return False
        return True

    def _problem(self, error: Exception) -> None:
        """Report a problem once, not with every try."""
        problem = sentence(error)
        if problem != self._last_problem:
            LOG.warning("%s", problem)
            self.tell(Event(PROBLEM, note={"problem": problem}))
        self._last_problem = problem

    def _again(self) -> None:
        """Finish what is claimed; after each failure the pause before the next try doubles."""
        whole = self._guarded(self._claimed)
        self._failures = 0 if whole and not self._waiting else self._failures + 1
        pause = min(self.poll * 2**self._failures, LONGEST_PAUSE) if self._failures else 0.0
        self._not_before = self.clock() + pause

    def _claimed(self) -> None:
        self.work.reconcile()
        self._waiting.clear()
        self.totals.waiting = 0
        for batch in self.work.batches():
            self._finish(batch)
        for taken in self.work.taken():
            self._split(taken)

    def _look(self) -> None:
        if not self._held:
            self._held.extend(self.source.look())

    def _arrivals(self) -> None:
        while self._held and (not self.stopped or isinstance(self._held[0], Item)):
            group = self._group()
            if isinstance(group[0], Item):
                batch = self._stage([item for item in group if isinstance(item, Item)])
                self._forget(group)  # not before they are staged
                self._finish(batch)
            else:
                self._forget(group)  # the source shows again what could not be claimed
                self._enter([file for file in group if isinstance(file, WholeFile)])
        if not self._held:
            self.source.settle()

    def _group(self) -> list[WholeFile | Item]:
        """The next batch: items, or files of one item each, or one file of several items."""
        group: list[WholeFile | Item] = []
        first, size = self._held[0], 0
        for arrival in itertools.islice(self._held, BATCH_ITEMS):
            if type(arrival) is not type(first) or (group and size + _size(arrival) > BATCH_BYTES):
                break
            if isinstance(arrival, WholeFile) and not is_whole(arrival.name):
                return group or [arrival]
            group.append(arrival)
            size += _size(arrival)
        return group

    def _forget(self, group: Sequence[WholeFile | Item]) -> None:
        for _ in group:
            self._held.popleft()

    def _enter(self, files: Sequence[WholeFile]) -> None:
        if is_whole(files[0].name):
            batch = self._batch([_whole_item(file) for file in files], with_data=False)
            try:
                self.work.claim(batch, files)
            finally:
                self._finish(batch)
        elif taken := self.work.take(files[0]):
            self._split(taken)

    def _split(self, taken: Taken) -> None:
        """Split a file of several items into batches, each finished before the next."""
        rest = itertools.islice(items(taken.file, taken.name, self._fields), taken.done, None)
        while piece := list(itertools.islice(rest, BATCH_ITEMS)):
            if self.stopped or self.totals.waiting >= MOST_WAITING:
                return
            end = taken.done + len(piece)
            dated = [replace(item, since=taken.since) for item in piece]
            batch = self._stage(dated, Piece(taken.number, taken.done, end))
            self.work.advance(taken, end)
            self._finish(batch)
        self.work.drop(taken)

    def _stage(self, arrived: Sequence[Item], piece: Piece | None = None) -> Batch:
        return self._batch(arrived, with_data=True, piece=piece)

    def _batch(
        self, arrived: Sequence[Item], *, with_data: bool, piece: Piece | None = None
    ) -> Batch:
        naming = Naming(self.index, self.clock())
        entries = [entry_of(item, n, *naming.of(item)) for n, item in enumerate(arrived)]
        return self.work.stage(entries, [item.data for item in arrived if with_data], piece)

    def _finish(self, batch: Batch) -> None:
        """Move staged items to their places; an item that fails stays staged."""
        failed = 0
        for entry in batch.entries:
            if what := self.places.carried(batch, entry):
                done = self._guarded(partial(self._complete, batch, entry, what))
                failed += not done
        decisions = self._decided(batch)
        notes = ((decision.entry, decision.outcome) for decision in decisions)
        self._guarded(lambda: self.places.write_notes(notes, self.clock()))
        for decision in decisions:
            failed += not self._guarded(partial(self._place, batch, decision))
        failed += not self._guarded(self.places.sync)
        if failed or batch.left():
            self._waiting[batch.folder] = max(failed, batch.left())
        else:
            self.work.drop(batch)
        self.totals.waiting = sum(self._waiting.values())

    def _decided(self, batch: Batch) -> list[Decided]:
        began, decisions = time.perf_counter(), list[Decided]()
        self._guarded(lambda: decisions.extend(decided(batch, self.index, self._opener)))
        self.totals.check_seconds += time.perf_counter() - began
        self.totals.checked += len(decisions)
        return [self._described(decision) for decision in decisions]

    def _described(self, decision: Decided) -> Decided:
        """The decision with the data by which people recognise the item, and its match if it has
        one."""
        entry, outcome, document = decision
        about = _about(document, self._fields)
        if outcome.what == ORIGINAL:
            self._originals.put(entry.id, about | {"path": self.places.path_of(entry)})
        other = self._originals.get(outcome.match.of) if outcome.match else {}
        return decision._replace(outcome=replace(outcome, about=about, other=other))

    def _place(self, batch: Batch, decision: Decided) -> None:
        entry, outcome, document = decision
        if outcome.what == ORIGINAL:
            began = time.perf_counter()
            if self.places.run_command(batch, entry, document):
                self.totals.told += 1
                self.totals.told_seconds += time.perf_counter() - began
        target = self.places.put(batch, entry, outcome, self.clock())
        if outcome.what == ORIGINAL and target and str(target) != self.places.path_of(entry):
            self._originals.put(entry.id, {**outcome.about, "path": str(target)})
        self._done(entry, outcome.what, target, outcome.note())

    def _complete(self, batch: Batch, entry: Entry, what: str) -> None:
        self._done(entry, what, self.places.complete(batch, entry, what), {})

    def _done(self, entry: Entry, what: str, target: Path | None, note: dict[str, Any]) -> None:
        self._last_problem = ""
        self.totals.count(what, self.clock() - entry.since)
        event = Event(what, entry.name, entry.id, None if target is None else str(target), note)
        LOG.info("%s", event)
        self.tell(event)


def _about(document: dict[str, Any], fields: Fields) -> dict[str, str]:
    values = {
        "title": document.get("title"),
        "source": document.get(fields.source),
        "url": document.get("link") or document.get("url"),
    }
    return {name: value for name, value in values.items() if value and isinstance(value, str)}


def _whole_item(file: WholeFile) -> Item:
    form = WHOLE.get(ending(file.name), "")
    return Item(file.name, b"", form, file.name, whole_problem(file.name), file.since)


def _size(arrival: WholeFile | Item) -> int:
    return arrival.size if isinstance(arrival, WholeFile) else len(arrival.data)
