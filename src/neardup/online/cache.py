"""The memory of an index, kept up with its store.

What others have written is read before anything is decided. Nothing is in it that is not in the
store, so it can be forgotten at any time.
"""

from __future__ import annotations

from neardup.online.memory import Memory
from neardup.online.rule import SEEN, Rule
from neardup.online.signature import Signature
from neardup.online.store import LOG, Counters, Gone, Row, Store


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
