"""Kills ``neardup dedup --resume`` at random moments, again and again, until it comes to its end.

Every finished run must have the same bytes as one that nobody disturbed, and until then there must
be no output. Half of the kills come at a call of the system that writes (fsync, rename …), the
others after a random processor time. ``python -m engines.batch.killing --kills 500`` records a long
run (``make kills``); the tests make a short one.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import neardup.engines.execution
import neardup.runs.annotation  # noqa: F401 (a child must not import)
from neardup.cli import dedup as _dedup  # noqa: F401
from neardup.cli import main

CALLS = ("fsync", "rename", "replace", "unlink", "rmdir", "mkdir")
MOST_CALLS, MOST_SECONDS = 80, 0.4
_TIMINGS = re.compile(rb"[\d.]+ ?(?:s|ms|MB|GB)\b")


def write_shards(folder: Path, seed: int = 0, files: int = 6, documents: int = 40) -> list[Path]:
    rng = random.Random(seed)
    words = [f"word{n}" for n in range(3000)]
    texts = [rng.choices(words, k=80) for _ in range(files * documents // 2)]
    paths = [folder / f"part-{n}.jsonl" for n in range(files)]
    for n, path in enumerate(paths):
        rows = []
        for i in range(documents):
            text = [*rng.choice(texts)]
            text[rng.randrange(80)] = "edited"
            rows.append(json.dumps({"id": f"{n}-{i}", "text": " ".join(text)}))
        rows.insert(7, "no json")
        path.write_text("\n".join(rows) + "\n", "utf-8")
    return paths


def content(folder: Path) -> dict[str, Any]:
    """Everything but times and memory, and the checksums of what has them."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name == "run.json":
            info = json.loads(path.read_bytes())
            found[name] = {**info, "timings": sorted(info["timings"]), "peak_memory": None}
        elif name == "checksums.sha256":
            found[name] = [line.split()[1] for line in path.read_text().splitlines()]
        elif name == "report.html":
            found[name] = _TIMINGS.sub(b"", path.read_bytes())
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def child(command: Sequence[str], at: int | None, seconds: float | None) -> int:
    """The exit code of the command in a process of its own; negative where it was killed."""
    number = os.fork()
    if number:
        return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (the process ends with it)
    if at is not None:
        _die_at(at)
    if seconds is not None:
        signal.setitimer(signal.ITIMER_PROF, seconds)  # ends the process, without a word
    try:
        main(list(command), standalone_mode=False)
    except BaseException:
        os._exit(1)
    os._exit(0)


def _die_at(call: int) -> None:
    calls = itertools.count(1)

    def dying(function: Any) -> Any:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            if next(calls) == call:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)

        return wrapped

    for name in CALLS:
        setattr(os, name, dying(getattr(os, name)))


def finish(rng: random.Random, command: Sequence[str], out: Path, kills: int) -> int:
    """Kills the command up to ``kills`` times, then lets it end; the number of kills."""
    killed = 0
    while killed < kills:
        by_call = rng.random() < 0.5
        at = rng.randrange(1, MOST_CALLS) if by_call else None
        seconds = None if by_call else rng.uniform(0.01, MOST_SECONDS)
        code = child(command, at, seconds)
        if code == 0:
            return killed
        if code > 0:
            raise AssertionError(f"exit code {code} after {killed} kills")
        killed += 1
        if out.exists() and not (out / "run.json").exists():
            raise AssertionError("there is half a run")
        if out.exists():  # it was published, and killed while it cleaned up
            return killed
    if child(command, None, None) != 0:
        raise AssertionError("an undisturbed run failed")
    return killed


def record(kills: int, seed: int, *, most: int = 6) -> dict[str, int]:
    rng, done, runs = random.Random(seed), 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shards = [str(path) for path in write_shards(folder)]
        if child(["dedup", *shards, "-o", str(folder / "whole")], None, None) != 0:
            raise AssertionError("an undisturbed run failed")
        expected = content(folder / "whole")
        while done < kills:
            out = folder / "out"
            command = ["dedup", *shards, "-o", str(out), "--resume"]
            done += finish(rng, command, out, rng.randint(1, min(most, kills - done)))
            runs += 1
            found = content(out)
            differ = [n for n in {**found, **expected} if found.get(n) != expected.get(n)]
            if differ:
                raise AssertionError(f"seed {seed}, run {runs}: other content in {differ}")
            shutil.rmtree(out)
            for left in folder.glob(".out*"):
                shutil.rmtree(left) if left.is_dir() else left.unlink()
    return {"kills": done, "runs": runs}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(json.dumps(record(given.kills, given.seed)))
