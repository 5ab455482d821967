"""The documents that can be matched, in memory: whom one meets → scored on their evidence.

A cache of the store's window. Evidence is here only where scoring needs it: a bitmap window gives
scores, so there it stays in the store. Documents are numbered as they come, so numbers are in
order of arrival. One that goes is taken out of the lists at once; its number stays until a quarter
of the numbers are dead, then all are swept and numbered anew. How documents meet: ``meeting.py``.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from neardup.artefacts.calibration import Calibration
from neardup.matching.window_postings import Passing
from neardup.methods.method import Method
from neardup.online.meeting import meeting
from neardup.online.scoring import Found, Known, Scorer, best_of
from neardup.online.signature import Signature
from neardup.online.signing import Signer, meets_in_window
from neardup.online.windows import Window

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
