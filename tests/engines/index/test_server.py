"""A connection that is lost: made anew where that is safe, told where it is not, and nothing is
acknowledged that was not committed."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import neardup as nd
from engines.index.proxy import Proxy
from neardup.engines.index.postgresql import PostgresStore
from neardup.engines.index.store import Counters
from neardup.errors import IndexStoreError

TEXT = "a text of more than a few words that can be compared with others of its kind"
SETTINGS: dict[str, Any] = {"method": "shingles", "words": 2, "threshold": 0.5, "min_words": 3}


@pytest.fixture
def url(new_url: Callable[[str], str]) -> str:
    return new_url("postgresql")


@pytest.fixture
def index(url: str) -> Iterator[nd.Index]:
    with nd.Index.open(url, **SETTINGS) as index:
        index.add({"id": "a", "text": TEXT})
        yield index


def end_others(url: str) -> int:
    """The administrator ends all connections but his own."""
    with psycopg.connect(url.partition("&index=")[0]) as server:
        query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        mine = " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        return len(server.execute(query + mine).fetchall())


@pytest.mark.parametrize(
    "use",
    [
        lambda index: index.check(TEXT),
        lambda index: index.get("a"),
        lambda index: index.add({"id": "b", "text": TEXT}),
        lambda index: index.remove("a"),
        lambda index: list(index),
        lambda index: index.stats(),
    ],
)
def test_between_two_calls_no_one_notices(
    index: nd.Index, url: str, use: Callable[[nd.Index], object]
) -> None:
    end_others(url)
    use(index)


def test_within_a_call_nothing_is_stored(url: str) -> None:
    moments: list[Callable[[], int]] = []

    def clock() -> float:
        """An index looks at the clock when it has begun to write."""
        while moments:
            moments.pop()()
        return 1_700_000_000.0

    with nd.Index.open(url, clock=clock, **SETTINGS) as index:
        index.add({"id": "a", "text": TEXT})
        moments.append(lambda: end_others(url))
        with pytest.raises(IndexStoreError, match="nothing of this call was stored"):
            index.add({"id": "b", "text": TEXT})
        assert [entry.id for entry in index] == ["a"]
        found = index.add({"id": "b", "text": TEXT})
        assert found is not None
        assert found.of == "a"


def test_a_writer_that_hangs_is_put_out(url: str) -> None:
    hanging, other = PostgresStore(url, busy_seconds=0.05), PostgresStore(url)
    hanging.create({}, {})

    def hang() -> None:
        with hanging.writing() as writer:
            writer.counters = Counters(1, 1)
            with other.writing() as meanwhile:  # waits until the server has ended the other one
                meanwhile.counters = Counters(7, 7)

    with pytest.raises(IndexStoreError, match="nothing of this call was stored"):
        hang()
    assert hanging.counters() == other.counters() == Counters(7, 7)
    hanging.close()
    other.close()


@pytest.fixture
def door(postgres: str, url: str) -> Iterator[tuple[Proxy, str]]:
    """The same index through a proxy."""
    found = re.search(r"host=([^&]+)", postgres)
    assert found
    with tempfile.TemporaryDirectory() as folder:
        proxy = Proxy(Path(folder), Path(found[1]))
        try:
            yield proxy, url.replace(found[1], folder)
        finally:
            proxy.close()


def test_lost_after_the_commit_it_is_acknowledged(door: tuple[Proxy, str]) -> None:
    proxy, url = door
    with nd.Index.open(url, **SETTINGS) as index:
        proxy.at_commit = lambda: True
        assert index.add({"id": "a", "text": TEXT}) is None
        assert proxy.at_commit is None
        found = index.check(TEXT)
        assert found is not None
        assert found.of == "a"
        assert [entry.id for entry in index] == ["a"]


def test_lost_before_the_commit_nothing_is_stored(door: tuple[Proxy, str]) -> None:
    proxy, url = door
    with nd.Index.open(url, **SETTINGS) as index:
        proxy.at_commit = lambda: False
        with pytest.raises(IndexStoreError, match="nothing of this call was stored"):
            index.add({"id": "a", "text": TEXT})
        assert list(index) == []
        assert index.check(TEXT) is None
        assert index.add({"id": "a", "text": TEXT}) is None


@pytest.mark.parametrize("stored", [True, False])
def test_lost_for_good_it_is_said_that_no_one_knows(
    door: tuple[Proxy, str], url: str, stored: bool
) -> None:
    proxy, through = door

    def leave() -> bool:
        proxy.refuse()
        return stored

    with nd.Index.open(through, **SETTINGS) as index:
        proxy.at_commit = leave
        with pytest.raises(IndexStoreError, match=r"as a whole or not at all.*get"):
            index.add_many([{"id": "a", "text": TEXT}, {"id": "b", "text": TEXT}])
        with pytest.raises(IndexStoreError, match="cannot be used"):
            index.check(TEXT)
    with nd.Index.open(url) as other:
        other.add({"id": "c", "text": TEXT})  # waits until the server is done with the lost one
        assert [entry.id for entry in other] == ["a", "b", "c"][0 if stored else 2 :]
