"""Chunks in work: their order, and what becomes of them when nobody waits for them any more."""

from __future__ import annotations

from collections.abc import Generator
from threading import Event
from typing import cast

from neardup.documents.source import chunk_results


def test_results_come_in_the_order_of_chunks() -> None:
    for workers in (1, 3):
        assert [*chunk_results(range(50), lambda n: n * n, workers)] == [n * n for n in range(50)]


def test_a_reader_that_is_given_up_waits_for_no_thread() -> None:
    """The garbage collector may give it up in a thread that just starts and holds the lock by which
    threads are joined: a run in a long-lived process stood still there."""
    released, began = Event(), Event()

    def work(number: int) -> int:
        if number:
            began.set()
            released.wait()
        return number

    results = cast("Generator[int]", chunk_results(range(9), work, 2))
    assert next(results) == 0
    began.wait()
    results.close()  # would stand still here, because the chunk in work is released below
    released.set()
