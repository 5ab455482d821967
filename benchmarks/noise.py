"""Copies with wrong characters among clean articles: the table of docs/methods/learned.md.

    python -m benchmarks.noise [METHOD] [--seed N]

Of each set articles are drawn of which no two are known to resemble each other by 0.3, and copies
of a hundred of them are put among them, all with one edit at one rate. Sets are folders of
`NEARDUP_DATA` (default: ../shared/data).
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

import neardup as nd
from benchmarks.halves import DATA, LEARNED
from neardup.planting.plant import planted

SETS = {"press_de": 1500, "bbc_news": 1200}
EDITS, RATES = ("ocr", "scan", "typing"), (0.05, 0.1, 0.2)
COPIES = 100
FOUND, WITH_COPY, OF_TWO = "found", "wrong, with a copy", "wrong, of two articles"


def rows(name: str, file: str) -> Iterator[dict[str, Any]]:
    with pa.input_stream(DATA / name / f"{file}.jsonl.zst", compression="zstd") as stream:
        yield from map(json.loads, stream.read().splitlines())


def articles(name: str, seed: int) -> pa.Table:
    """Each once, in a random order, without those that have a near relation."""
    alike = {pair[side] for pair in rows(name, "silver_jaccard") for side in "ab"}
    texts = {one["id"]: one["text"] for one in rows(name, "docs") if one["id"] not in alike}
    chosen = random.Random(seed).sample(sorted(texts), SETS[name])
    return pa.table({"id": chosen, "text": [texts[one] for one in chosen]})


def counted(among: pa.Table, edit: str, method: str, seed: int) -> Counter[str]:
    copies = planted(among, [edit], COPIES, seed, id="id")
    assert len(copies) == COPIES
    original = dict(zip(*(copies[name].to_pylist() for name in ("id", "of")), strict=True))
    both = pa.concat_tables([among, copies.select(["id", "text"]).cast(among.schema)])
    found = nd.find(both, method=method, kinds="none", id="id")
    assert found.pairs_complete
    pairs = zip(*(found.pairs[side].to_pylist() for side in "ab"), strict=True)
    return Counter(_told(original, a, b) for a, b in pairs)


def _told(original: dict[str, str], a: str, b: str) -> str:
    if original.get(a) == b or original.get(b) == a:
        return FOUND
    return WITH_COPY if {a, b} & original.keys() else OF_TWO


def cells(found: Counter[str]) -> str:
    right, wrong = found[FOUND], found[WITH_COPY] + found[OF_TWO]
    precision = right / max(right + wrong, 1)
    return f"{right} | {found[WITH_COPY]} + {found[OF_TWO]} | {precision:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.noise", description=__doc__)
    parser.add_argument("method", nargs="?", default=LEARNED, metavar="METHOD")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    given = parser.parse_args()
    columns = "".join(f" {name}: found | wrong | precision |" for name in SETS)
    print(f"| edit, rate |{columns}\n|---|{'--:|' * 3 * len(SETS)}", flush=True)
    among = [articles(name, given.seed) for name in SETS]
    for edit in EDITS:
        for rate in RATES:
            found = (counted(one, f"{edit}={rate}", given.method, given.seed) for one in among)
            print(f"| `{edit}` {rate:.0%} | {' | '.join(map(cells, found))} |", flush=True)


if __name__ == "__main__":
    main()
