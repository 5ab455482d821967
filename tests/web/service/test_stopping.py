"""Nothing that was acknowledged is lost: not by SIGTERM, not by SIGKILL, both under load."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import neardup as nd
from neardup.client import Answer, Client
from neardup.errors import ServiceError
from web.service.process import served
from web.service.texts import document

ENOUGH = 40  # acknowledged documents, after which the server is ended


def one_by_one(client: Client, first: int, acknowledged: Callable[[str], None]) -> None:
    for number in range(first, first + 100_000):
        acknowledged(str(client.add(document(number)).id))


def streamed(client: Client, first: int, acknowledged: Callable[[str], None]) -> None:
    for found in client.add_many(map(document, range(first, first + 100_000))):
        assert isinstance(found, Answer)
        acknowledged(str(found.id))


@pytest.mark.kills
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_what_was_acknowledged_is_there(sign: signal.Signals, tmp_path: Path) -> None:
    store = tmp_path / "x.db"
    ids: list[str] = []
    ends: list[ServiceError] = []
    enough = threading.Event()

    def acknowledged(id: str) -> None:
        ids.append(id)
        if len(ids) >= ENOUGH:
            enough.set()

    def load(way: Callable[..., None], first: int, url: str) -> None:
        try:
            with Client(url, tries=1) as client:
                way(client, first, acknowledged)
        except ServiceError as error:
            ends.append(error)

    ways = [(one_by_one, 0), (one_by_one, 1_000_000), (streamed, 2_000_000)]
    with served(store) as service:
        threads = [threading.Thread(target=load, args=(*way, service.url)) for way in ways]
        for thread in threads:
            thread.start()
        assert enough.wait(60)
        code = service.stop(sign)
        for thread in threads:
            thread.join(60)
    assert len(ends) == len(ways)  # each was told, or cut off
    assert code == (0 if sign == signal.SIGTERM else -signal.SIGKILL)
    if sign == signal.SIGTERM:
        assert service.log[-1] == "Stopped; everything that was accepted is stored.\n"
    with nd.Index.open(store, create=False) as index:
        there = {entry.id for entry in index}
    assert set(ids) <= there
    if sign == signal.SIGTERM:  # every write was answered, also the last ones
        assert set(ids) == there


def test_a_stopping_server_says_so_to_a_stream(tmp_path: Path) -> None:
    with served(tmp_path / "x.db") as service, Client(service.url) as client:
        first, stopped = threading.Event(), threading.Event()

        def documents() -> object:
            yield document(1)
            first.wait(60)
            service.process.send_signal(signal.SIGTERM)
            stopped.wait(60)

        answers = client.add_many(documents())  # type: ignore[arg-type]
        assert isinstance(next(answers), Answer)
        first.set()
        with pytest.raises(ServiceError, match="The server is stopping") as raised:
            next(answers)
        assert raised.value.status == 503
        stopped.set()
        assert service.wait() == 0
