"""The same answer in threads, in forked and spawned processes, and beside an event loop."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import neardup as nd
from reference.scans import COLLECTION

TEXTS = COLLECTION[:40]


def kept() -> list[str]:
    found: list[str] = nd.dedup(TEXTS, method="shingles", threshold=0.6, workers=2).kept
    return found


def test_several_runs_in_threads_of_one_process() -> None:
    alone = kept()
    with ThreadPoolExecutor(4) as pool:
        assert [found.result() for found in [pool.submit(kept) for _ in range(8)]] == [alone] * 8


def test_runs_beside_an_event_loop() -> None:
    async def several() -> list[list[str]]:
        return await asyncio.gather(*(asyncio.to_thread(kept) for _ in range(3)))

    found: list[list[list[str]]] = []
    # A thread of its own: another test may have left a loop in this one.
    thread = threading.Thread(target=lambda: found.append(asyncio.run(several())))
    thread.start()
    thread.join()
    assert found == [[kept()] * 3]


SCRIPT = """
import multiprocessing, sys
from test_concurrency import kept

if __name__ == "__main__":
    alone = kept()  # pools of threads exist before the fork
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        assert pool.starmap(kept, [()] * 4) == [alone] * 4
    print("same")
"""


def test_runs_in_forked_and_spawned_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    for way in ["spawn"] if sys.platform in ("win32", "darwin") else ["fork", "spawn"]:
        done = subprocess.run(
            [sys.executable, str(script), way],
            env={"PYTHONPATH": str(Path(__file__).parent), "PATH": ""},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.stdout == "same\n", (way, done.stderr)


def test_readers_and_writers_of_one_index_in_threads(tmp_path: Path) -> None:
    with nd.Index.open(tmp_path / "a.db", method="shingles", threshold=0.6) as index:

        def write(begin: int) -> None:
            for n in range(begin, len(TEXTS), 2):
                index.add({"id": str(n), "text": TEXTS[n]})

        def look() -> int:
            return sum(index.check({"id": "new", "text": text}) is not None for text in TEXTS)

        with ThreadPoolExecutor(4) as pool:
            written = [pool.submit(write, begin) for begin in (0, 1)]
            seen = [pool.submit(look) for _ in range(2)]
            for done in (*written, *seen):
                done.result()
        assert all(str(n) in index for n in range(len(TEXTS)))
        assert look() == len(TEXTS)  # each is there, or a copy of it is
