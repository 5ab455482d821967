"""``make load``: days of a flow in an index, in a clock that runs faster, with kills in between.

Every simulated minute some documents come, a third of them copies of earlier ones, and every
document is checked before it is added. A life of the index lasts some simulated hours; then its
process kills itself, and the next one goes on. After each kill every document that was acknowledged
and is still in the window must be in the index. The memory of the processes at the end of their
lives, and the times of checks and adds, are written to ``docs/reliability.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, TextIO

import numpy as np

import neardup as nd
from recorded import record, table

START = 1_700_000_000.0
WINDOW_HOURS = 24
WORDS = [f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in "lmnrstz"]


def text_of(number: int) -> str:
    """A third are copies of one of the last thousand, with a word changed."""
    rng = random.Random(number)
    copied = number
    if number > 3 and rng.random() < 0.33:
        copied -= rng.randint(1, min(1000, number))
    words = random.Random(-copied).choices(WORDS, k=120)
    for _ in range(copied != number):
        words[rng.randrange(120)] = "changed"
    return " ".join(words)


def live(path: Path, first: int, last: int, an_hour: int, told: TextIO) -> None:
    """Documents ``first`` to ``last``; tells each that is acknowledged, then dies."""
    now = START
    window = f"{WINDOW_HOURS}h"
    with nd.Index.open(path, method="shingles", window=window, clock=lambda: now) as index:
        for number in range(first, last):
            now = START + number * 3600 / an_hour
            document = {"id": str(number), "text": text_of(number)}
            begun = time.perf_counter()
            index.check(document)
            checked = time.perf_counter()
            match = index.add(document)
            ended = time.perf_counter()
            row = [number, match is not None, checked - begun, ended - checked]
            told.write(json.dumps(row) + "\n")
            told.flush()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        told.write(json.dumps(["memory", memory]) + "\n")
        told.flush()
        os.kill(os.getpid(), signal.SIGKILL)


def missing(path: Path, acknowledged: list[int], an_hour: int) -> int:
    """Documents of the window that the index lost."""
    if not acknowledged:
        return 0
    last = max(acknowledged)
    now = START + last * 3600 / an_hour
    oldest = last - (WINDOW_HOURS - 1) * an_hour
    with nd.Index.open(path, clock=lambda: now) as index:
        return sum(str(n) not in index for n in acknowledged if n > oldest)


def days(hours: int, an_hour: int, life_hours: int) -> dict[str, Any]:
    times: list[list[float]] = []
    memory: list[float] = []
    lost = kills = duplicates = 0
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "index.db"
        for begin in range(0, hours, life_hours):
            first, last = begin * an_hour, min(begin + life_hours, hours) * an_hour
            out = Path(name) / "told"
            command = [sys.executable, "-m", "engines.index.days", "--life", str(path), str(first)]
            with out.open("w") as told:
                pid = os.fork()
                if pid == 0:
                    os.dup2(told.fileno(), 1)
                    os.execv(sys.executable, [*command, str(last), str(an_hour)])
                os.waitpid(pid, 0)
            kills += 1
            rows = [json.loads(line) for line in out.read_text().splitlines()]
            memory += [row[1] for row in rows if row[0] == "memory"]
            rows = [row for row in rows if row[0] != "memory"]
            duplicates += sum(row[1] for row in rows)
            times += [row[2:] for row in rows]
            lost += missing(path, [row[0] for row in rows], an_hour)
            print(f"{begin + life_hours} h, {memory[-1]:.0f} MB", file=sys.stderr)
    checks, adds = (np.array(times)[:, i] * 1000 for i in (0, 1))
    full = memory[WINDOW_HOURS // life_hours :] or memory
    return {
        "simulated hours": hours,
        "documents an hour": an_hour,
        "documents": len(times),
        "duplicates": duplicates,
        "kills": kills,
        "acknowledged documents lost": lost,
        "p50 of a check, ms": f"{np.percentile(checks, 50):.2f}",
        "p99 of a check, ms": f"{np.percentile(checks, 99):.2f}",
        "p99 of an add, ms": f"{np.percentile(adds, 99):.2f}",
        "memory when the window is first full, MB": round(full[0]),
        "memory at the end, MB": round(full[-1]),
        "highest memory, MB": round(max(memory)),
    }


if __name__ == "__main__":
    if "--life" in sys.argv:
        at = sys.argv.index("--life")
        place, *numbers = sys.argv[at + 1 :]
        live(Path(place), *map(int, numbers), sys.stdout)
    parser = argparse.ArgumentParser()
    parser.add_argument("--hours", type=int, default=72)
    parser.add_argument("--an-hour", type=int, default=4000)
    parser.add_argument("--life-hours", type=int, default=6)
    given = parser.parse_args()
    found = days(given.hours, given.an_hour, given.life_hours)
    print(json.dumps(found, indent=1))
    record("load", table(["", "measured"], found.items()))
