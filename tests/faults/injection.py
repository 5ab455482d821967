"""Faults of the disk, of memory and of the power, in commands that write.

This module is run as a program with ``shim.c`` preloaded. It forks one child for each fault, so
that a point costs what the command costs. After each fault a command must have ended with exit code
0 and the right content, or with an error in a sentence, a kill or a power cut; then what was
acknowledged before must be there, nothing half-written may be visible, and the same command, run
again without faults, must lead to the same content as if nothing had happened.

``make faults`` makes a thousand and writes the counts to ``docs/reliability.md``; the tests make a
few at seeded places.
"""

from __future__ import annotations

import argparse
import ast
import ctypes
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KINDS = {
    "EIO on write": 1,
    "disk full": 2,
    "short write": 3,
    "failing fsync": 4,
    "no memory": 5,
    "kill": 6,
    "power cut": 7,
}
STAYS = {"disk full", "failing fsync"}  # every later call fails as well
ENDS = {"kill": -9, "power cut": 137}


def built(folder: Path) -> Path:
    """The library to preload; whoever builds neardup has a compiler."""
    made = folder / "shim.so"
    compiler = shutil.which(os.environ.get("CC", "cc")) or "gcc"
    command = [compiler, "-shared", "-fPIC", "-O1", str(HERE / "shim.c"), "-o", str(made), "-ldl"]
    subprocess.run(command, check=True)
    return made


def preloaded(arguments: Sequence[str], shim: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LD_PRELOAD": str(shim), "NEARDUP_SHIM": str(shim)}
    command = [sys.executable, "-m", "faults.injection", *arguments]
    return subprocess.run(
        command, env=environment, cwd=HERE.parent, text=True, stdout=subprocess.PIPE
    )


@dataclass(frozen=True)
class Scenario:
    """``prepare`` makes the state before, ``act`` is what a fault meets, and ``seen`` tells what is
    there: ``None`` if it is damaged. ``holds`` compares what is seen after a fault with the states
    before and after."""

    name: str
    prepare: Callable[[Path], None]
    act: Callable[[Path], None]
    seen: Callable[[Path], Any]
    holds: Callable[[Any, Any, Any], bool] = lambda now, before, after: now in (before, after)


def neardup(*arguments: object) -> None:
    from neardup.cli import main

    main([str(argument) for argument in arguments], standalone_mode=False)


def run_again(folder: Path) -> Any:
    """What a run folder holds; None if there is none."""
    from engines.batch.killing import content
    from neardup.engines.integrity import verify

    out = folder / "out"
    if not out.exists():
        return None
    if faults := list(verify(str(out)).faults):
        return {"damaged": faults}
    found = content(out)
    found.pop("report.html")  # it names times in words, too
    return found


def shards(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.jsonl"))


def write_shards(folder: Path) -> None:
    from engines.batch.killing import write_shards as write

    write(folder, files=3, documents=20)


def with_run(folder: Path) -> None:
    write_shards(folder)
    options = ("--method", "shingles", "--action", "identical=drop", "--quiet")
    neardup("dedup", shards(folder)[0], "-o", folder / "out", *options)


def batch(*options: str) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        out = ("-o", folder / "out", "--quiet", "--accept-rejected")
        neardup("dedup", *shards(folder), "--method", "shingles", *out, *options)

    return act


def with_index(folder: Path) -> None:
    write_shards(folder)
    neardup("index", "build", folder / "a.db", shards(folder)[0], "--method", "shingles")


def add_to_index(folder: Path) -> None:
    neardup("index", "add", folder / "a.db", shards(folder)[1], "--accept-rejected")


def index_ids(folder: Path) -> Any:
    import neardup as nd
    from neardup.engines.integrity import verify

    if faults := list(verify(str(folder / "a.db")).faults):
        return {"damaged": faults}
    names = [json.loads(line)["id"] for path in shards(folder)[:2] for line in _rows(path)]
    with nd.Index.open(folder / "a.db") as index:
        return sorted(name for name in names if name in index)


def _rows(path: Path) -> list[str]:
    return [line for line in path.read_text("utf-8").splitlines() if line.startswith("{")]


def subset(now: Any, before: Any, after: Any) -> bool:
    """Nothing that was acknowledged is lost; some of the new may be there."""
    return isinstance(now, list) and set(before) <= set(now) <= set(after)


def with_items(folder: Path) -> None:
    write_shards(folder)
    (folder / "in").mkdir()
    for n, line in enumerate(_rows(shards(folder)[0])[:12]):
        (folder / "in" / f"{n}.txt").write_text(json.loads(line)["text"], "utf-8")


def watch(folder: Path) -> None:
    places = ("--forward", folder / "new", "--aside", folder / "old", "--index", folder / "a.db")
    neardup("watch", folder / "in", "--once", "--quiet", "--method", "qgrams", *places)


def items(folder: Path) -> Any:
    """The texts of all items, wherever they are: none is lost, none is there twice."""
    texts = [
        path.read_text("utf-8")
        for path in folder.rglob("*")
        if path.is_file() and "word" in path.read_bytes()[:200].decode("utf-8", "replace")
        if path.suffix != ".json" and not path.name.startswith(("part-", "a.db"))
    ]
    return sorted(texts)


def label(folder: Path) -> None:
    from neardup.labels.label_store import Label, LabelStore

    store = LabelStore(folder / "labels.jsonl")
    for n in range(6):
        store.add(Label("a", f"b{n}", "duplicate", "x"))


def labelled(folder: Path) -> Any:
    from neardup.labels.label_store import read_labels

    path = folder / "labels.jsonl"
    return sorted(label.pair.b for label in read_labels(path)) if path.exists() else []


def applied(folder: Path) -> Any:
    """The run as it was, and what was applied to it."""
    from neardup.engines.integrity import verify

    if faults := list(verify(str(folder / "out")).faults):
        return {"damaged": faults}
    paths = [p.relative_to(folder) for p in (folder / "out").rglob("*") if p.is_file()]
    shown = [p for p in paths if not any(part.startswith(".") for part in p.parts)]
    return sorted(path.as_posix() for path in shown)


def apply_policy(folder: Path) -> None:
    neardup("apply", folder / "out")


def with_applied(folder: Path) -> None:
    with_run(folder)
    apply_policy(folder)


SCENARIOS = (
    Scenario("dedup", write_shards, batch(), run_again),
    Scenario("dedup --resume", write_shards, batch("--resume"), run_again),
    Scenario("dedup --overwrite", with_run, batch("--overwrite"), run_again),
    Scenario("index add", with_index, add_to_index, index_ids, subset),
    Scenario("watch", with_items, watch, items, lambda now, before, _: now == before),
    Scenario("labels", write_shards, label, labelled, subset),
    Scenario("apply", with_run, apply_policy, applied),
    Scenario("undo", with_applied, lambda f: neardup("undo", f / "out"), applied),
)


class Bench:
    """Runs scenarios in children of this process, which has the shim preloaded."""

    def __init__(self, root: Path) -> None:
        self.root, self.shim = root, ctypes.CDLL(os.environ["NEARDUP_SHIM"])
        self.counts: Counter[tuple[str, str]] = Counter()

    def child(self, do: Callable[[], Any], place: Path, fault: tuple[str, int, int] | None) -> Any:
        """The exit code, what was printed to stderr, and what the function returned."""
        told, error = self.root / "told", self.root / "stderr"
        told.unlink(missing_ok=True)
        number = os.fork()
        if number == 0:
            self._live(do, place, fault, told, error)
        code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
        value = json.loads(told.read_text()) if told.exists() else None
        return code, error.read_text("utf-8", "replace"), value

    def _live(
        self, do: Callable[[], Any], place: Path, fault: Any, told: Path, error: Path
    ) -> None:
        os.dup2(os.open(error, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 0
        if fault:
            kind, call, seed = fault
            at = ctypes.c_long(call), int(kind in STAYS), ctypes.c_uint64(seed)
            self.shim.faults_arm(os.fsencode(place), KINDS[kind], *at)
        try:
            value = do()
            told.write_text(json.dumps([repr(value), self._calls()]))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException as raised:
            code = 1
            sys.stderr.write(f"{type(raised).__name__}: {raised}\n")
        sys.stderr.flush()
        if fault and fault[0] == "power cut":
            self.shim.faults_end(code)
        os._exit(code)

    def _calls(self) -> dict[str, int]:
        return {kind: int(self.shim.faults_calls(number)) for kind, number in KINDS.items()}

    def base(self, scenario: Scenario) -> Path:
        """The state before, made once."""
        place = self.root / "base" / scenario.name.replace(" ", "")
        if not place.exists():
            place.mkdir(parents=True)
            code, error, _ = self.child(lambda: scenario.prepare(place), place, None)
            assert code == 0, (scenario.name, error)
        return place

    def seen(self, scenario: Scenario, place: Path) -> Any:
        code, error, value = self.child(lambda: scenario.seen(place), place, None)
        assert code == 0, (scenario.name, error)
        return value[0]

    def fresh(self, scenario: Scenario) -> Path:
        place = self.root / "at"
        shutil.rmtree(place, ignore_errors=True)
        return Path(shutil.copytree(self.base(scenario), place))

    def measure(self, scenario: Scenario) -> tuple[str, str, dict[str, int]]:
        """What is seen before and after, and at how many calls each kind of fault can come."""
        place = self.fresh(scenario)
        before = self.seen(scenario, place)
        never = ("kill", 1 << 40, 1)
        code, error, value = self.child(lambda: scenario.act(place), place, never)
        assert code == 0, (scenario.name, error)
        return before, self.seen(scenario, place), value[1]

    def point(self, scenario: Scenario, kind: str, call: int, seed: int, states: Any) -> None:
        before, after = states
        place, where = self.fresh(scenario), (scenario.name, kind, call, seed)
        code, error, _ = self.child(lambda: scenario.act(place), place, (kind, call, seed))
        ended = code in (0, 1, 2, ENDS.get(kind, 0))
        raw = "Traceback" in error or "unexpected" in error
        assert ended and not raw, (where, code, error)  # noqa: PT018 (both are the end)
        now = self.seen(scenario, place)
        holds = scenario.holds(*map(ast.literal_eval, (now, before, after)))
        assert holds, (where, code, error, now[:2000], before[:500], after[:500])
        assert code != 0 or now == after, (where, "was acknowledged", now[:2000], after[:2000])
        if now != after:  # else it was done, although the last sync failed
            again, error, _ = self.child(lambda: scenario.act(place), place, None)
            done = self.seen(scenario, place)
            assert done == after, (where, again, error, done[:2000], after[:2000])
        self.counts[scenario.name, kind] += 1


def spread(points: int, seed: int, only: str | None, minutes: float) -> dict[str, Any]:
    """Points at seeded calls, spread over all scenarios and kinds."""
    import engines.batch.killing  # noqa: F401 (a child must not import)
    import neardup.engines.execution
    import neardup.engines.index.flow.flow
    import neardup.engines.index.index
    import neardup.engines.integrity  # noqa: F401

    rng = random.Random(seed)
    place = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=place) as root:
        bench = Bench(Path(root))
        pairs = [(s, k) for s in SCENARIOS for k in KINDS if only in (None, s.name, k)]
        measured: dict[str, tuple[str, str, dict[str, int]]] = {}
        rng.shuffle(pairs)
        done = tries = 0
        end = time.monotonic() + 60 * minutes
        while done < points and tries < 20 * points and time.monotonic() < end:
            scenario, kind = pairs[tries % len(pairs)]
            tries += 1
            if scenario.name not in measured:
                measured[scenario.name] = bench.measure(scenario)
            before, after, calls = measured[scenario.name]
            if calls[kind]:
                call = rng.randint(1, calls[kind] + (kind == "power cut"))
                bench.point(scenario, kind, call, rng.getrandbits(32), (before, after))
                done += 1
    return {f"{name}: {kind}": count for (name, kind), count in sorted(bench.counts.items())}


def note(counts: dict[str, int]) -> None:
    from recorded import record, table

    rows = []
    for scenario in SCENARIOS:
        row = [counts.get(f"{scenario.name}: {kind}", 0) for kind in KINDS]
        rows.append([f"`{scenario.name}`", *row])
    total = [sum(row[i] for row in rows) for i in range(1, len(KINDS) + 1)]
    record("faults", table(["at", *KINDS], [*rows, ["all", *total]]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="a scenario or a kind of fault")
    parser.add_argument("--minutes", type=float, default=600, help="no more points after these")
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    if "NEARDUP_SHIM" not in os.environ:
        with tempfile.TemporaryDirectory() as made:
            ended = preloaded(sys.argv[1:], built(Path(made)))
            print(ended.stdout)
            sys.exit(ended.returncode)
    found = spread(given.points, given.seed, given.only, given.minutes)
    print(json.dumps(found, indent=1))
    if given.record:
        note(found)
