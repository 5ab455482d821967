"""Kills a writer under load again and again, and looks at what is left.

After each kill the store must be what its history says, led again in memory up to the last
operation that was acknowledged, or with the one that was under way as a whole. ``make crash`` runs
hundreds of them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import tempfile
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

import neardup as nd
from engines.index import load
from engines.index.postgres import running
from neardup.engines.index.store import open_store

# pyarrow imports pandas when it first makes an array
PRELOAD = [
    "numpy.random",
    "pandas",
    "psycopg",
    "neardup.methods.shingles",
    "neardup.engines.index.index",
]
LONGEST = 0.12  # seconds that a writer is left alone


@dataclass
class Tally:
    kills: int = 0
    acknowledged: int = 0
    early: int = 0  # before anything of this life was acknowledged
    whole: int = 0  # what was under way was stored, though no one was told
    undone: int = 0  # it was not stored
    documents: int = 0  # that were looked at, all together

    def __str__(self) -> str:
        return (
            f"{self.kills} kills, {self.early} of them before a first answer; "
            f"{self.acknowledged:,} operations acknowledged, none lost; of those under way "
            f"{self.whole} stored as a whole and {self.undone} not at all; "
            f"{self.documents:,} documents compared"
        )


def forked() -> Any:
    """Processes that begin with the imports done, from a server that has no threads."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    return context


def crash(url: str, kills: int, seed: int) -> Tally:
    tally, rng = Tally(), np.random.default_rng(seed)
    with load.opened("memory:") as twin:
        done = 0  # operations that the store has
        for _ in range(kills):
            last = _killed(
                url, seed, done, float(rng.uniform(0, LONGEST)), bool(rng.random() < 0.8)
            )
            tally.early += last is None
            told = done if last is None else last + 1
            tally.acknowledged += told - done
            for number in range(done, told):
                load.apply(twin, seed, number)
            done = told + _look(url, twin, seed, told, tally)
            tally.kills += 1
    return tally


def _killed(url: str, seed: int, first: int, seconds: float, settle: bool) -> int | None:
    """The last operation that was acknowledged. The time counts from the first answer, or from
    the birth of the process, so that it is killed while it opens the store too."""
    context = forked()
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=load.lead, args=(url, seed, first, theirs))
    process.start()
    theirs.close()
    last = ours.recv() if settle else None
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and ours.poll(left):
        last = ours.recv()
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    return _drained(ours, last)


def _drained(ours: Connection, last: int | None) -> int | None:
    with ours:
        while True:
            try:
                last = ours.recv()
            except (EOFError, OSError):  # a message that is cut off was never told
                return last


def _look(url: str, twin: nd.Index, seed: int, number: int, tally: Tally) -> int:
    """Whether operation ``number``, which was under way, is there."""
    with load.opened(url) as index:
        index.check("opens whatever is left")
        found = list(index)
        _check_reading(url, index)
    tally.documents += len(found)
    if found == list(twin):
        tally.undone += 1
        return 0
    load.apply(twin, seed, number)
    assert found == list(twin), f"operation {number} was stored in part, or one before it lost"
    tally.whole += 1
    return 1


def _check_reading(url: str, index: nd.Index) -> None:
    """To open is to read the documents of the window that can be matched, nothing else."""
    store = open_store(url)
    read = sum(1 for _ in store.changes(0, duplicates=False))
    store.close()
    assert read == index.stats()["matchable"] == index.stats()["kept"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=300, help="of each store")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running() as address:
        for url in (f"sqlite:{folder}/index.db", address):
            print(f"{url.partition(':')[0]}: {crash(url, given.kills, given.seed)}", flush=True)


if __name__ == "__main__":
    main()
