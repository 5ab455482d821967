"""The events of an index: documents arrive, are replaced, are removed, or fall out of the window.

An arrival is compared with the documents that can be matched: the kept ones (``against="kept"``) or
all that are remembered (``"seen"``). Its match is a document with equal evidence, otherwise the one
with the best score, then the earliest. Without a match it is kept, and a kept document is never
retracted. If a document is removed or replaced, its duplicates arrive again in their old order; if
it falls out of the window, they do not.

One or several events happen within one :class:`Writing`. An event makes its checks before it
changes anything: if it is refused with a ``RejectedError``, nothing has changed and further events
may follow. After any other error the whole writing must be abandoned.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from neardup.engines.index.arrival_rule import SEEN, Match, Rule
from neardup.engines.index.entries import unknown
from neardup.engines.index.index_memory import Memory
from neardup.engines.index.signing import Arrival, stored_signature
from neardup.engines.index.store import Counters, Row, Store, Writer
from neardup.errors import RejectedError
from neardup.wording import shortened

FLUSH_ROWS = 1000


class Known(Enum):
    """The answer for a document that was not added because its id exists already."""

    ID = "its id is in the index already"


@dataclass
class Writing:
    """All decisions between the begin and the end of one writing of the store."""

    rule: Rule
    memory: Memory
    store: Store
    writer: Writer
    counters: Counters
    now: int
    dirty: bool = False  # memory has changes that are not durable yet
    _rows: list[Row] = field(default_factory=list)
    _matches: list[Match | None] = field(default_factory=list)  # one for each decision, in order
    _given: set[str] = field(default_factory=set)  # ids of arrivals
    _free: range = range(0)  # numbers that no document in the store has as its id

    def finish(self) -> None:
        self._flush()
        self.writer.counters = self.counters

    def known(self, arrivals: Sequence[Arrival]) -> list[int]:
        """Which arrivals have an id that exists already, in the store or among earlier arrivals."""
        named = [arrival.id for arrival in arrivals if arrival.id is not None]
        taken, places = self._there(named, len(arrivals) - len(named)), []
        for place, arrival in enumerate(arrivals):
            if arrival.id in taken:
                places.append(place)
            elif arrival.id is not None:
                taken.add(arrival.id)
        self._given.update(named)
        return places

    def _there(self, named: Sequence[str], unnamed: int) -> set[str]:
        """Ids that are taken. Ids that will be generated for documents without one are looked up
        too, in the same query."""
        if not unnamed:
            return self.store.known(named)
        first = self.counters.last + 1
        self._free = range(first, first + len(named) + unnamed)
        taken = self.store.known([*named, *map(_made_id, self._free)])
        if not taken.isdisjoint(map(_made_id, self._free)):
            self._free = range(0)  # ``_new_id`` then checks each id
        return taken

    def refuse_known(self, arrivals: Sequence[Arrival]) -> None:
        """Refuses arrivals with an existing id, before anything is changed."""
        if known := self.known(arrivals):
            id_ = shortened(arrivals[known[0]].id or "")
            raise RejectedError(
                f"The index already has a document {id_!r}; nothing of this call was stored.",
                hint="replace it with update, or give the new one an id of its own.",
            )

    def arrive_new(self, arrivals: Sequence[Arrival]) -> list[Match | Known | None]:
        """Adds arrivals; those whose id exists already are left out and reported."""
        known = set(self.known(arrivals))
        new = [arrival for place, arrival in enumerate(arrivals) if place not in known]
        matches = iter(self.arrive(new))
        return [Known.ID if place in known else next(matches) for place in range(len(arrivals))]

    def arrive(self, arrivals: Sequence[Arrival]) -> list[Match | None]:
        first = len(self._matches)
        for arrival in arrivals:
            newest = self.counters.newest
            self.arrive_at(arrival, self.rule.time_of(arrival, self.now, newest))
        return self._told(first)

    def _told(self, first: int) -> list[Match | None]:
        """The decisions from this point on, with kinds, which are found when rows are written."""
        self._flush()
        return self._matches[first:]

    def arrive_at(self, arrival: Arrival, time: int) -> None:
        self._advance(time)
        self._decide(arrival, time)
        if self.rule.memory is not None and self._matches[-1] is None:
            self._shorten(self.rule.memory)

    def _shorten(self, limit: int) -> None:
        """If the memory limit is exceeded, the oldest slots are forgotten early; the current one
        stays."""
        window = self.rule.window
        while window and self.memory.bytes > limit:
            oldest, newest = self.memory.oldest, self.counters.newest
            if oldest is None or newest is None or window.slot(oldest) >= window.slot(newest):
                return
            self.expire((window.slot(oldest) + 1) * window.unit)

    def _advance(self, time: int) -> None:
        newest, window = self.counters.newest, self.rule.window
        if newest is not None and time <= newest:
            return
        self.dirty = True
        self.counters = self.counters._replace(newest=time)
        if window and newest is not None and window.floor(time) > window.floor(newest):
            self.expire(window.floor(time))

    def expire(self, before: int) -> int:
        """Forgets documents of an earlier time; their duplicates stay as they are."""
        self._flush()
        self.dirty = True
        seq = self._next()
        self.memory.expire(before, seq)
        return self.writer.expire(seq, before)

    def _decide(self, arrival: Arrival, time: int) -> None:
        self.dirty = True
        signature = self.memory.as_first(arrival.signature, self.rule.signer)
        best = self.memory.best(signature)
        seq = self._next()
        id_ = arrival.id if arrival.id is not None else self._new_id(seq)
        match = self.rule.match(best, signature) if best else None
        if match is None or self.rule.against == SEEN:
            self.memory.add(seq, id_, time, signature)
        else:
            self.memory.pass_by(signature)
        kept_seq = best.known.seq if best else None
        of, score, reason, kind, by, _ = match or (None,) * 6
        decided = seq, id_, time, signature.flags, kept_seq, of, score, reason, kind
        packed, named = (
            signature.pack(self.rule.method),
            json.dumps(by, ensure_ascii=False) if by else None,
        )
        kept = arrival.text, arrival.within, named, arrival.source
        self._rows.append(Row(*decided, packed, *kept))
        self._matches.append(match)
        if len(self._rows) >= FLUSH_ROWS:
            self._flush()

    def take_out(self, row: Row) -> list[Row]:
        """Removes a document together with its duplicates, which are to arrive again. If duplicates
        can be matched, their duplicates are removed too; otherwise two documents could become
        duplicates of each other."""
        self._flush()
        self.dirty = True
        linked: list[Row] = []
        waiting = [row]
        while waiting:
            duplicates = self.store.linked(waiting.pop().seq)
            linked += duplicates
            waiting += duplicates if self.rule.against == SEEN else []
        linked.sort(key=lambda one: one.seq)
        for one in (row, *linked):
            self.memory.remove(one.seq)
            self.writer.remove(self._next(), [one.seq])
        return linked

    def again(self, rows: Sequence[Row]) -> dict[str, Match | None]:
        """Rows that were taken out arrive again in their old order, except those that have fallen
        out of the window meanwhile."""
        method = self.rule.method
        floor = self.rule.floor(self.counters.newest)
        back = [row for row in rows if floor is None or row.time >= floor]
        first = len(self._matches)
        for row in back:
            signature = stored_signature(row, method, self.store.url)
            arrival = Arrival(row.id, row.time, signature, row.text, row.within, row.source)
            self._decide(arrival, row.time)
        return dict(zip((row.id for row in back), self._told(first), strict=True))

    def _new_id(self, seq: int) -> str:
        """The id of a document without one, as in a run over a list of texts."""
        new_id = _made_id(seq)
        taken = new_id in self._given or (seq not in self._free and self.store.known([new_id]))
        if taken:
            raise RejectedError(
                f"A document without an id would be {new_id!r}, but there is one of that name.",
                hint="give documents ids of their own.",
            )
        return new_id

    def _next(self) -> int:
        self.counters = self.counters._replace(last=self.counters.last + 1)
        return self.counters.last

    def _flush(self) -> None:
        """Writes pending rows before any document is deleted, so that all their matches still
        exist."""
        if not self._rows:
            return
        if self.rule.kinds:
            self._tell_kinds()
        self.writer.put(self._rows)
        self._rows = []

    def _tell_kinds(self) -> None:
        rows, first = self._rows, len(self._matches) - len(self._rows)
        texts = [row.text for row in rows]
        matches = self.rule.with_kinds(self._matches[first:], texts, self._texts)
        self._matches[first:] = matches
        self._rows = [
            row._replace(kind=match.kind) if match else row
            for row, match in zip(rows, matches, strict=True)
        ]

    def _texts(self, ids: Sequence[str]) -> dict[str, str | None]:
        ours = {row.id: row.text for row in self._rows}
        return texts_of(self.store, [id_ for id_ in ids if id_ not in ours]) | ours


def _made_id(seq: int) -> str:
    return f"input:{seq}"


def texts_of(store: Store, ids: Sequence[str]) -> dict[str, str | None]:
    return {id_: row.text for id_, row in store.get(ids).items()}


class Events:
    def __init__(self, writing: Writing) -> None:
        self._writing = writing

    def add(self, arrivals: Sequence[Arrival]) -> list[Match | None]:
        """Adds documents in order, all or none; returns one answer for each."""
        self._writing.refuse_known(arrivals)
        return self._writing.arrive(arrivals)

    def update(self, arrival: Arrival) -> Match | None:
        if arrival.id is None:
            raise RejectedError(
                "A document without an id cannot replace another.",
                hint="give a dict with the id of the one to replace.",
            )
        old = self.rows([arrival.id]).get(arrival.id)
        orphans = self._writing.take_out(old) if old else []
        (match,) = self._writing.arrive([arrival])
        self._writing.again(orphans)
        return match

    def remove(self, id: str) -> dict[str, Match | None]:
        row = self.rows([id]).get(id)
        if row is None:
            raise unknown(id)
        return self._writing.again(self._writing.take_out(row))

    def rows(self, ids: Sequence[str]) -> dict[str, Row]:
        """The existing documents among these, including those added by earlier events of this
        writing."""
        return self._writing.store.get(ids)

    def same(self, row: Row, arrival: Arrival) -> bool:
        """Whether an existing document has the text and the group of an arrival."""
        if row.within != arrival.within:
            return False
        if row.text is not None and arrival.text is not None:
            return row.text == arrival.text
        known = stored_signature(row, self._writing.rule.method, self._writing.store.url)
        return known.text_digest == arrival.signature.text_digest
