"""The documents that can be matched, in memory: whom one meets → scored on their evidence.

A cache of the store's window. Evidence is here only where scoring needs it: a bitmap window gives
scores, so there it stays in the store. Documents are numbered as they come, so numbers are in
order of arrival. One that goes is taken out of the lists at once; its number stays until a quarter
of the numbers are dead, then all are swept and numbered anew.

The memory of an index, kept up with its store.

What others have written is read before anything is decided. Nothing is in it that is not in the
store, so it can be forgotten at any time.

Whom a new document meets among those an index remembers: by keys, or in a bitmap window.

Keys are for every method; who shares one is a candidate. A :class:`WindowMethod` has better: the
bitmap window gives all documents that pass and no others, with their scores, and what it has of
them is all that has to be in memory. Its slots say only
when memory comes back: a slot is dropped when none of its documents is left. With a window of time
a slot is a part of it, without one so many documents; where most of a slot is gone, what is left
of it moves.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from fractions import Fraction
from typing import Protocol

import numpy as np

from neardup import _native
from neardup.artefacts.calibration import Calibration
from neardup.engines.index.arrival_rule import SEEN, Found, Known, Rule, Scorer, best_of
from neardup.engines.index.signing import Signature, Signer, meets_in_window
from neardup.engines.index.slots import Window
from neardup.engines.index.store import LOG, Counters, Gone, Row, Store
from neardup.matching.window import HOURS, Passing, WindowPostings
from neardup.methods.base import Method, least_shared
from neardup.schema import Array

A_SLOT = 4096  # documents, without a window
MOST_COUNTED = 4096  # slots, without a window; the last one then takes all that come
LEAST_LEFT = 2  # a slot of which less than one in so many is left is emptied
NOWHERE = -1
NOBODY = Passing(np.empty(0, np.int64), np.empty(0))


class Meeting(Protocol):
    """Documents have numbers in the order of arrival, as in ``index_memory.py``."""

    def add(self, signature: Signature, number: int, time: int) -> None: ...

    def meet(self, signature: Signature) -> Array | Passing:
        """Numbers, ascending, of whom to score; or all that pass, with scores. Forgotten ones may
        be among them."""
        ...

    def forget(self, number: int) -> None:
        """It cannot be matched any more; its number stays taken until ``keep``."""
        ...

    def keep(self, numbers: Array) -> None:
        """``numbers[i]`` is the new number of document i, negative where it was forgotten."""
        ...

    @property
    def bytes(self) -> int: ...

    def lasting_bytes(self, alive: float) -> int:
        """Without what ``keep`` would give back, where so large a share of the numbers is alive."""
        ...


def meeting(method: Method, window: Window | None) -> Meeting:
    return (
        InWindow(method.share, window) if meets_in_window(method) else ByKeys(least_shared(method))
    )


class ByKeys:
    """``least``: how many keys bring two documents together."""

    def __init__(self, least: int) -> None:
        self._postings = _native.Postings()
        self._least = least

    def add(self, signature: Signature, number: int, time: int) -> None:  # noqa: ARG002
        self._postings.add(signature.keys, signature.probes, number)

    def meet(self, signature: Signature) -> Array:
        return self._postings.meet(signature.keys, signature.probes, self._least)

    def forget(self, number: int) -> None:
        """Its keys stay until the next ``keep``."""

    def keep(self, numbers: Array) -> None:
        self._postings.keep(numbers)

    @property
    def bytes(self) -> int:
        return self._postings.bytes

    def lasting_bytes(self, alive: float) -> int:
        return int(self.bytes * alive)


class InWindow:
    """Documents that are too short are not in it: only equal ones match, which need not meet."""

    def __init__(self, share: Fraction, window: Window | None) -> None:
        self._window = window
        # Every slot has tables of its own, so a window of 1,440 minutes takes some at a time.
        self._period = -(-(window.count + 1) // HOURS) * window.unit if window else A_SLOT
        count = HOURS + 1 if window else MOST_COUNTED
        self._postings = WindowPostings(share, count)
        self._free = list(range(count - 1, -1, -1))
        self._slots: dict[int, int] = {}  # period → slot
        self._first: dict[int, tuple[int, int]] = {}  # slot → its period, and a time of it
        self._alive = [0] * count
        self._slot_of = array("i")  # by number
        self._added = 0

    def add(self, signature: Signature, number: int, time: int) -> None:
        self._slot_of.append(NOWHERE)
        if not signature.too_short:
            self._place(signature.evidence, number, time)

    def _place(self, evidence: Array, number: int, time: int) -> None:
        slot = self._slot(time)
        self._postings.add(evidence, number, slot)
        self._slot_of[number] = slot
        self._alive[slot] += 1
        self._added += 1

    def _slot(self, time: int) -> int:
        period = (time if self._window else self._added) // self._period
        if period not in self._slots:
            if not self._free:  # times beyond the window: they cost memory for a while, no match
                return next(reversed(self._first))
            self._slots[period] = self._free.pop()
            self._first[self._slots[period]] = period, time
        return self._slots[period]

    def meet(self, signature: Signature) -> Passing:
        if signature.too_short:
            return NOBODY
        return self._postings.meet(signature.evidence)

    def forget(self, number: int) -> None:
        slot = self._slot_of[number]
        if slot == NOWHERE:
            return
        self._slot_of[number] = NOWHERE
        self._alive[slot] -= 1
        if not self._alive[slot]:
            self._drop(slot)

    def _drop(self, slot: int) -> None:
        self._postings.drop(slot)
        self._alive[slot] = 0
        period, _ = self._first.pop(slot)
        del self._slots[period]
        self._free.append(slot)

    def keep(self, numbers: Array) -> None:
        self._postings.keep(numbers)
        self._slot_of = array("i", np.array(self._slot_of, np.int32)[numbers >= 0].tobytes())
        sparse = [s for s in self._first if self._alive[s] * LEAST_LEFT < self._postings.places(s)]
        for slot in sparse:
            self._move(slot)

    def _move(self, slot: int) -> None:
        """With a window of time they come into a slot of the same time, else to the newest."""
        left, (_, time) = self._postings.sets(slot), self._first[slot]
        self._drop(slot)
        for number, evidence in left:
            self._place(evidence, number, time)

    @property
    def bytes(self) -> int:
        return self._postings.bytes

    def lasting_bytes(self, alive: float) -> int:  # noqa: ARG002
        """Slots that fell out are gone already."""
        return self.bytes


FEWEST_DEAD = 64
DEAD_SHARE = 4  # one of so many
NOT_KEPT = np.empty(0, np.uint32)


class Memory:
    def __init__(
        self, method: Method, window: Window | None = None, cuts: Calibration | None = None
    ) -> None:
        self._scorer = Scorer(method, cuts)
        self._meeting = meeting(method, window)
        self._keeps_evidence = method.confirms_copies or not meets_in_window(method)
        self._known: list[Known | None] = []
        self._seqs: list[int] = []
        self._equal: dict[bytes, list[int]] = {}
        self._forms: dict[bytes, int] = {}
        self._dead = 0
        self.evidence_bytes = 0

    def __len__(self) -> int:
        return len(self._known) - self._dead

    @property
    def last(self) -> int:
        return self._seqs[-1] if self._seqs else 0

    @property
    def postings_bytes(self) -> int:
        return self._meeting.bytes

    @property
    def bytes(self) -> int:
        """Of evidence and postings, without what the next sweep gives back."""
        alive = len(self) / len(self._known) if self._known else 0
        return self.evidence_bytes + self._meeting.lasting_bytes(alive)

    @property
    def oldest(self) -> int | None:
        return min((known.time for known in self._known if known is not None), default=None)

    def add(self, seq: int, id_: str, time: int, signature: Signature) -> None:
        number = len(self._known)
        s = signature
        self._meeting.add(s, number, time)
        evidence = s.evidence if self._keeps_evidence else NOT_KEPT
        digests = s.text_digest, s.normal_digest, self._form(s)
        self._known.append(Known(seq, id_, time, *digests, s.cut, s.group, evidence))
        self._seqs.append(seq)
        self._equal.setdefault(s.digest, []).append(number)
        self.evidence_bytes += evidence.nbytes
        self.pass_by(s)

    def pass_by(self, signature: Signature) -> None:
        """A document that was decided and cannot be matched."""
        if self._scorer.calibrated:
            self._forms.setdefault(signature.digest, signature.normal_digest)

    def as_first(self, signature: Signature, signer: Signer) -> Signature:
        """Documents with equal evidence are one document: the first says what own cut they have."""
        if not self._scorer.calibrated:
            return signature
        first = self._form(signature)
        return signature if first == signature.normal_digest else signer.with_cut(signature, first)

    def _form(self, signature: Signature) -> int:
        return self._forms.get(signature.digest, signature.normal_digest)

    def remove(self, seq: int) -> None:
        number = bisect_left(self._seqs, seq)
        if number < len(self._seqs) and self._seqs[number] == seq:
            self._forget(number)
            self._sweep()

    def expire(self, before: int, upto: int) -> None:
        """Documents of a time before ``before`` that came before number ``upto``."""
        for number in range(bisect_left(self._seqs, upto)):
            known = self._known[number]
            if known is not None and known.time < before:
                self._forget(number)
        self._sweep()

    def _forget(self, number: int) -> None:
        known = self._known[number]
        if known is not None:
            self.evidence_bytes -= known.evidence.nbytes
            self._known[number] = None
            self._meeting.forget(number)
            self._dead += 1

    def _sweep(self) -> None:
        if self._dead < FEWEST_DEAD or self._dead * DEAD_SHARE < len(self._known):
            return
        alive = np.array([known is not None for known in self._known])
        numbers = np.where(alive, np.cumsum(alive) - 1, -1)
        renamed = numbers.tolist()
        equal = {d: [renamed[n] for n in ns if renamed[n] >= 0] for d, ns in self._equal.items()}
        self._equal = {digest: left for digest, left in equal.items() if left}
        self._known = [known for known in self._known if known is not None]
        self._seqs = [known.seq for known in self._known if known is not None]
        self._meeting.keep(numbers)
        self._dead = 0

    def best(self, signature: Signature, since: int | None = None) -> Found | None:
        """One with equal evidence, else the best score, then the earliest; of those whose time is
        ``since`` or later."""
        equal = self._matchable(self._equal.get(signature.digest, []), signature.group, since)
        if equal and self._scorer.confirmed(equal[0], signature):
            return Found(equal[0], 1.0)
        met = self._meeting.meet(signature)
        if isinstance(met, Passing):
            scored = zip(met.numbers.tolist(), met.scores.tolist(), strict=True)
            return best_of(
                Found(known, score)
                for number, score in scored
                for known in self._matchable([number], signature.group, since)
            )
        candidates = self._matchable(met.tolist(), signature.group, since)
        if not candidates:
            return None
        return self._scorer.best(candidates, signature, self._form(signature))

    def _matchable(self, numbers: list[int], group: int, since: int | None) -> list[Known]:
        """Of these, who is there, in the group and not too old."""
        there = [known for number in numbers if (known := self._known[number]) is not None]
        found = [known for known in there if known.group == group]
        return found if since is None else [known for known in found if known.time >= since]


class Cache:
    def __init__(self, store: Store, rule: Rule) -> None:
        self._store, self._rule = store, rule
        self._memory: Memory | None = None
        self.seen = Counters()

    def forget(self) -> None:
        """It is read again when it is next asked."""
        self._memory = None

    def current(self) -> Memory:
        """The memory with all that others have written by now."""
        if self._memory is None or self._store.changed():
            return self.upto(self._store.counters())
        return self._memory

    def upto(self, counters: Counters) -> Memory:
        behind = counters.last - self.seen.last
        if self._memory is None or (self.seen.last and behind > LOG // 2):  # others go on meanwhile
            rule = self._rule
            self._memory = Memory(rule.method, rule.window, rule.signer.cuts)
            self.seen = Counters()
        if counters.last > self.seen.last:
            everyone = self._rule.against == SEEN
            duplicates = everyone or self._rule.signer.cuts is not None
            for one in self._store.changes(self.seen.last, duplicates=duplicates):
                self._apply(one, self._memory, everyone)
        self.seen = counters
        return self._memory

    def _apply(self, one: Row | Gone, memory: Memory, everyone: bool) -> None:
        """What was applied before changes nothing: counters are read before changes are."""
        if isinstance(one, Row):
            if one.seq > memory.last:
                self._remember(one, memory, everyone)
        elif one.removed is not None:
            memory.remove(one.removed)
        elif one.before is not None:
            memory.expire(one.before, one.seq)

    def _remember(self, row: Row, memory: Memory, everyone: bool) -> None:
        signature = Signature.unpack(row.signature, self._rule.method.evidence_dtype)
        if row.kept_seq is None or everyone:
            memory.add(row.seq, row.id, row.time, signature)
        else:
            memory.pass_by(signature)
