"""The documents that can be matched, in memory: a cache of the window of the store.

A document meets others by postings (``matching/candidates.py``), and those it meets are scored on
their evidence. Evidence is in memory only if scoring needs it: a bitmap window returns scores, so
there the evidence stays in the store. Documents are numbered in the order of arrival. A removed
document is forgotten at once, but its number stays until a quarter of the numbers are dead; then
all documents are renumbered.

:class:`Cache` synchronises the memory with its store: changes of other processes are read before
anything is decided. The memory contains nothing that is not in the store, so it can be discarded at
any time.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from neardup.decisions.rule import best_match
from neardup.engines.index.arrival_rule import SEEN, Known, Rule, Scored
from neardup.engines.index.signing import Signature, Signer, stored_signature
from neardup.engines.index.store import LOG, Counters, Gone, Row, Store
from neardup.engines.index.time_window import Window
from neardup.matching.candidates import Passing, postings
from neardup.matching.scorer import Scorer
from neardup.matching.window import HOURS, UNCLIPPED

FEWEST_DEAD = 64
DEAD_SHARE = 4  # documents are renumbered when one in so many numbers is dead
NOT_KEPT = np.empty(0, np.uint32)


class Memory:
    def __init__(
        self,
        scorer: Scorer,
        window: Window | None = None,
        clip: tuple[float, float] = UNCLIPPED,
    ) -> None:
        self._scorer, method = scorer, scorer.method
        # Every slot has its own tables, so in a window of 1,440 minutes a slot spans several.
        period = -(-(window.count + 1) // HOURS) * window.unit if window else None
        self._postings = postings(method.meeting, period, clip)
        self._keeps_evidence = method.confirms_copies or method.meeting.arrival_needs_keys
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
        return self._postings.bytes

    @property
    def bytes(self) -> int:
        """Memory of evidence and postings, without what the next renumbering frees."""
        alive = len(self) / len(self._known) if self._known else 0
        return self.evidence_bytes + self._postings.lasting_bytes(alive)

    @property
    def oldest(self) -> int | None:
        return min((known.time for known in self._known if known is not None), default=None)

    def add(self, seq: int, id_: str, time: int, signature: Signature) -> None:
        number = len(self._known)
        s = signature
        self._postings.add(s, number, time)
        evidence = s.evidence if self._keeps_evidence else NOT_KEPT
        digests = s.text_digest, s.normal_digest, self._form(s)
        self._known.append(Known(seq, id_, time, *digests, s.group, evidence))
        self._seqs.append(seq)
        self._equal.setdefault(s.digest, []).append(number)
        self.evidence_bytes += evidence.nbytes
        self.pass_by(s)

    def pass_by(self, signature: Signature) -> None:
        """Remembers the form of a document that was decided but cannot be matched."""
        if self._scorer.method.calibrate:
            self._forms.setdefault(signature.digest, signature.normal_digest)

    def as_first(self, signature: Signature, signer: Signer) -> Signature:
        """The signature with the own threshold of the first document that has the same evidence."""
        if not self._scorer.method.calibrate:
            return signature
        first = self._form(signature)
        return (
            signature
            if first == signature.normal_digest
            else signer.with_threshold(signature, first)
        )

    def _form(self, signature: Signature) -> int:
        return self._forms.get(signature.digest, signature.normal_digest)

    def remove(self, seq: int) -> None:
        number = bisect_left(self._seqs, seq)
        if number < len(self._seqs) and self._seqs[number] == seq:
            self._forget(number)
            self._sweep()

    def expire(self, before: int, upto: int) -> None:
        """Forgets documents of a time before ``before`` that arrived before number ``upto``."""
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
            self._postings.forget(number)
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
        self._postings.keep(numbers)
        self._dead = 0

    def best(self, signature: Signature, since: int | None = None) -> Scored | None:
        """The document with equal evidence, otherwise the best score, then the earliest, among
        those whose time is ``since`` or later."""
        equal = self._matchable(self._equal.get(signature.digest, []), signature.group, since)
        if equal and self._scorer.confirmed(equal[0].evidence, signature.evidence):
            return Scored(equal[0], 1.0)
        candidates, scores = self._scored(signature, since)
        place = best_match(scores)
        if place is None:
            return None
        score = scores[place]
        assert score is not None
        return Scored(candidates[place], score)

    def _scored(
        self, signature: Signature, since: int | None
    ) -> tuple[list[Known], list[float | None]]:
        """The documents that it meets, in order of arrival, and their scores."""
        met = self._postings.meet(signature)
        if isinstance(met, Passing):
            scored = zip(met.numbers.tolist(), met.scores.tolist(), strict=True)
            passing = [
                (known, score)
                for number, score in scored
                for known in self._matchable([number], signature.group, since)
            ]
            return [known for known, _ in passing], [score for _, score in passing]
        candidates = self._matchable(met.tolist(), signature.group, since)
        if not candidates:
            return [], []
        rows, forms = [known.evidence for known in candidates], list[int]()
        if self._scorer.asks_forms:
            forms = [*(known.form for known in candidates), self._form(signature)]
        return candidates, self._scorer.against(rows, signature.evidence, forms)

    def _matchable(self, numbers: list[int], group: int, since: int | None) -> list[Known]:
        """The documents among these that still exist, are in the group and are not too old."""
        alive = [known for number in numbers if (known := self._known[number]) is not None]
        in_group = [known for known in alive if known.group == group]
        return in_group if since is None else [known for known in in_group if known.time >= since]


class Cache:
    def __init__(self, store: Store, rule: Rule) -> None:
        self._store, self._rule = store, rule
        self._memory: Memory | None = None
        self.seen = Counters()

    def forget(self) -> None:
        """Discards the memory; it is read again when it is next used."""
        self._memory = None

    def current(self) -> Memory:
        """The memory, including all changes of other processes so far."""
        if self._memory is None or self._store.changed():
            return self.upto(self._store.counters())
        return self._memory

    def upto(self, counters: Counters) -> Memory:
        behind = counters.last - self.seen.last
        if self._memory is None or (self.seen.last and behind > LOG // 2):  # others go on meanwhile
            rule = self._rule
            self._memory = Memory(rule.signer.scorer, rule.window, rule.clip)
            self.seen = Counters()
        if counters.last > self.seen.last:
            everyone = self._rule.against == SEEN
            duplicates = everyone or self._rule.signer.scorer.asks_forms
            for one in self._store.changes(self.seen.last, duplicates=duplicates):
                self._apply(one, self._memory, everyone)
        self.seen = counters
        return self._memory

    def _apply(self, one: Row | Gone, memory: Memory, everyone: bool) -> None:
        """Applies changes. Those that were applied before have no effect, because counters are read
        before changes."""
        if isinstance(one, Row):
            if one.seq > memory.last:
                self._remember(one, memory, everyone)
        elif one.removed is not None:
            memory.remove(one.removed)
        elif one.before is not None:
            memory.expire(one.before, one.seq)

    def _remember(self, row: Row, memory: Memory, everyone: bool) -> None:
        signature = stored_signature(row, self._rule.method, self._store.url)
        if row.kept_seq is None or everyone:
            memory.add(row.seq, row.id, row.time, signature)
        else:
            memory.pass_by(signature)
