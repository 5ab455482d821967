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
import faulthandler
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any

from engines.index.postgres import running

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
SHARES = {"kill": 5, "power cut": 5}  # of the points; of the others 1
STAYS = {"disk full", "failing fsync"}  # every later call fails as well
HANGS_AFTER = 300  # seconds
ENDS = {"kill": -9, "power cut": 137}


def built(folder: Path) -> Path:
    """The library to preload; whoever builds neardup has a compiler."""
    made = folder / "shim.so"
    compiler = shutil.which(os.environ.get("CC", "cc")) or "gcc"
    command = [compiler, "-shared", "-fPIC", "-O1", str(HERE / "shim.c"), "-o", str(made), "-ldl"]
    subprocess.run(command, check=True)
    return made


def preloaded(arguments: Sequence[str], shim: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "faults.injection", *arguments]
    with running() as server:  # before the shim, which it must not meet
        environment = {**os.environ, "LD_PRELOAD": str(shim), "NEARDUP_SHIM": str(shim)}
        environment["NEARDUP_POSTGRES"] = server
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
    renew: Callable[[Path], None] | None = None  # makes what no copy of a folder holds
    kinds: tuple[str, ...] = tuple(KINDS)
    sockets: bool = False  # faults meet connections instead of files


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
    return {name: data for name, data in found.items() if not name.startswith(".")}  # locks


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
    """In batches of one, two … documents; each is noted when it is acknowledged."""
    import neardup as nd

    documents = [json.loads(line) for line in _rows(shards(folder)[1])]
    with nd.Index.open(_store(folder), create=False) as index:
        for size in range(1, 7):
            some, documents = documents[:size], documents[size:]
            index.add_many([one for one in some if one["id"] not in index])
            acknowledge(one["id"] for one in some)


def post_to_service(folder: Path) -> None:
    from web.service.serving import asked

    settings = {"words": 5, "threshold": 0.8}
    with asked(url=str(folder / "a.db"), **settings) as service:
        for line in _rows(shards(folder)[1])[:8]:
            answer = service.post("/v1/documents", json.loads(line))
            known = answer.status_code == 409 or "already" in answer.text
            if not known and answer.status_code >= 300:
                raise SystemExit(_sentence(answer.text))
            acknowledge([json.loads(line)["id"]])


def _sentence(answer: str) -> int:
    assert "Hint" in answer or "hint" in answer, answer
    return 1


def _store(folder: Path) -> str:
    named = folder / "url"
    return named.read_text() if named.exists() else str(folder / "a.db")


def new_on_server(folder: Path) -> None:
    """An index of its own for each point, in a real PostgreSQL."""
    url = f"{os.environ['NEARDUP_POSTGRES']}&index=faults_{os.getpid()}_{time.monotonic_ns()}"
    (folder / "url").write_text(url)
    neardup("index", "build", url, shards(folder)[0], "--method", "shingles", "--accept-rejected")


def index_ids(folder: Path) -> Any:
    import neardup as nd
    from neardup.engines.integrity import verify

    if faults := list(verify(_store(folder)).faults):
        return {"damaged": faults}
    names = [json.loads(line)["id"] for path in shards(folder)[:2] for line in _rows(path)]
    with nd.Index.open(_store(folder)) as index:
        return sorted(name for name in names if name in index)


ACKNOWLEDGED = "NEARDUP_ACKNOWLEDGED"  # names a file that no fault meets


def acknowledge(names: Iterable[str]) -> None:
    """What a user was told. It must be there whatever happens then."""
    with open(os.environ[ACKNOWLEDGED], "a", encoding="utf-8") as told:
        told.writelines(f"{name}\n" for name in names)


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
        acknowledge([f"b{n}"])


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
    Scenario("service", with_index, post_to_service, index_ids, subset),
    Scenario(
        "index add, PostgreSQL",
        write_shards,
        add_to_index,
        index_ids,
        subset,
        renew=new_on_server,
        kinds=("EIO on write", "short write", "kill"),
        sockets=True,
    ),
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
        self.acknowledged = root / "acknowledged"
        os.environ[ACKNOWLEDGED] = str(self.acknowledged)
        self._measured: dict[str, tuple[str, str, dict[str, int]]] = {}

    def child(self, do: Callable[[], Any], below: str, fault: tuple[str, int, int] | None) -> Any:
        """The exit code, what was printed to stderr, and what it found out."""
        told, error = self.root / "told", self.root / "stderr"
        told.unlink(missing_ok=True)
        number = os.fork()
        if number == 0:
            self._live(do, below, fault, told, error)
        code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
        found = json.loads(told.read_text()) if told.exists() else {"fired": 1}
        return code, error.read_text("utf-8", "replace"), found

    def _live(self, do: Callable[[], Any], below: str, fault: Any, told: Path, error: Path) -> None:
        os.dup2(os.open(error, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code, value = 0, None
        faulthandler.dump_traceback_later(HANGS_AFTER, exit=True)
        if fault:
            kind, call, seed = fault
            at = ctypes.c_long(call), int(kind in STAYS), ctypes.c_uint64(seed)
            self.shim.faults_arm(os.fsencode(below), KINDS[kind], *at)
        try:
            value = repr(do())
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException as raised:
            code = 1
            sys.stderr.write(f"{type(raised).__name__}: {raised}\n")
        sys.stderr.flush()
        calls = {kind: int(self.shim.faults_calls(number)) for kind, number in KINDS.items()}
        fired = int(self.shim.faults_fired())
        told.write_text(json.dumps({"value": value, "calls": calls, "fired": fired}))
        if fault and fault[0] == "power cut":
            self.shim.faults_end(code)
        os._exit(code)

    def warm(self) -> None:
        """Everything is imported once, in this process."""
        for scenario in SCENARIOS:
            place = self.root / "warm"
            place.mkdir()
            with (self.root / "printed").open("w") as printed, redirect_stdout(printed):
                scenario.prepare(place)
                if scenario.renew:
                    scenario.renew(place)
                scenario.act(place)
                scenario.seen(place)
            shutil.rmtree(place)

    def base(self, scenario: Scenario) -> Path:
        """The state before, made once."""
        place = self.root / "base" / scenario.name.replace(" ", "")
        if not place.exists():
            place.mkdir(parents=True)
            code, error, _ = self.child(lambda: scenario.prepare(place), str(place), None)
            assert code == 0, (scenario.name, error)
        return place

    def seen(self, scenario: Scenario, place: Path) -> Any:
        code, error, found = self.child(lambda: scenario.seen(place), str(place), None)
        assert code == 0, (scenario.name, error)
        return found["value"]

    def fresh(self, scenario: Scenario) -> Path:
        place = self.root / "at"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.base(scenario), place)
        if renew := scenario.renew:
            code, error, _ = self.child(lambda: renew(place), str(place), None)
            assert code == 0, (scenario.name, error)
        self.acknowledged.write_text("")
        return place

    def below(self, scenario: Scenario, place: Path) -> str:
        return "socket:" if scenario.sockets else str(place)

    def measured(self, scenario: Scenario) -> tuple[str, str, dict[str, int]]:
        """What is seen before and after, and at how many calls each kind of fault can come."""
        if scenario.name not in self._measured:
            place = self.fresh(scenario)
            before = self.seen(scenario, place)
            never = ("kill", 1 << 40, 1)
            below = self.below(scenario, place)
            code, error, found = self.child(lambda: scenario.act(place), below, never)
            assert code == 0, (scenario.name, error)
            after = self.seen(scenario, place)
            self._measured[scenario.name] = before, after, found["calls"]
        return self._measured[scenario.name]

    def point(self, scenario: Scenario, kind: str, call: int, seed: int) -> bool:
        """False if the fault did not come, because another order of threads needed fewer calls."""
        before, after, _ = self.measured(scenario)
        place, where = self.fresh(scenario), (scenario.name, kind, call, seed)
        fault = kind, call, seed
        code, error, found = self.child(
            lambda: scenario.act(place), self.below(scenario, place), fault
        )
        ended = code in (0, 1, 2, ENDS.get(kind, 0))
        raw = any(sign in error for sign in ("Traceback", "report it", "Timeout (", "Assertion"))
        assert ended and not raw, (where, code, error)  # noqa: PT018 (both are the end)
        acknowledged = self.acknowledged.read_text().split()
        now = self.seen(scenario, place)
        states = [ast.literal_eval(state) for state in (now, before, after)]
        assert scenario.holds(*states), (where, code, error, now[:2000], before[:500], after[:500])
        lost = set(acknowledged) - set(states[0] or ())
        assert not lost, (where, "acknowledged, but lost", lost)
        assert code != 0 or now == after, (where, "was acknowledged", now[:2000], after[:2000])
        if code != 0:  # who is told of a failure, or of nothing, gives the command again
            again, error, _ = self.child(lambda: scenario.act(place), str(place), None)
            done = self.seen(scenario, place)
            assert done == after, (where, again, error, done[:2000], after[:2000])
        if not found["fired"] and code == 0 and kind != "power cut":
            return False
        self.counts[scenario.name, kind] += 1
        return True


def spread(points: int, seed: int, only: str | None, minutes: float) -> Iterator[Bench]:
    """Points at seeded calls, spread over all scenarios and kinds; the bench after each of them."""
    rng = random.Random(seed)
    place = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=place) as root:
        bench = Bench(Path(root))
        bench.warm()
        turns = filter(None, (_turns(scenario, only, rng) for scenario in SCENARIOS))
        rounds = zip(*map(cycle, turns), strict=False)  # a point of each in turn
        end = time.monotonic() + 60 * minutes
        for scenario, kind in islice(chain.from_iterable(rounds), 20 * points):
            if calls := bench.measured(scenario)[2][kind]:
                call = rng.randint(1, calls + (kind == "power cut"))
                bench.point(scenario, kind, call, rng.getrandbits(32))
                yield bench
            if bench.counts.total() >= points or time.monotonic() > end:
                return


def _turns(scenario: Scenario, only: str | None, rng: random.Random) -> list[tuple[Scenario, str]]:
    """Kinds of faults by their shares, in a seeded order."""
    kinds = [kind for kind in scenario.kinds for _ in range(SHARES.get(kind, 1))]
    rng.shuffle(kinds)
    return [(scenario, kind) for kind in kinds if only in (None, scenario.name, kind)]


def note(bench: Bench, seconds: int) -> None:
    from recorded import record, table

    rows = []
    for scenario in SCENARIOS:
        row = [bench.counts[scenario.name, kind] for kind in KINDS]
        rows.append([f"`{scenario.name}`", *row])
    total = [sum(row[i] for row in rows) for i in range(1, len(KINDS) + 1)]
    lines = table(["at", *KINDS], [*rows, ["all", *total]])
    took = f"`make faults` made {sum(total):,} points in {seconds:,} seconds of processor time."
    record("faults", [*lines, "", took])


def main(points: int, seed: int, only: str | None, minutes: float, recorded: bool) -> None:
    bench = None
    for number, bench in enumerate(spread(points, seed, only, minutes), 1):
        if recorded and number % 100 == 0:
            note(bench, _seconds())
    if bench is not None:
        if recorded:
            note(bench, _seconds())
        counts = sorted(bench.counts.items())
        print(json.dumps({f"{name}: {kind}": count for (name, kind), count in counts}, indent=1))


def _seconds() -> int:
    used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return round(sum(of.ru_utime + of.ru_stime for of in used))


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
    main(given.points, given.seed, given.only, given.minutes, given.record)
