"""``make quality``: every method on every set, the tables of docs/quality.md, and the floors."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from conftest import DATA
from quality import floors
from quality.runs import METHODS, measured_within
from quality.sets import SETS, Figures, digest
from quality.table import tables

MOST_SECONDS = 300


def main() -> int:
    asked = arguments()
    figures: dict[tuple[str, str], Figures] = {}
    wrong = []
    for name in asked.set or SETS:
        folder = DATA / name
        if not folder.is_dir():
            sys.exit(f"{folder} is not there. Hint: NEARDUP_DATA names the folder of real data.")
        for method in asked.method or METHODS:
            made = timed(method, folder, asked.seconds)
            figures[method, name] = made
            if problem := floors.gate(name, digest(folder), method, made):
                wrong.append(problem)
    print(tables(figures))
    for problem in wrong:
        print(problem, file=sys.stderr)
    return 1 if wrong else 0


def timed(method: str, folder: Path, seconds: float) -> Figures:
    begin = time.monotonic()
    made = measured_within(seconds, method, folder)
    said = f"{folder.name:<20}{method:<24}{time.monotonic() - begin:6.1f} s  "
    print(said, made or "unfinished", file=sys.stderr, flush=True)
    return {floors.UNFINISHED: seconds} if made is None else made


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m quality", description=__doc__)
    parser.add_argument("--method", action="append", help="only this one; may be repeated")
    parser.add_argument("--set", action="append", choices=SETS, help="only this one")
    parser.add_argument("--seconds", type=float, default=MOST_SECONDS, help="for one run at most")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
