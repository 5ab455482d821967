"""The client against a real service: its answers, its errors, its patience."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest

from neardup.client import Answer, Client
from neardup.errors import BusyError, InputError, ServiceError, UnreachableError, UsageError
from web.service.process import Served, served
from web.service.texts import copy, document, text


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    store = tmp_path_factory.mktemp("client") / "x.db"
    with served(store, "--texts", "--max-batch", "50") as made:
        yield made


@pytest.fixture
def client(service: Served) -> Iterator[Client]:
    with Client(service.url) as made:
        yield made


def test_a_life(client: Client) -> None:
    assert client.add(document(1)) == Answer("d1", "kept")
    found = client.add(copy(1))
    assert found.duplicate
    assert (found.kept_id, found.kind) == ("d1", "insertion")
    assert client.add(copy(1)) == found
    assert client.check(text(1)).kept_id == "d1"
    assert client.check(copy(1), kind=True, max_age="1h").kind == "insertion"
    assert client.get("c1")["kept_id"] == "d1"
    assert client.update({"id": "d1", "text": text(2)}) == Answer("d1", "kept")
    assert client.get("c1")["decision"] == "kept"
    assert client.remove("d1") == {}
    assert client.remove("c1") == {}


def test_compare_group_and_state(client: Client) -> None:
    assert client.compare(text(1), text(1))["kind"] == "identical"
    assert client.compare("a b", "b a", method="exact")["verdict"]["method"] == "exact"
    assert [len(one["others"]) for one in client.group([text(1), text(2), text(1)])] == [1, 0]
    assert client.stats()["method"] == "shingles"
    assert client.health()["status"] == "ok"
    assert "shingles" in {one["name"] for one in client.methods()}


def test_many_are_streamed_in_order(client: Client) -> None:
    numbers = range(100, 700)
    documents = [document(n) if n % 100 else {"id": "", "text": "x"} for n in numbers]
    found = list(client.add_many(documents))
    assert len(found) == len(documents)
    for n, one in zip(numbers, found, strict=True):
        if n % 100:
            assert one == Answer(f"d{n}", "kept")
        else:
            assert isinstance(one, ServiceError)
            assert one.status == 422
    assert [one.decision for one in client.add_all(map(document, range(101, 105)))] == ["kept"] * 4


def test_the_next_document_may_depend_on_an_answer(client: Client) -> None:
    answers: SimpleQueue[object] = SimpleQueue()

    def documents() -> Iterator[dict[str, str]]:
        for n in range(1000, 1005):
            yield document(n)
            assert answers.get(timeout=60) == Answer(f"d{n}", "kept")

    for one in client.add_many(documents()):
        answers.put(one)
    assert answers.empty()


def test_what_the_documents_raise_is_raised(client: Client) -> None:
    def documents() -> Iterator[dict[str, str]]:
        yield document(2000)
        raise InputError("The file ended.")

    answers = client.add_many(documents())
    assert next(answers) == Answer("d2000", "kept")
    with pytest.raises(InputError, match="The file ended"):
        next(answers)


def test_errors_are_the_sentences_of_the_service(client: Client) -> None:
    client.add(document(3000))
    for call, status, sentence in (
        (lambda: client.add({"id": "d3000", "text": "y"}), 409, "already has a document 'd3000'"),
        (lambda: client.get("nothing\x00\u202e"), 404, "The index has no document"),
        (lambda: client.add({"text": "no id"}), 422, "'id' is null; expected an id."),
        (lambda: client.add_all([document(n) for n in range(51)]), 422, "expected 1 to 50"),
        (lambda: client.check("x", max_age="soon"), 400, "max_age"),
    ):
        with pytest.raises(ServiceError, match=sentence) as raised:
            call()
        assert raised.value.status == status
        assert str(raised.value).count("Hint:") == 1


def test_no_service_is_said(tmp_path: Path) -> None:
    with served(tmp_path / "x.db") as gone, Client(gone.url) as client:
        client.health()
        gone.stop()
        with pytest.raises(UnreachableError, match="does not answer"):
            client.health()
    for wrong in ("localhost:1", "ftp://localhost", "http://localhost/v1"):
        with pytest.raises(UsageError, match="no address of a service"):
            Client(wrong)


def test_a_busy_service_is_asked_again(tmp_path: Path) -> None:
    waits: list[float] = []
    with (
        served(tmp_path / "x.db", "--rate", "0.01") as service,
        Client(service.url, tries=3, wait=waits.append) as client,
    ):
        with pytest.raises(BusyError, match="more often than one client may ask") as raised:
            [client.health() for _ in range(9)]
        assert raised.value.status == 429
        assert len(waits) == 2
        assert all(0 < seconds <= 30 for seconds in waits)
