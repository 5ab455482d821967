"""A flow from a source through an index to its places.

Every step first finishes what was claimed, by this process or one before it, and then claims what
has come. What goes wrong on the way (a full disk, a folder that is gone, a command that fails) is
told as a sentence and tried again, later and later up to a minute; nothing is lost meanwhile.

What staged items are: asked of the index first, then added to it.

An item that the index knows by the id it was claimed under was added before a crash, and is what
the index says. A batch is added in one transaction, or item by item where one of it is refused.
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
from neardup.engines.index.flow.item_files import WHOLE, ending, is_whole, items, whole_problem
from neardup.engines.index.flow.items import PROBLEM, Event, Fields, Item, Naming, sentence
from neardup.engines.index.flow.places import (
    DUPLICATE,
    ORIGINAL,
    UNREADABLE,
    Outcome,
    Places,
    Totals,
)
from neardup.engines.index.flow.watched_folder import Found, Opened, Opener, Staged
from neardup.engines.index.flow.workplace import TOLD, Batch, Entry, Piece, Taken, Work, entry_of
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
    """Of all items that are still staged, in order of the batch."""
    fields, read = opener.fields, _read(batch, opener)
    known = {entry.id for entry, one in read if not one.problem and entry.id in index}
    new = [one.document for entry, one in read if not one.problem and entry.id not in known]
    outcomes = dict(zip((one[fields.id] for one in new), _added(index, new, fields), strict=True))
    for entry, (document, _, problem) in read:
        if problem:
            outcome = Outcome(UNREADABLE, reason=problem)
        elif batch.staged(entry, TOLD).exists():
            outcome = Outcome(ORIGINAL)
        else:
            outcome = outcomes.get(entry.id) or _remembered(index, entry)
        yield Decided(entry, outcome, document)


def _here(batch: Batch) -> list[Entry]:
    states = ("", TOLD)
    return [one for one in batch.entries if any(batch.staged(one, s).exists() for s in states)]


def _read(batch: Batch, opener: Opener) -> list[tuple[Entry, Opened]]:
    """The documents, or why there are none."""
    found = [(entry, _staged(batch, entry)) for entry in _here(batch)]
    opened = iter(opener.documents([one for _, one in found if isinstance(one, Staged)]))
    return [(entry, next(opened) if isinstance(one, Staged) else one) for entry, one in found]


def _staged(batch: Batch, entry: Entry) -> Staged | Opened:
    if entry.problem is not None:
        return Opened({}, problem=entry.problem)
    told = batch.staged(entry, TOLD)
    path = told if told.exists() else batch.staged(entry)
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
        if id_ in index:  # since we asked: another process was faster
            return Outcome(DUPLICATE, Match(id_, 1.0, SAME_ID))
        return Outcome(UNREADABLE, reason=error.message)


def _outcome(match: Match | None) -> Outcome:
    return Outcome(ORIGINAL) if match is None else Outcome(DUPLICATE, match)


def _remembered(index: Index, entry: Entry) -> Outcome:
    found = index.get(entry.id)
    if found.decision != SET_ASIDE:
        return Outcome(ORIGINAL)
    of, score = found.kept_id or "", found.score or 0.0
    return Outcome(DUPLICATE, Match(of, score, found.reason, found.kind, found.by))


BATCH_ITEMS, BATCH_BYTES = 64, 16 << 20
MOST_WAITING = 1000  # beyond it nothing is claimed: what is in the source is as safe there
LONGEST_PAUSE = 60.0


class Source(Protocol):
    pending: int  # what may come whole with the next look
    ended: bool

    def look(self) -> Sequence[Found | Item]: ...


@dataclass
class Flow:
    """``clock`` gives seconds since 1970; ``tell`` hears every event."""

    source: Source
    index: Index
    work: Work
    places: Places
    poll: float = 1.0
    clock: Callable[[], float] = time.time
    extractor: Extractor = field(default_factory=Extractor)
    tell: Callable[[Event], None] = lambda _: None
    stopped: bool = False  # set it to stop after the batch at hand
    totals: Totals = field(init=False)
    _held: deque[Found | Item] = field(default_factory=deque)  # seen, not claimed yet
    _waiting: dict[Path, int] = field(default_factory=dict)  # batch → items that failed
    _failures: int = 0
    _not_before: float = 0.0
    _said: str = ""

    def __post_init__(self) -> None:
        self.totals = Totals(self.clock())
        self._fields = Fields.of(self.index)
        self._opener = Opener(self._fields, self.extractor)

    def run(self, wait: Callable[[float], None], *, once: bool = False) -> None:
        """Until ``stopped``, or the source has ended, or ``once`` what is there is worked off.
        ``wait`` lets time pass between looks."""
        self.work.open()
        try:
            while not self.stopped:
                if self.step():
                    continue
                if (once or self.source.ended) and not self.source.pending:
                    break
                wait(self.poll)
            self._guarded(self._arrivals)  # lines that were read are only in memory
        finally:
            self.work.close()

    def step(self) -> bool:
        """Whether anything came to its place."""
        before = self.totals.items
        if self.clock() >= self._not_before:
            self._again()
        if self.totals.waiting < MOST_WAITING:
            self._guarded(self._look)
            self._guarded(self._arrivals)
        return self.totals.items > before

    def unclaimed(self) -> int:
        """Lines that were read and could not be stored."""
        return sum(isinstance(one, Item) for one in self._held)

    def _guarded(self, work: Callable[[], None]) -> bool:
        try:
            work()
        except (OSError, NeardupError) as error:
            self._problem(error)
            return False
        return True

    def _problem(self, error: Exception) -> None:
        """Said once, not with every try."""
        said = sentence(error)
        if said != self._said:
            LOG.warning("%s", said)
            self.tell(Event(PROBLEM, note={"problem": said}))
        self._said = said

    def _again(self) -> None:
        """What is claimed and not done; after a failure later and later."""
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
                batch = self._stage([one for one in group if isinstance(one, Item)])
                self._forget(group)  # not before they are safe
                self._finish(batch)
            else:
                self._forget(group)  # the source will show again what could not be claimed
                self._enter([one for one in group if isinstance(one, Found)])

    def _group(self) -> list[Found | Item]:
        """What makes a batch: items, or files of one item each, or one file of several."""
        group: list[Found | Item] = []
        first, size = self._held[0], 0
        for one in itertools.islice(self._held, BATCH_ITEMS):
            if type(one) is not type(first) or (group and size + _size(one) > BATCH_BYTES):
                break
            if isinstance(one, Found) and not is_whole(one.name):
                return group or [one]
            group.append(one)
            size += _size(one)
        return group

    def _forget(self, group: Sequence[Found | Item]) -> None:
        for _ in group:
            self._held.popleft()

    def _enter(self, files: Sequence[Found]) -> None:
        if is_whole(files[0].name):
            batch = self._batch([_whole_item(one) for one in files], with_data=False)
            try:
                self.work.claim(batch, files)
            finally:
                self._finish(batch)
        elif taken := self.work.take(files[0]):
            self._split(taken)

    def _split(self, taken: Taken) -> None:
        """A file of several items becomes batches, each finished before the next."""
        found = items(taken.file, taken.name, self._fields)
        rest = itertools.islice(found, taken.done, None)
        while piece := list(itertools.islice(rest, BATCH_ITEMS)):
            if self.stopped or self.totals.waiting >= MOST_WAITING:
                return
            end = taken.done + len(piece)
            dated = [replace(item, since=taken.since) for item in piece]
            batch = self._stage(dated, Piece(taken.number, taken.done, end))
            self.work.advance(taken, end)
            self._finish(batch)
        self.work.drop(taken)

    def _stage(self, found: Sequence[Item], piece: Piece | None = None) -> Batch:
        return self._batch(found, with_data=True, piece=piece)

    def _batch(
        self, found: Sequence[Item], *, with_data: bool, piece: Piece | None = None
    ) -> Batch:
        naming = Naming(self.index, self.clock())
        entries = [entry_of(item, n, *naming.of(item)) for n, item in enumerate(found)]
        return self.work.stage(entries, [item.data for item in found if with_data], piece)

    def _finish(self, batch: Batch) -> None:
        """Brings what is staged to its place; what fails stays."""
        failed = 0
        for entry in batch.entries:
            if what := self.places.carried(batch, entry):
                done = self._guarded(partial(self._complete, batch, entry, what))
                failed += not done
        found = self._decided(batch)
        self._guarded(partial(self._note, found))
        for one in found:
            failed += not self._guarded(partial(self._place, batch, one))
        if failed or batch.left():
            self._waiting[batch.folder] = max(failed, batch.left())
        else:
            self.work.drop(batch)
        self.totals.waiting = sum(self._waiting.values())

    def _decided(self, batch: Batch) -> list[Decided]:
        began, found = time.perf_counter(), list[Decided]()
        self._guarded(lambda: found.extend(decided(batch, self.index, self._opener)))
        self.totals.check_seconds += time.perf_counter() - began
        self.totals.checked += len(found)
        return found

    def _note(self, found: Sequence[Decided]) -> None:
        self.places.write_notes(((one.entry, one.outcome) for one in found), self.clock())

    def _place(self, batch: Batch, one: Decided) -> None:
        if one.outcome.what == ORIGINAL:
            began = time.perf_counter()
            if self.places.tell(batch, one.entry, one.document):
                self.totals.told += 1
                self.totals.told_seconds += time.perf_counter() - began
        target = self.places.put(batch, one.entry, one.outcome, self.clock())
        self._done(one.entry, one.outcome.what, target, one.outcome.note())

    def _complete(self, batch: Batch, entry: Entry, what: str) -> None:
        self._done(entry, what, self.places.complete(batch, entry, what), {})

    def _done(self, entry: Entry, what: str, target: Path | None, note: dict[str, Any]) -> None:
        self._said = ""
        self.totals.count(what, self.clock() - entry.since)
        event = Event(what, entry.name, entry.id, None if target is None else str(target), note)
        LOG.info("%s", event)
        self.tell(event)


def _whole_item(found: Found) -> Item:
    form = WHOLE.get(ending(found.name), "")
    problem = whole_problem(found.name)
    return Item(found.name, b"", form, found.name, problem, found.since)


def _size(one: Found | Item) -> int:
    return one.size if isinstance(one, Found) else len(one.data)
