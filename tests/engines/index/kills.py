"""A writer that is killed while it writes, and what must be there afterwards.

The writer goes through a fixed history and tells each event that was answered. It kills itself at a
chosen SQL statement, or is killed by its parent at any moment. Whoever opens the index then must
find exactly the history up to the last answer, or up to the event that was under way: whole, never
in part.

usage, in tests/: python -m engines.index.kills [KILLS [SEED]]
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

import neardup as nd
from reference.run import collection

METHOD: dict[str, Any] = {"method": "shingles", "words": 2, "threshold": 0.5, "min_words": 3}
START = 1_700_000_000.0
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["neardup.engines.index.index", "neardup.engines.index.sqlite", "reference.run"]
)

Event = tuple[str, Any]
State = list[dict[str, Any]]


def history(seed: int, count: int = 60) -> list[Event]:
    """Batches, single documents, removals and new versions."""
    rng = np.random.default_rng(seed)
    documents = [{"id": d["id"], "text": d["text"]} for d in collection(rng, 10 * count)]
    events: list[Event] = []
    there: list[str] = []
    for _ in range(count):
        kind = rng.choice(["add", "add", "many", "many", "remove", "update"])
        if kind == "remove" and there:
            events.append(("remove", there.pop(int(rng.integers(len(there))))))
        elif kind == "update" and there:
            new = {**documents.pop(), "id": there[int(rng.integers(len(there)))]}
            events.append(("update", new))
        else:
            some = [documents.pop() for _ in range(1 if kind == "add" else int(rng.integers(2, 9)))]
            there += [one["id"] for one in some]
            events.append(("add_many", some))
    return events


def happen(index: nd.Index, event: Event) -> None:
    getattr(index, event[0])(event[1])


def state(index: nd.Index) -> State:
    return index.decisions().to_pylist()


def states(events: list[Event]) -> list[State]:
    """What is there after each event: ``states[n]`` after the first n."""
    with nd.Index.open("memory:", clock=lambda: START, **METHOD) as index:
        found = [state(index)]
        for event in events:
            happen(index, event)
            found.append(state(index))
    return found


def write(
    url: Path, events: list[Event], begin: int, statement: int | None, told: Connection
) -> None:
    """The child. With ``statement`` it dies when it comes to that one."""
    left = statement

    def count(_: str) -> None:
        nonlocal left
        if left is not None:
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    with nd.Index.open(url, clock=lambda: START, **METHOD) as index:
        index._store._db.set_trace_callback(count)  # type: ignore[attr-defined]
        told.send(begin)
        for number in range(begin, len(events)):
            happen(index, events[number])
            told.send(number + 1)


def killed_once(
    url: Path, events: list[Event], begin: int, statement: int | None, after: float | None
) -> int:
    """Starts the writer at event ``begin`` and sees it die; how many events were answered. With
    ``after`` its parent kills it so many seconds after it began."""
    ours, theirs = FORKS.Pipe(duplex=False)
    child = FORKS.Process(target=write, args=(url, events, begin, statement, theirs))
    child.start()
    theirs.close()
    done = begin
    try:
        done = ours.recv()
        if after is not None:
            end = time.monotonic() + after
            while (left := end - time.monotonic()) > 0 and ours.poll(left):
                done = ours.recv()
            child.kill()
        while True:
            done = ours.recv()
    except EOFError:
        child.join()
        return done


def check(url: Path, done: int, expected: list[State]) -> int:
    """Where the history stands: after the last answer, or one event further."""
    with closing(sqlite3.connect(url)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with nd.Index.open(url, **METHOD) as index:
        found = state(index)
        assert len(index) == len(found)
    at = [n for n in (done + 1, done) if n < len(expected) and expected[n] == found]
    assert at, f"after {done} events were answered, neither they nor one more are there"
    return at[0]


def run(kills: int, seed: int, folder: Path, *, seconds: float | None = None) -> int:
    """So many kills over as many histories as it takes; how many events survived one."""
    rng = np.random.default_rng(seed)
    made = survived = 0
    while made < kills:
        seed += 1
        url, events = folder / f"{seed}.db", history(seed)
        expected, at = states(events), 0
        while at < len(events) and made < kills:
            statement = int(rng.integers(60)) if seconds is None else None
            after = float(rng.uniform(0, seconds)) if seconds is not None else None
            done = killed_once(url, events, at, statement, after)
            at = check(url, done, expected)
            made, survived = made + 1, survived + at
    return survived


if __name__ == "__main__":
    asked, seed = (int(value) for value in [*sys.argv[1:], *["400", "1"][len(sys.argv) - 1 :]])
    with tempfile.TemporaryDirectory() as place:
        kept = run(asked, seed, Path(place), seconds=0.2)
    print(f"{asked} kills at random moments: {kept} events were there afterwards, none was lost")
