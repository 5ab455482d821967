"""The rule for documents that come one by one, and for those that go.

An arrival is compared with the documents that can be matched: the kept ones (``against="kept"``) or
all that are remembered (``"seen"``). One with equal evidence is its match, else the best score,
then the earliest; without any it is kept. What was kept is never retracted. Where a document is
removed or replaced, those that were set aside for it arrive again, in their old order; where it
falls out of the window they do not.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from neardup.decisions.kinds import IDENTICAL, NORMALISED
from neardup.errors import RejectedError
from neardup.methods.method import FLAGS, TOO_SHORT, CalibratedMethod, Method
from neardup.online.memory import Memory
from neardup.online.scoring import Found
from neardup.online.signing import Arrival, Signature, Signer
from neardup.online.store import Counters, Row, Store, Writer
from neardup.online.windows import Window
from neardup.schema import KINDS

FLUSH_ROWS = 1000
KEPT, SEEN = "kept", "seen"


class Known(Enum):
    """A document that was not taken in: its id is there already."""

    ID = "its id is in the index already"


class Match(NamedTuple):
    """What a document is a duplicate ``of``, and why."""

    of: str
    score: float
    reason: str
    kind: str | None = None


@dataclass(frozen=True)
class Rule:
    """What does not change while an index is open."""

    signer: Signer
    window: Window | None
    against: str
    dated: bool  # whether documents bring their time
    memory: int | None = None  # bytes, beyond which the window is shortened

    @property
    def method(self) -> Method:
        return self.signer.method

    def time_of(self, arrival: Arrival, now: int, newest: int | None) -> int:
        """As ``windows.py`` says."""
        if not self.dated:
            time = now
        elif arrival.time is None:
            time = now if newest is None else newest
        else:
            time = min(arrival.time, now)
        if self.window is None or newest is None:
            return time
        return max(time, self.window.floor(max(newest, time)))

    def floor(self, newest: int | None) -> int | None:
        """Where the window begins."""
        return None if self.window is None or newest is None else self.window.floor(newest)

    def since(self, time: int, newest: int | None, max_age: int | None) -> int | None:
        """From when on documents can be matched; None: all."""
        bounds = []
        if self.window is not None:
            bounds.append(self.window.floor(max(time, time if newest is None else newest)))
        if max_age is not None:
            bounds.append(time - max_age)
        return max(bounds, default=None)

    def match(self, found: Found, signature: Signature) -> Match:
        known = found.known
        kind = None
        if known.normal_digest == signature.normal_digest:
            kind = KINDS[NORMALISED]
        if known.text_digest == signature.text_digest:
            kind = KINDS[IDENTICAL]
        return Match(known.id, found.score, self.reason(signature.flags, found.score), kind)

    def reason(self, flags: int, score: float) -> str:
        """Why a document was set aside."""
        usual, faint, threshold = self._reasons
        why = faint if score < threshold else usual
        return ("equal" if flags & TOO_SHORT else why) + notes(flags)

    @functools.cached_property
    def _reasons(self) -> tuple[str, str, float]:
        method = self.method
        faint = method.faint_reason if isinstance(method, CalibratedMethod) else method.reason
        return method.reason, faint, method.threshold


def kept_reason(flags: int, copies: int) -> str:
    if flags & TOO_SHORT:
        return "too_short" + notes(flags)
    return ("representative" if copies else "unique") + notes(flags)


def notes(flags: int) -> str:
    if not flags & ~TOO_SHORT:
        return ""
    names = (name for bit, name in FLAGS.items() if flags & bit and bit != TOO_SHORT)
    return f" ({', '.join(names)})"


@dataclass
class Writing:
    """Everything that is decided between the begin and the end of one writing of the store."""

    rule: Rule
    memory: Memory
    store: Store
    writer: Writer
    counters: Counters
    now: int
    dirty: bool = False  # memory is ahead of what is durable
    _rows: list[Row] = field(default_factory=list)
    _given: set[str] = field(default_factory=set)  # ids that arrivals brought

    def finish(self) -> None:
        self._flush()
        self.writer.counters = self.counters

    def known(self, arrivals: Sequence[Arrival]) -> list[int]:
        """Which of the arrivals have an id that is there already, or that came before them."""
        named = [one.id for one in arrivals if one.id is not None]
        there, places = set(self.store.get(named)), []
        for place, one in enumerate(arrivals):
            if one.id in there:
                places.append(place)
            elif one.id is not None:
                there.add(one.id)
        self._given.update(named)
        return places

    def refuse_known(self, arrivals: Sequence[Arrival]) -> None:
        """Before anything is changed."""
        if known := self.known(arrivals):
            raise RejectedError(
                f"The index already has a document {arrivals[known[0]].id!r}; nothing of this call "
                "was stored.",
                hint="replace it with update, or give the new one an id of its own.",
            )

    def arrive(self, arrival: Arrival) -> Match | None:
        return self.arrive_at(arrival, self.rule.time_of(arrival, self.now, self.counters.newest))

    def arrive_at(self, arrival: Arrival, time: int) -> Match | None:
        self._advance(time)
        match = self._decide(arrival, time)
        if self.rule.memory is not None and match is None:
            self._shorten(self.rule.memory)
        return match

    def _shorten(self, limit: int) -> None:
        """Beyond the limit the oldest slots are forgotten early; the current one stays."""
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
        """Documents of an earlier time are forgotten; those set aside for them stay as they are."""
        self._flush()
        self.dirty = True
        seq = self._next()
        self.memory.expire(before, seq)
        return self.writer.expire(seq, before)

    def _decide(self, arrival: Arrival, time: int) -> Match | None:
        self.dirty = True
        signature = self.memory.as_first(arrival.signature, self.rule.signer)
        found = self.memory.best(signature)
        seq = self._next()
        id_ = arrival.id if arrival.id is not None else self._new_id(seq)
        match = self.rule.match(found, signature) if found else None
        if match is None or self.rule.against == SEEN:
            self.memory.add(seq, id_, time, signature)
        else:
            self.memory.pass_by(signature)
        kept_seq = found.known.seq if found else None
        of, score, reason, kind = match or (None,) * 4
        packed, flags = signature.pack(), signature.flags
        row = Row(seq, id_, time, flags, kept_seq, of, score, reason, kind, packed, arrival.text)
        self._rows.append(row)
        if len(self._rows) >= FLUSH_ROWS:
            self._flush()
        return match

    def take_out(self, row: Row) -> list[Row]:
        """Removes a document; those that were set aside for it go too, to arrive again. Where
        duplicates are matched, those that were set aside for these go with them: otherwise two
        could end as duplicates of each other."""
        self._flush()
        self.dirty = True
        linked: list[Row] = []
        waiting = [row]
        while waiting:
            found = self.store.linked(waiting.pop().seq)
            linked += found
            waiting += found if self.rule.against == SEEN else []
        linked.sort(key=lambda one: one.seq)
        for one in (row, *linked):
            self.memory.remove(one.seq)
            self.writer.remove(self._next(), [one.seq])
        return linked

    def again(self, rows: Sequence[Row]) -> dict[str, Match | None]:
        """Rows that were taken out arrive as if they came now, in their old order; but those that
        have fallen out of the window meanwhile."""
        dtype = self.rule.method.evidence_dtype
        floor = self.rule.floor(self.counters.newest)
        found = {}
        for row in rows:
            if floor is not None and row.time < floor:
                continue
            signature = Signature.unpack(row.signature, dtype)
            arrival = Arrival(row.id, row.time, signature, row.text)
            found[row.id] = self._decide(arrival, row.time)
        return found

    def _new_id(self, seq: int) -> str:
        """As in a run over a list of texts."""
        made = f"input:{seq}"
        if made in self._given or self.store.get([made]):
            raise RejectedError(
                f"A document without an id would be {made!r}, but there is one of that name.",
                hint="give documents ids of their own.",
            )
        return made

    def _next(self) -> int:
        self.counters = self.counters._replace(last=self.counters.last + 1)
        return self.counters.last

    def _flush(self) -> None:
        if self._rows:
            self.writer.put(self._rows)
            self._rows = []
