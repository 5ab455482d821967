"""An index that begins with the kept documents of a run has all of them, or begins again."""

from __future__ import annotations

import os
import signal
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neardup as nd
from engines.index.kills import FORKS
from neardup.errors import InputError
from reference.run import collection

pytestmark = pytest.mark.kills
FLUSHED = 10


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "out"
    nd.dedup(collection(np.random.default_rng(1), 60), method="shingles").save(folder)
    return folder


def begin(url: Path, run: Path, statement: int) -> None:
    """The child: it dies when it comes to that statement of SQL."""
    from neardup.engines.index import arrivals

    left, connect = statement, sqlite3.connect

    def count(_: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def counted(*given: Any, **options: Any) -> sqlite3.Connection:
        made = connect(*given, **options)
        made.set_trace_callback(count)
        return made

    sqlite3.connect = counted  # type: ignore[assignment]
    arrivals.FLUSH_ROWS = FLUSHED
    nd.Index.open(url, run=run).close()


def killed(url: Path, run: Path, statement: int) -> bool:
    """Whether it came to that statement."""
    child = FORKS.Process(target=begin, args=(url, run, statement))
    child.start()
    child.join()
    assert child.exitcode in (0, -signal.SIGKILL)
    return child.exitcode != 0


def test_killed_while_it_begins(run: Path, tmp_path: Path) -> None:
    """Whoever opens it next has it whole: from what it was made with, where it was made."""
    with nd.Index.open("memory:", run=run) as whole:
        expected = [(entry.id, entry.decision) for entry in whole]
    assert len(expected) > 3 * FLUSHED
    made = 0
    for statement in range(3, 1000, 17):
        url = tmp_path / f"{statement}.db"
        died = killed(url, run, statement)
        known = nd.Index.exists(url)
        made += known
        with nd.Index.open(url) if known else nd.Index.open(url, run=run) as index:
            assert [(entry.id, entry.decision) for entry in index] == expected
        if not died:
            break
    assert made > 3


def test_a_run_that_is_gone(run: Path, tmp_path: Path) -> None:
    """The index works as long as it need not begin again."""
    moved = run.with_name("moved")
    run.rename(moved)
    with nd.Index.open(tmp_path / "index.db", run=moved) as index:
        count = len(index)
    moved.rename(run)
    with nd.Index.open(tmp_path / "index.db") as index:
        assert len(index) == count
    url = tmp_path / "other.db"
    assert killed(url, run, 40)
    run.rename(moved)
    with pytest.raises(InputError, match="not the folder of a finished run"):
        nd.Index.open(url)
    moved.rename(run)
