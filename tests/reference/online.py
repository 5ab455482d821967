"""The twin of an index: a list of texts, all compared with each other, every event replayed."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

from reference.qgrams import doc_q, normal_form
from reference.run import Settings, score, words


class Measure(Protocol):
    @property
    def reason(self) -> str: ...

    def short(self, text: str) -> bool: ...

    def score(self, one: str, other: str) -> Fraction | None:
        """None below the threshold."""
        ...


@dataclass(frozen=True)
class ByShingles:
    settings: Settings

    @property
    def reason(self) -> str:
        return f"resemblance >= {float(self.settings.threshold):g}"

    def short(self, text: str) -> bool:
        return len(words(text)) < max(self.settings.min_words, 1)

    def score(self, one: str, other: str) -> Fraction | None:
        return score(one, other, self.settings)


@dataclass(frozen=True)
class ByQgrams:
    q: int
    threshold: Fraction
    min_chars: int

    @property
    def reason(self) -> str:
        return f"doc_{self.q} >= {float(self.threshold):g}"

    def short(self, text: str) -> bool:
        return len(normal_form(text)) < max(self.min_chars, self.q)

    def score(self, one: str, other: str) -> Fraction | None:
        if self.short(one) or self.short(other):
            return Fraction(1) if words(one) == words(other) else None
        found = doc_q(one, other, self.q)
        return found if found >= self.threshold else None


@dataclass(eq=False)
class Doc:
    id: str
    text: str
    time: int
    group: str | None = None
    of: Doc | None = None
    of_id: str | None = None  # stays when the document goes
    score: Fraction | None = None


@dataclass
class Replay:
    """``unit`` and ``slots`` make the window, 0 for none; times are whole milliseconds."""

    measure: Measure
    against: str = "kept"
    unit: int = 0
    slots: int = 0
    dated: bool = False
    docs: list[Doc] = field(default_factory=list)  # in order of arrival
    newest: int | None = None

    def add(self, id_: str, text: str, date: int | None, now: int, group: str | None = None) -> Doc:
        time = self._time(date, now)
        self.newest = time if self.newest is None else max(self.newest, time)
        if self.unit:
            self.expire(self._floor(self.newest))
        return self._arrive(Doc(id_, text, time, group))

    def check(
        self,
        text: str,
        date: int | None,
        now: int,
        max_age: int | None = None,
        group: str | None = None,
    ) -> tuple[str, Fraction] | None:
        time = self._time(date, now)
        newest = max(time, time if self.newest is None else self.newest)
        there = [
            doc
            for doc in self.docs
            if (not self.unit or doc.time >= self._floor(newest))
            and (max_age is None or doc.time >= time - max_age)
        ]
        best = self._best(text, group, there)
        return (best[0].id, best[1]) if best else None

    def remove(self, id_: str) -> None:
        self._again(self._take_out(id_))

    def update(
        self, id_: str, text: str, date: int | None, now: int, group: str | None = None
    ) -> Doc:
        orphans = self._take_out(id_) if id_ in [doc.id for doc in self.docs] else []
        made = self.add(id_, text, date, now, group)
        newest = self.newest or 0
        self._again([doc for doc in orphans if not self.unit or doc.time >= self._floor(newest)])
        return made

    def expire(self, before: int) -> None:
        self.docs = [doc for doc in self.docs if doc.time >= before]

    def _take_out(self, id_: str) -> list[Doc]:
        gone = next(doc for doc in self.docs if doc.id == id_)
        orphans = [doc for doc in self.docs if self._hangs_on(doc, gone)]
        self.docs = [doc for doc in self.docs if doc is not gone and doc not in orphans]
        return orphans

    def _hangs_on(self, doc: Doc, other: Doc) -> bool:
        """Was set aside for it, or for one that hangs on it and is still there."""
        if doc.of is other:
            return True
        return doc.of in self.docs and self._hangs_on(doc.of, other)

    def _again(self, orphans: list[Doc]) -> None:
        for doc in orphans:
            doc.of = doc.of_id = doc.score = None
            self._arrive(doc)

    def _arrive(self, doc: Doc) -> Doc:
        best = self._best(doc.text, doc.group, self.docs)
        if best:
            doc.of, doc.score = best
            doc.of_id = best[0].id
        self.docs.append(doc)
        return doc

    def _best(self, text: str, group: str | None, among: list[Doc]) -> tuple[Doc, Fraction] | None:
        """The best score; ``max`` gives the first of several, which came first."""
        found = [
            (doc, scored)
            for doc in among
            if doc.group == group
            and (self.against == "seen" or doc.of_id is None)
            and (scored := self.measure.score(text, doc.text)) is not None
        ]
        return max(found, key=lambda one: one[1], default=None)

    def _time(self, date: int | None, now: int) -> int:
        if not self.dated:
            time = now
        elif date is None:
            time = now if self.newest is None else self.newest
        else:
            time = min(date, now)
        if self.unit and self.newest is not None:
            time = max(time, self._floor(max(self.newest, time)))
        return time

    def _floor(self, newest: int) -> int:
        return (newest // self.unit - self.slots) * self.unit

    def reasons(self) -> list[tuple[str, str, str, str | None, float | None]]:
        """(id, decision, reason, kept_id, score), in order of arrival."""
        found = []
        for doc in self.docs:
            short = self.measure.short(doc.text)
            if doc.of_id is not None and doc.score is not None:
                why = "equal" if short else self.measure.reason
                found.append((doc.id, "duplicate", why, doc.of_id, float(doc.score)))
                continue
            copied = any(other.of is doc for other in self.docs)
            why = "too_short" if short else "representative" if copied else "unique"
            found.append((doc.id, "kept", why, None, None))
        return found
