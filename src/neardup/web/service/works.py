"""What is asked of the writer: prepared outside the transaction, done inside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol

from neardup.errors import NeardupError, RejectedError
from neardup.names import shortened
from neardup.online.events import Events
from neardup.online.index import Index
from neardup.online.signature import Arrival
from neardup.online.store import Row
from neardup.web.problems import ProblemError
from neardup.web.service.answers import answer, answer_of_row
from neardup.web.service.finding import missing

Object = dict[str, Any]


class Work(Protocol):
    @property
    def weight(self) -> int:
        """How many documents it writes."""
        ...

    def prepare(self, index: Index) -> Any:
        """What needs neither lock nor transaction."""
        ...

    def do(self, events: Events, prepared: Any) -> Any:
        """The answer. A ``RejectedError`` or ``ProblemError`` leaves no trace."""
        ...


@dataclass(frozen=True)
class Add:
    """All of them or none."""

    documents: Sequence[Object]

    @property
    def weight(self) -> int:
        return len(self.documents)

    def prepare(self, index: Index) -> list[Arrival]:
        if len(self.documents) == 1:
            return [index.sign_one(self.documents[0])]
        return index.sign(self.documents)

    def do(self, events: Events, prepared: Any) -> list[Object]:
        arrivals: list[Arrival] = prepared
        there = events.rows([str(one.id) for one in arrivals])
        new: dict[str, Arrival] = {}
        for one in arrivals:
            _refuse_other(events, there.get(str(one.id)), new.get(str(one.id)), one)
            if one.id not in there:
                new.setdefault(str(one.id), one)
        matches = events.add(list(new.values())) if new else []
        made = {id_: answer(id_, match) for id_, match in zip(new, matches, strict=True)}
        return [made.get(str(one.id)) or answer_of_row(there[str(one.id)]) for one in arrivals]


def _refuse_other(
    events: Events, row: Row | None, earlier: Arrival | None, arrival: Arrival
) -> None:
    """Another document under an id that is taken. The same one once more is no harm."""
    same = earlier is None or _same(earlier, arrival)
    if row is not None:
        same = events.same(row, arrival)
    if not same:
        raise ProblemError(
            HTTPStatus.CONFLICT,
            f"The index already has a document {shortened(arrival.id or '')!r} with another text; "
            "nothing of this call was stored.",
            hint="replace it with PUT /v1/documents, or give the new one an id of its own.",
        )


def _same(a: Arrival, b: Arrival) -> bool:
    return a.signature.text_digest == b.signature.text_digest and a.within == b.within


@dataclass(frozen=True)
class AddEach:
    """Each for itself: answers, and errors where there is none."""

    documents: Sequence[Object]

    @property
    def weight(self) -> int:
        return len(self.documents)

    def prepare(self, index: Index) -> list[Arrival | NeardupError]:
        try:
            return [*index.sign(self.documents)]
        except RejectedError:
            return [_signed(index, one) for one in self.documents]

    def do(self, events: Events, prepared: Any) -> list[Object | NeardupError]:
        arrivals: list[Arrival | NeardupError] = prepared
        good = [one for one in arrivals if isinstance(one, Arrival)]
        if len({one.id for one in good}) == len(good):
            try:
                found = iter(Add(self.documents).do(events, good))
                return [next(found) if isinstance(one, Arrival) else one for one in arrivals]
            except (ProblemError, RejectedError):
                pass  # one by one, to know which
        return [self._one(events, one) if isinstance(one, Arrival) else one for one in arrivals]

    def _one(self, events: Events, arrival: Arrival) -> Object | NeardupError:
        try:
            return Add(self.documents).do(events, [arrival])[0]
        except (ProblemError, RejectedError) as error:
            return error


def _signed(index: Index, document: Object) -> Arrival | NeardupError:
    try:
        return index.sign_one(document)
    except RejectedError as error:
        return error


@dataclass(frozen=True)
class Update:
    document: Object
    weight: int = 1

    def prepare(self, index: Index) -> Arrival:
        return index.sign_one(self.document)

    def do(self, events: Events, prepared: Any) -> Object:
        return answer(prepared.id, events.update(prepared))


@dataclass(frozen=True)
class Remove:
    id: str
    weight: int = 1

    def prepare(self, index: Index) -> None: ...

    def do(self, events: Events, prepared: Any) -> Object:  # noqa: ARG002
        if self.id not in events.rows([self.id]):
            raise missing(self.id)
        again = events.remove(self.id)
        return {"id": self.id, "again": [answer(id_, match) for id_, match in again.items()]}
