"""One thread that writes: it takes all waiting works, writes them in one transaction, then answers.

So many small writes wait for the disk together, and none is answered before it is durable. Works
are done in the order in which they came, prepared outside the transaction. A refused work does not
affect the others; after any other error each is tried again by itself, so that only the faulty one
fails. Readers get their turn between two transactions.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol

from neardup.engines.index.arrivals import Events
from neardup.engines.index.index import Index
from neardup.engines.index.signing import Arrival
from neardup.engines.index.store import Row
from neardup.errors import IndexStoreError, NeardupError, RejectedError
from neardup.web.limits import busy
from neardup.web.pages import ProblemError
from neardup.web.service.responses import answer, answer_of_row, missing
from neardup.wording import shortened

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


LOG = logging.getLogger("neardup.web")
TOGETHER = 32  # documents of one transaction, if no single work has more: readers wait meanwhile
TURN = 0.1  # seconds that readers have between two transactions, at most

Asked = tuple[Work, "asyncio.Future[Any]"]


class Writer:
    """Used from one event loop. ``wrote`` is told how many documents a transaction had."""

    def __init__(
        self, index: Index, *, most: int, wrote: Callable[[int], None] | None = None
    ) -> None:
        self._index, self._most, self._wrote = index, most, wrote
        self._queue: deque[Asked] = deque()
        self._wake = threading.Condition()
        self._turned = threading.Event()
        self._readers: list[asyncio.Future[None]] = []
        self._thread: threading.Thread | None = None
        self.waiting = 0  # documents
        self.stopping = False
        self.active = False  # whether it has the index, or is about to

    def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="neardup-writer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stops the writer: nothing more is accepted, and what was accepted is finished."""
        self.stopping = True

    def close(self) -> None:
        """Returns when all that was accepted is written."""
        with self._wake:
            self.stopping = True
            self._wake.notify()
        if self._thread:
            self._thread.join()

    def fits(self, weight: int) -> bool:
        return not self.waiting or self.waiting + weight <= self._most

    async def write(self, work: Work) -> Any:
        """The answer, when it is durable."""
        if not self.fits(work.weight):
            raise busy(f"{self.waiting:,} documents wait to be written already.")
        asked: asyncio.Future[Any] = self._loop.create_future()
        with self._wake:
            if self.stopping:
                raise busy("The server is stopping.", seconds=5)
            self._queue.append((work, asked))
            self.waiting += work.weight
            self._wake.notify()
        return await asyncio.shield(asked)

    async def turn(self) -> None:
        """Waits until the writer has let go of the index; call it only while the writer is
        ``active``."""
        free: asyncio.Future[None] = self._loop.create_future()
        self._readers.append(free)
        await free

    def _run(self) -> None:
        while batch := self._taken():
            self.active = True
            results = self._written([work for work, _ in batch])
            self.active = False
            self._turned.clear()
            self._loop.call_soon_threadsafe(self._answer, batch, results)
            self._turned.wait(TURN)

    def _taken(self) -> list[Asked]:
        """What waits, up to ``TOGETHER`` documents; nothing when it is over."""
        with self._wake:
            while not self._queue and not self.stopping:
                self._wake.wait()
            batch: list[Asked] = []
            size = 0
            while self._queue and (not batch or size + self._queue[0][0].weight <= TOGETHER):
                batch.append(self._queue.popleft())
                size += batch[-1][0].weight
        return batch

    def _written(self, works: Sequence[Work]) -> list[Any]:
        """Answers and exceptions."""
        ready = [_prepared(work, self._index) for work in works]
        try:
            with self._index.events() as events:
                made = [_done(events, *one) for one in zip(works, ready, strict=True)]
        except IndexStoreError as error:
            return [error] * len(works)
        except Exception as error:
            LOG.warning("a transaction of %d works failed", len(works), exc_info=error)
            if len(works) == 1:
                return [error]
            return [self._written([work])[0] for work in works]
        if self._wrote:
            self._wrote(sum(work.weight for work in works))
        return made

    def _answer(self, batch: Sequence[Asked], results: Sequence[Any]) -> None:
        """Gives the results to those who asked, in the event loop. Whoever waits to read is resumed
        before the writer goes on."""
        for (work, asked), result in zip(batch, results, strict=True):
            self.waiting -= work.weight
            if asked.cancelled():
                continue
            if isinstance(result, Exception):
                asked.set_exception(result)
            else:
                asked.set_result(result)
        readers, self._readers = self._readers, []
        for free in readers:
            if not free.cancelled():
                free.set_result(None)
        self._loop.call_soon(self._loop.call_soon, self._turned.set)


def _prepared(work: Work, index: Index) -> Any:
    try:
        return work.prepare(index)
    except Exception as error:
        return error


def _done(events: Events, work: Work, ready: Any) -> Any:
    if isinstance(ready, Exception):
        return ready
    try:
        return work.do(events, ready)
    except (ProblemError, RejectedError) as error:
        return error
