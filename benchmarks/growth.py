"""How the work of methods grows with the collection, on every content of the zoo (`zoo.py`).

    python -m benchmarks.growth [--method NAME]… [--content NAME]… [--most DOCUMENTS] [--json FILE]

Sizes are quadrupled up to `--most`, each run in a process of its own on one core. The table has,
for each method and content, CPU seconds at each size, the exponent of the last step, candidates a
document of the first and the last run, the share of documents that were capped, and the peak memory
of the last run. The numbers of candidates do not depend on the machine;
`tests/benchmarks/test_growth.py` bounds them.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import neardup as nd
from benchmarks import zoo

METHODS = [
    *("raregrams", "shingles", "rareshingles", "learned"),
    *("qgrams", "spotsigs", "keywords", "termvector"),
]
FIRST, MOST = 1_250, 80_000
STEP = 4
LIMIT = 600  # seconds of CPU time after which a run is given up


class Work(NamedTuple):
    method: str
    content: str
    documents: int
    candidates: int
    capped: int
    duplicates: int
    seconds: float
    megabytes: int


def work(method: str, content: str, documents: int) -> Work:
    texts = zoo.texts(content, documents)
    began = time.process_time()
    result = nd.dedup(texts, method=method, kinds="none", workers=1)
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    counts = result.info["candidates"], result.info["capped"], result.counts.duplicates
    return Work(method, content, documents, *counts, round(seconds, 2), peak)


def exponent(few: float, many: float, times: float) -> float:
    """Of n in work that grew from `few` to `many` while n grew so many times."""
    return math.log(many / few) / math.log(times)


def sizes(most: int) -> list[int]:
    return [size for power in range(8) if (size := FIRST * STEP**power) <= most]


def series(method: str, content: str, most: int) -> list[Work]:
    """The runs up to the first that did not finish."""
    rows: list[Work] = []
    for documents in sizes(most):
        row = _apart(method, content, documents)
        if row is None:
            break
        rows.append(row)
    return rows


def _apart(method: str, content: str, documents: int) -> Work | None:
    command = [sys.executable, "-m", "benchmarks.growth", "--one", method, content, str(documents)]
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))  # noqa: E731
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    return Work(*json.loads(done.stdout)) if done.returncode == 0 else None


def line(rows: list[Work], columns: int) -> str:
    last = rows[-1]
    cells = [f"{row.seconds:.1f}" for row in rows] + ["–"] * (columns - len(rows))
    grown = f"{exponent(rows[-2].seconds, last.seconds, STEP):.2f}" if len(rows) > 1 else "–"
    few, many = (row.candidates / row.documents for row in (rows[0], last))
    counted = f"{few:.1f} → {many:.1f}"
    capped = f"{last.capped / last.documents:.0%}" if last.capped else ""
    names = [f"`{last.method}`", last.content]
    return f"| {' | '.join([*names, *cells, grown, counted, capped, str(last.megabytes)])} |"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.growth")
    parser.add_argument("--method", action="append", choices=METHODS)
    parser.add_argument("--content", action="append", choices=list(zoo.CONTENTS))
    parser.add_argument("--most", type=int, default=MOST)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.one:
        method, content, documents = chosen.one
        print(json.dumps(work(method, content, int(documents))))
        return
    columns = [f"{n:,}" for n in sizes(chosen.most)]
    heads = [*columns, "exponent", "candidates a document", "capped", "MB"]
    print(f"| method | content | {' | '.join(heads)} |")
    print("|---|---|" + "--:|" * len(heads))
    for method in chosen.method or METHODS:
        for content in chosen.content or zoo.CONTENTS:
            rows = series(method, content, chosen.most)
            if chosen.json:
                with chosen.json.open("a") as file:
                    file.writelines(json.dumps(row._asdict()) + "\n" for row in rows)
            print(line(rows, len(columns)) if rows else f"| `{method}` | {content} |", flush=True)


if __name__ == "__main__":
    main()
