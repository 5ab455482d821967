"""The decisions of every method on every set, as digests: did a change of the code change them?

    cd tests && python -m quality.answers FILE              # record
    cd tests && python -m quality.answers FILE --compare    # say what differs from the record

Only the public names of neardup are used, so that the same script runs before and after rooms of
the house move. Scores count by their bits.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

COLUMNS = ("id", "decision", "reason", "kept_id", "score", "kind", "cluster")
MOST_SECONDS = 300  # a method that takes longer on a set is recorded as too slow
LARGEST = 40 << 20  # bytes; larger sets are for speed, and judged by the fast methods alone
FAST = ("rareshingles", "shingles", "exact", "simhash")


def sets() -> list[Path]:
    data = Path(os.environ.get("NEARDUP_DATA", Path(__file__).parents[3] / "shared" / "data"))
    return sorted(path.parent for path in data.glob("*/docs.jsonl.zst"))


def methods() -> list[str]:
    from neardup.methods import registry

    return sorted({*registry.METHODS} - {"combined", "semantic"})


def digest(method: str, folder: Path) -> str:
    import neardup as nd

    result = nd.dedup(folder / "docs.jsonl.zst", method=method)
    table = result.decisions.select([c for c in COLUMNS if c in result.decisions.column_names])
    made = hashlib.sha256()
    for name in table.column_names:
        made.update(name.encode())
        made.update(_bytes(table[name]))
    return made.hexdigest()[:24]


def _bytes(column: pa.ChunkedArray) -> bytes:
    return "\x00".join(map(repr, column.to_pylist())).encode()


def _answer(method: str, folder: Path, into: Any) -> None:
    try:
        into.send(digest(method, folder))
    except Exception as error:
        into.send(f"{type(error).__name__}: {error}"[:80])


def answer(method: str, folder: Path) -> str:
    """In a process of its own, so that one that takes too long can be ended."""
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(
        target=_answer, args=(method, folder, there)
    )
    process.start()
    got = here.recv() if here.poll(MOST_SECONDS) else "too slow"
    process.kill()
    process.join()
    return str(got)


def asked(folder: Path) -> list[str]:
    large = (folder / "docs.jsonl.zst").stat().st_size * 4 > LARGEST
    return [method for method in methods() if not large or method in FAST]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--compare", action="store_true")
    given = parser.parse_args()
    before = json.loads(given.file.read_text("utf-8")) if given.file.exists() else {}
    now, differ = dict(before), 0
    for folder in sets():
        for method in asked(folder):
            name = f"{folder.name} {method}"
            if not given.compare and name in before:
                continue
            now[name] = answer(method, folder)
            if given.compare and now[name] != before.get(name):
                differ += 1
                print(f"{name}: {before.get(name)} before, {now[name]} now", flush=True)
            if not given.compare:
                given.file.write_text(json.dumps(now, indent=1) + "\n", "utf-8")
    print(f"{len(now)} answers, {differ} differ" if given.compare else f"{len(now)} answers")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
