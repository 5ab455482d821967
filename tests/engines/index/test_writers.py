"""Several processes on one store: as if one had done it all, whoever is killed."""

from __future__ import annotations

import os
import signal
import sqlite3
from typing import Any

import numpy as np
import pytest

import neardup as nd
from engines.index import crashing, load

pytestmark = pytest.mark.kills
KEPT = {"method": "shingles", "words": 2, "threshold": 0.5, "min_words": 3}


def documents(writer: int, count: int) -> list[load.Document]:
    """The same texts for every writer, in an order of its own."""
    rng = np.random.default_rng(0)
    texts = [load.text(rng) for _ in range(count)]
    order = np.random.default_rng([1, writer]).permutation(count)
    return [{"id": f"{writer}-{i}", "text": texts[i]} for i in order]


def written(url: str, killed: int | None = None) -> list[load.Told]:
    """What four writers were told, one of them killed after a few answers."""
    context = crashing.forked()
    start = context.Barrier(4)
    pipes, processes = [], []
    for writer in range(4):
        ours, theirs = context.Pipe(duplex=False)
        arguments = (url, documents(writer, 100), theirs, start)
        processes.append(context.Process(target=load.add_all, args=arguments))
        processes[-1].start()
        theirs.close()
        pipes.append(ours)
    told: list[load.Told] = [[] for _ in pipes]
    if killed is not None:
        told[killed] += [answer for _ in range(5) for answer in pipes[killed].recv()]
        os.kill(processes[killed].pid, signal.SIGKILL)
    for writer, ours in enumerate(pipes):
        while (answers := received(ours)) is not None:
            told[writer] += answers
    for writer, process in enumerate(processes):
        process.join()
        assert process.exitcode == (-signal.SIGKILL if writer == killed else 0)
    return told


def received(ours: Any) -> load.Told | None:
    try:
        found: load.Told = ours.recv()
    except (EOFError, OSError):
        ours.close()
        return None
    return found


@pytest.mark.parametrize("killed", [None, 2])
def test_four_writers_at_once(durable: str, killed: int | None) -> None:
    told = written(durable, killed)
    with load.opened(durable, window=None, date=None) as index:
        entries = list(index)
    of = {entry.id: entry.kept_id for entry in entries}
    assert {answer for answers in told for answer in answers} <= set(of.items())
    if killed is None:
        assert len(entries) == 400
    assert {len(answers) for writer, answers in enumerate(told) if writer != killed} == {100}
    with load.opened("memory:", window=None, date=None) as alone:
        replayed = [alone.add({"id": e.id, "text": e.text}) for e in entries]
        assert [match and match.of for match in replayed] == [entry.kept_id for entry in entries]
    kept = [{"id": e.id, "text": e.text} for e in entries if e.decision == "kept"]
    assert len(nd.dedup(kept, keep="first", **KEPT).duplicates) == 0


def test_killed_a_dozen_times(durable: str) -> None:
    """``make crash`` does it hundreds of times."""
    tally = crashing.crash(durable, kills=12, seed=7)
    assert tally.kills == 12
    assert tally.acknowledged >= 6
    if durable.startswith("sqlite:"):
        with sqlite3.connect(durable.removeprefix("sqlite:")) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        db.close()
