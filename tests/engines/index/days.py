"""``make load``: days of a flow in an index, in a clock that runs faster, with kills in between.

A third of the documents are copies of earlier ones. Every document is checked by itself, and those
of a simulated minute are added together, as a watched folder or a stream adds what has come; the
first of each hour are added one by one. A life of the index lasts some simulated hours. Then it
answers 1,000 checks a second for some seconds of real time, the time of each counted from the
moment when it was due, and is killed while it adds. The next process goes on. After each kill every
document that was acknowledged and is still in the window must be in the index. What was measured is
written to ``docs/reliability.md``.
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
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

import neardup as nd
from recorded import record, table

START = 1_700_000_000.0
WINDOW_HOURS = 24
CHECKS_A_SECOND = 1000
ALONE = 20  # documents of an hour that are added one by one
WORDS = [f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in "lmnrstz"]


class Flow(NamedTuple):
    hours: int
    an_hour: int
    life_hours: int
    seconds: int  # of 1,000 checks each, at the end of a life

    def time_of(self, number: int) -> float:
        return START + number * 3600 / self.an_hour

    def batches(self, first: int, last: int) -> Iterator[range]:
        """Documents that are added together."""
        while first < last:
            alone = first % self.an_hour < ALONE
            size = 1 if alone else max(1, self.an_hour // 60)
            yield range(first, min(first + size, last))
            first += size


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


def document(number: int) -> dict[str, str]:
    return {"id": str(number), "text": text_of(number)}


def live(path: Path, first: int, last: int, flow: Flow, told: TextIO) -> None:
    """Documents ``first`` to ``last``; tells each that is acknowledged, and dies with the last."""
    now = flow.time_of(first)
    with nd.Index.open(
        path, method="shingles", window=f"{WINDOW_HOURS}h", clock=lambda: now
    ) as index:
        for batch in flow.batches(first, last):
            now = flow.time_of(batch[-1])
            documents = [document(number) for number in batch]
            checks = [_timed(lambda one=one: index.check(one)) for one in documents]
            new = [one for one in documents if one["id"] not in index]
            if batch.stop >= last:
                tell(told, memory=_memory(), due=list(paced(index, last, flow.seconds)))
                _die_soon()
            took = _timed(lambda new=new: index.add_many(new))
            tell(told, begin=batch.start, end=batch.stop, checks=checks, add=took)
    time.sleep(60)


def tell(told: TextIO, **what: Any) -> None:
    told.write(json.dumps(what) + "\n")
    told.flush()


def _timed(do: Any) -> float:
    begun = time.perf_counter()
    do()
    return time.perf_counter() - begun


def paced(index: nd.Index, last: int, seconds: int) -> Iterator[float]:
    """How long after it was due each check was answered; half are of documents that are there."""
    asked = [document(last - n if n % 2 else last + n) for n in range(200)]
    begin = time.perf_counter()
    for n in range(seconds * CHECKS_A_SECOND):
        due = begin + n / CHECKS_A_SECOND
        time.sleep(max(0.0, due - time.perf_counter()))
        index.check(asked[n % len(asked)])
        yield time.perf_counter() - due


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _die_soon() -> None:
    """Some milliseconds later, while documents are added."""
    kill = threading.Timer(random.random() * 0.02, os.kill, (os.getpid(), signal.SIGKILL))
    kill.daemon = True
    kill.start()


def missing(path: Path, acknowledged: int, flow: Flow) -> int:
    """Documents of the window that the index lost; all up to this one were acknowledged."""
    oldest = max(0, acknowledged - (WINDOW_HOURS - 1) * flow.an_hour)
    with nd.Index.open(path, clock=lambda: flow.time_of(acknowledged)) as index:
        return sum(str(number) not in index for number in range(oldest, acknowledged))


def days(flow: Flow) -> dict[str, Any]:
    checks: list[float] = []
    due: list[float] = []
    adds: dict[bool, list[float]] = {True: [], False: []}  # by whether one was added alone
    memory: list[float] = []
    lost = kills = first = 0
    with tempfile.TemporaryDirectory() as name:
        path, out = Path(name) / "index.db", Path(name) / "told"
        for end in range(flow.life_hours, flow.hours + 1, flow.life_hours):
            numbers = map(str, (first, end * flow.an_hour, *flow))
            with out.open("w") as told:
                pid = os.fork()
                if pid == 0:
                    os.dup2(told.fileno(), 1)
                    command = [sys.executable, "-m", "engines.index.days", "--life", str(path)]
                    os.execv(sys.executable, [*command, *numbers])
                kills += os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
            for row in map(json.loads, out.read_text().splitlines()):
                if "memory" in row:
                    memory.append(row["memory"])
                    due += row["due"]
                else:
                    checks += row["checks"]
                    adds[row["end"] - row["begin"] == 1].append(row["add"])
                    first = row["end"]
            lost += missing(path, first, flow)
            print(f"{end} h, {memory[-1]:.0f} MB, {lost} lost", file=sys.stderr, flush=True)
    full = memory[WINDOW_HOURS // flow.life_hours - 1 :]
    return {
        "simulated hours": flow.hours,
        "documents an hour": flow.an_hour,
        "documents acknowledged": first,
        "kills, up to 20 ms after an add began": kills,
        "acknowledged documents lost": lost,
        "p50 of a check, ms": _percentile(checks, 50),
        "p99 of a check, ms": _percentile(checks, 99),
        f"checks at {CHECKS_A_SECOND:,} a second of real time": len(due),
        "p50 from when they were due, ms": _percentile(due, 50),
        "p99 from when they were due, ms": _percentile(due, 99),
        "p99 of an add of one document, ms": _percentile(adds[True], 99),
        f"p99 of an add of {flow.an_hour // 60} documents, ms": _percentile(adds[False], 99),
        "memory when the window is first full, MB": round(full[0]),
        "memory at the end, MB": round(full[-1]),
        "highest memory, MB": round(max(memory)),
        "seconds of processor time": _seconds(),
    }


def _percentile(seconds: list[float], share: int) -> str:
    return f"{np.percentile(seconds, share) * 1000:.2f}"


def _seconds() -> int:
    used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return round(sum(of.ru_utime + of.ru_stime for of in used))


if __name__ == "__main__":
    if "--life" in sys.argv:
        at = sys.argv.index("--life")
        place, begin, end, *numbers = sys.argv[at + 1 :]
        live(Path(place), int(begin), int(end), Flow(*map(int, numbers)), sys.stdout)
    parser = argparse.ArgumentParser()
    parser.add_argument("--hours", type=int, default=72)
    parser.add_argument("--an-hour", type=int, default=4000)
    parser.add_argument("--life-hours", type=int, default=6)
    parser.add_argument("--seconds", type=int, default=10)
    given = parser.parse_args()
    found = days(Flow(given.hours, given.an_hour, given.life_hours, given.seconds))
    print(json.dumps(found, indent=1))
    record("load", table(["", "measured"], found.items()))
