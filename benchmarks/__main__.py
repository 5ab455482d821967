"""`python -m benchmarks`: run the rows, print the tables, keep the figures as JSON if asked.

neardup is measured at every level of instructions that the machine has, AVX2 first: most users have
it and nothing beyond.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import coming_from, corpus, launch, peers, quality, recorded, recorder, table
from benchmarks.corpus import WORK, Corpus, MissingError
from benchmarks.peers import PEERS
from neardup.methods import registry

ROWS = {
    "signatures": "text in memory → 128 MinHash values of word 5-shingles, one core",
    "dedup": "JSONL → decisions at Jaccard ≥ 0.8, one core",
    "workers": "the same, all cores",
    "default": "`neardup dedup FILE -o OUT` and its usual variants, all that they write included",
    "command": "`neardup dedup --method shingles` on one core, start-up and kept files included",
    "lookup": "one text asked of an index of all, shingles and signature included, one core",
    "simhash": "text in memory → 64-bit SimHash of words and the keys of an index, one core",
    "levels": "text in memory → features, MB a second by level of instructions, one core",
    "group": "a ranked list of 500 results → its groups, one core",
    "methods": "JSONL → all pairs by every method with its defaults, one core",
    "quality": "pairs against the exact Jaccard",
    "help": "`neardup --help`",
    "coming_from": "the blocks of docs/coming-from.md",
}
TIMED = [row for row in ROWS if row != "coming_from"]
SIDES = [*(side for side, peer in PEERS.items() if peer.timed), "neardup"]
FAST = [side for side in SIDES if side == "neardup" or not PEERS[side].slow]
SIMHASHES = ["gaoya", "neardup"]
LOOK_UPS = ["gaoya", "rensa", "fastsketchlsh", "datasketch", "neardup"]
HELP_RUNS = 5
USUAL = "avx2"  # what most users have
# Methods whose whole command is measured beside the default.
BESIDE = ["shingles", "learned"]


class Bench:
    """One corpus, one set of sides, and everything that was measured."""

    def __init__(self, made: Corpus, *, sides: list[str], levels: list[str], repeat: int) -> None:
        self.corpus, self.sides, self.levels, self.repeat = made, sides, levels, repeat
        self.results: dict[str, Any] = {}
        self.broken: dict[str, str] = {}

    def signatures(self) -> str:
        def once(side: str, level: str) -> Any:
            return self._run(side, "signatures", self.corpus.parquet, level=level)

        return self._speed("signatures", self._take_turns(once))

    def dedup(self) -> str:
        def once(side: str, level: str) -> Any:
            if side == "neardup":
                return self._run(side, "decide", self.corpus.jsonl, 1, level=level)
            return self._run(side, "dedup", self.corpus.jsonl, self._out(side))

        return self._speed("dedup", self._take_turns(once))

    def workers(self) -> str:
        cores = tuple(sorted(os.sched_getaffinity(0)))
        ask = ["decide", self.corpus.jsonl, len(cores)]
        return self._speed("workers", self._at_levels(*ask, cores=cores))

    def command(self) -> str:
        ask = ["dedup", self.corpus.jsonl, self._out("neardup"), 1]
        return self._speed("command", self._at_levels(*ask))

    def default(self) -> str:
        """On one core at every level, then on all cores, then the methods beside it."""
        cores = tuple(sorted(os.sched_getaffinity(0)))
        ask = ["default", self.corpus.jsonl, self._out("neardup")]
        first = self.levels[:1]
        runs = self._at_levels(*ask, 1)
        runs += self._at_levels(*ask, len(cores), cores=cores, levels=first)
        runs += [run for name in BESIDE for run in self._at_levels(*ask, 1, name, levels=first)]
        self.results["default"] = runs
        return table.commands(ROWS["default"], runs, self.results.get("dedup", []))

    def lookup(self) -> str:
        """neardup tells the best match, verified; the others list what they find."""
        turns = [turn for turn in self._turns if turn[0] in LOOK_UPS]
        self.results["lookup"] = [
            self._run(side, "lookup", self.corpus.parquet, level=level) for side, level in turns
        ]
        return table.lookup(ROWS["lookup"], self.results["lookup"])

    def simhash(self) -> str:
        turns = [turn for turn in self._turns if turn[0] in SIMHASHES] * self.repeat
        runs = [
            self._run(side, "simhash", self.corpus.parquet, level=level) for side, level in turns
        ]
        return self._speed("simhash", runs)

    def levels(self) -> str:
        self.results["levels"] = self._run("neardup", "levels", self.corpus.parquet)
        return table.levels(ROWS["levels"], self.results["levels"])

    def group(self) -> str:
        self.results["group"] = self._run("neardup", "group", self.corpus.parquet)
        return table.group(ROWS["group"], self.results["group"])

    def methods(self) -> str:
        """Recall is that of pairs at Jaccard ≥ 0.8, whatever the method itself asks for."""
        truth = corpus.make_truth(self.corpus, peers.common)
        found = {}
        for name in registry.METHODS:
            out = self._out("neardup").with_name(f"{name}-{self.corpus.docs}")
            run = self._run("neardup", "find", self.corpus.jsonl, out, 1, name)
            found[name] = run if "error" in run else {**run, **quality.of_run(out, truth)}
        self.results["methods"] = found
        return table.methods(ROWS["methods"], found)

    def quality(self) -> str:
        truth = corpus.make_truth(self.corpus, peers.common)
        found = {side: self._quality(side, truth) for side in self.sides}
        self.results["quality"] = found
        return table.quality(found)

    def help(self) -> str:
        self.results["help"] = [self._run("neardup", "help") for _ in range(HELP_RUNS)]
        return table.help_time(self.results["help"])

    def coming_from(self) -> str:
        """Only if asked for: it says what tools print, not how fast they are."""
        blocks = coming_from.blocks(coming_from.PAGE.read_text("utf-8"))
        self.results["coming_from"] = [coming_from.run(block) for block in blocks]
        return table.coming_from(ROWS["coming_from"], self.results["coming_from"])

    def _quality(self, side: str, truth: Path) -> Any:
        out = self._out(side)
        if side != "neardup":
            if not out.exists():
                return {"error": "no clusters: its dedup row failed or was not run"}
            return quality.of_clusters(out, truth)
        run = self._run(side, "find", self.corpus.jsonl, out, "1")
        return run if "error" in run else {**run, **quality.of_run(out, truth)}

    @property
    def _turns(self) -> list[tuple[str, str]]:
        """Each side with the level it is measured at; peers choose theirs."""
        return [
            (side, level)
            for side in self.sides
            for level in (self.levels if side == "neardup" else [""])
        ]

    def _take_turns(self, once: Callable[[str, str], Any]) -> list[Any]:
        return [once(*turn) for _ in range(self.repeat) for turn in self._turns]

    def _at_levels(
        self, *ask: object, cores: tuple[int, ...] = (0,), levels: list[str] | None = None
    ) -> list[Any]:
        return [
            self._run("neardup", *ask, cores=cores, level=level)
            for _ in range(self.repeat)
            for level in levels or self.levels
        ]

    def _run(
        self, side: str, *arguments: object, cores: tuple[int, ...] = (0,), level: str = ""
    ) -> Any:
        if side in self.broken:
            return {"side": side, "error": self.broken[side]}
        try:
            python = Path(sys.executable) if side == "neardup" else peers.make(side)
            ask = [str(argument) for argument in arguments]
            line = launch.run(python, side, ask, cores=cores, level=level)
            line = {**line, "level": level, "cores": len(cores)}
        except peers.InstallError as error:
            self.broken[side] = str(error)
            line = {"side": side, "error": str(error)}
        print(json.dumps(line), file=sys.stderr, flush=True)
        return line

    def _out(self, side: str) -> Path:
        name = f"{side}-{self.corpus.docs}"
        return WORK / "out" / (name if side == "neardup" else f"{name}.npz")

    def _speed(self, row: str, runs: list[Any]) -> str:
        self.results[row] = runs
        return table.speed(ROWS[row], runs)


def levels_of_machine() -> list[str]:
    """Those that this machine has: the usual one first, then the others, the best first."""
    from neardup import _native

    names = list(reversed(_native.INSTRUCTIONS))
    return sorted(names, key=lambda name: name != USUAL)


def machine() -> str:
    """Processor, cores and how busy it is already: a figure without them says little."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.machine()
    return f"{model}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--docs", type=int, default=corpus.FULL, metavar="N", help="a few hundred try everything"
    )
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=TIMED, metavar="ROW")
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=FAST, metavar="SIDE")
    parser.add_argument(
        "--levels",
        nargs="+",
        choices=levels_of_machine(),
        default=levels_of_machine(),
        metavar="LEVEL",
        help="of instructions; the first is the one that peers are compared with",
    )
    parser.add_argument("--slow", action="store_true", help="all sides, those of minutes too")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each figure (best counts)")
    parser.add_argument(
        "--record", metavar="MACHINE", help="put the figures into recorded.toml, as of that machine"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every run there")
    return parser.parse_args(arguments)


def _asked_for(options: argparse.Namespace) -> list[str]:
    rows = [] if options.rows == TIMED else ["--rows", *options.rows]
    sides = [] if options.sides == FAST else ["--sides", *options.sides]
    docs = [] if options.docs == corpus.FULL else ["--docs", str(options.docs)]
    return [*docs, *rows, *sides, "--repeat", str(options.repeat)]


def main() -> None:
    options, load = parse(), os.getloadavg()[0]
    try:
        if options.rows == ["coming_from"]:  # needs no corpus
            made = Corpus(options.docs)
        else:
            made = corpus.make(options.docs, peers.common)
            made.warm()
        sides = SIDES if options.slow else options.sides
        bench = Bench(made, sides=sides, levels=options.levels, repeat=options.repeat)
        bench.results |= {"machine": machine(), "docs": options.docs}
        print(f"## {options.docs:,} documents · {bench.results['machine']}\n")
        for row in options.rows:
            print(getattr(bench, row)(), flush=True)
    except MissingError as missing:
        sys.exit(str(missing))
    if options.record:
        recorder.record(
            recorded.FILE,
            bench.results,
            options.record,
            command="python -m benchmarks " + " ".join(_asked_for(options)),
            beside=f"the load of the machine was {load:.1f} when it began",
        )
    if options.json:
        options.json.write_text(json.dumps(bench.results, indent=1) + "\n")


if __name__ == "__main__":
    main()
