"""The writer: in order, all or none, never more than fits, and readers get their turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

import neardup as nd
from engines.index.postgres import running
from neardup.client import Client
from neardup.engines.index.arrivals import Events
from neardup.web.pages import ProblemError
from neardup.web.service.service import Checker
from neardup.web.service.writer import TOGETHER, Add, AddEach, Remove, Update, Writer
from web.service.process import SETTINGS, served
from web.service.texts import copy, document, text


def new_index() -> nd.Index:
    return nd.Index.open("memory:", method="shingles", words=3, threshold=0.7)


@asynccontextmanager
async def writing(index: nd.Index, most: int = 10_000) -> AsyncIterator[Writer]:
    writer = Writer(index, most=most)
    writer.open()
    yield writer
    await asyncio.to_thread(writer.close)


def ran(index: nd.Index, act: Callable[[Writer], Awaitable[Any]], most: int = 10_000) -> Any:
    async def main() -> Any:
        async with writing(index, most) as writer:
            return await act(writer)

    # In a thread of its own: a browser of other tests has an event loop in this one.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(main())).result()


def state(index: nd.Index) -> list[tuple[Any, ...]]:
    return [(e.id, e.decision, e.kept_id, e.score) for e in index]


async def settled(works: list[Awaitable[Any]]) -> list[Any]:
    return await asyncio.gather(*works, return_exceptions=True)


def test_what_waits_together_is_done_in_order() -> None:
    """As one after the other would be."""
    works: list[Any] = []
    for n in range(60):
        works += [Add([document(n), copy(n)]), Add([copy(n - 5)])]
        if n % 7 == 3:
            works += [Remove(f"d{n - 3}"), Remove("nothing"), Update({"id": "d1", "text": text(n)})]
        if n % 11 == 5:
            works.append(Add([{"id": f"d{n}", "text": "another"}, document(1000 + n)]))
    index, twin = new_index(), new_index()
    together = ran(index, lambda writer: settled([writer.write(one) for one in works]))

    async def one_by_one(writer: Writer) -> list[Any]:
        return [(await settled([writer.write(one)]))[0] for one in works]

    alone = ran(twin, one_by_one)
    assert [str(one) for one in together] == [str(one) for one in alone]
    assert state(index) == state(twin)
    assert {type(one) for one in together} >= {list, dict, ProblemError}


@dataclass(frozen=True)
class Broken:
    """Changes something, then fails as no one expects."""

    weight: int = 1

    def prepare(self, index: nd.Index) -> Any:
        return index.sign([document(500)])

    def do(self, events: Events, prepared: Any) -> Any:
        events.add(prepared)
        raise RuntimeError("in the middle")


def test_an_unexpected_error_hits_only_the_one_it_comes_from() -> None:
    index = new_index()
    works = [Add([document(1)]), Broken(), Add([copy(1)]), AddEach([document(2), {"text": 5}])]
    found = ran(index, lambda writer: settled([writer.write(one) for one in works]))  # type: ignore[arg-type]
    assert isinstance(found[1], RuntimeError)
    assert [entry.id for entry in index] == ["d1", "c1", "d2"]
    assert found[3][0]["decision"] == "kept"
    assert isinstance(found[3][1], nd.NeardupError)


def test_more_than_fits_is_told_to_come_back() -> None:
    index = new_index()

    async def act(writer: Writer) -> None:
        with index.lock:  # as another reader would: nothing can be written meanwhile
            held = [asyncio.ensure_future(writer.write(Add([document(n)]))) for n in range(20)]
            await asyncio.sleep(0)
            with pytest.raises(ProblemError, match="20 documents wait to be written") as raised:
                await writer.write(Add([document(20)]))
        assert (raised.value.status, raised.value.headers) == (503, {"Retry-After": "1"})
        await asyncio.gather(*held)
        assert writer.waiting == 0
        await writer.write(Add([document(n) for n in range(100, 140)]))  # alone, any size fits
        writer.stop()
        with pytest.raises(ProblemError, match="The server is stopping"):
            await writer.write(Add([document(20)]))

    ran(index, act, most=20)
    assert len(index) == 60


def test_checks_are_answered_between_writes() -> None:
    """However many wait to be written, and each as if it had come between two of them."""
    index = new_index()

    async def act(writer: Writer) -> tuple[int, int]:
        checker = Checker(index, writer)
        writes = [
            asyncio.ensure_future(writer.write(Add([document(n)]))) for n in range(20 * TOGETHER)
        ]
        for _ in range(5):
            assert await checker.check(copy(100_000)) is None
        done = sum(one.done() for one in writes)
        await asyncio.gather(*writes)
        found = await checker.check(copy(1))
        assert found is not None
        assert found.of == "d1"
        return done, len(writes)

    done, all_ = ran(index, act)
    assert done < all_
    assert len(index) == all_


def test_a_write_whose_client_hung_up_is_finished() -> None:
    index = new_index()

    async def act(writer: Writer) -> None:
        with index.lock:
            asked = asyncio.ensure_future(writer.write(Add([document(1)])))
            await asyncio.sleep(0)
            asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await writer.write(Add([document(2)]))

    ran(index, act)
    assert len(index) == 2


def test_an_index_in_postgresql_is_served() -> None:
    with (
        running() as address,
        served(address, settings=SETTINGS) as service,
        Client(service.url) as client,
    ):
        assert [one.decision for one in client.add_many([document(1), copy(1)])] == [  # type: ignore[union-attr]
            "kept",
            "duplicate",
        ]
        assert client.check(copy(1)).kept_id == "d1"
        assert client.remove("d1")["c1"].decision == "kept"
        assert service.stop() == 0
