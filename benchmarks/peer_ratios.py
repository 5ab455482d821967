"""Guards the advantage over peers: processor time of peers beside ours, in one run.

Both sides take turns on one core, and the best run of each counts. A ratio below ``LEAST`` of the
one in ``peer_ratios.toml`` is a loss. ``NEARDUP_INSTRUCTIONS`` chooses our level; each level has
its own ratios.

usage: python -m benchmarks.peer_ratios [--record]
"""

from __future__ import annotations

import datetime
import os
import sys
import tomllib
from pathlib import Path

from benchmarks import corpus, launch, peers
from benchmarks.corpus import Corpus, MissingError
from neardup.schema import VARIABLE

RECORDED = Path(__file__).with_suffix(".toml")
DOCS, RUNS, LEAST = 20_000, 2, 0.75
PEERS = ("daft", "gaoya")
ROWS = ("signatures", "dedup")
Ratios = dict[str, float]


def level() -> str:
    from neardup import _native

    return os.environ.get(VARIABLE) or _native.INSTRUCTIONS[-1]


def measured(made: Corpus) -> Ratios:
    """The processor time of each peer as a multiple of ours."""
    ratios: Ratios = {}
    for row in ROWS:
        best: dict[str, float] = {}
        for side in (*PEERS, "neardup") * RUNS:
            seconds = _processor(side, row, made)
            best[side] = min(best.get(side, seconds), seconds)
        ratios |= {f"{row}_{peer}": round(best[peer] / best["neardup"], 1) for peer in PEERS}
    return ratios


def _processor(side: str, row: str, made: Corpus) -> float:
    python = Path(sys.executable) if side == "neardup" else peers.make(side)
    if row == "signatures":
        ask = [row, str(made.parquet)]
    elif side == "neardup":
        ask = ["decide", str(made.jsonl), "1"]
    else:
        ask = [row, str(made.jsonl), str(corpus.WORK / f"{side}.npz")]
    line = launch.run(python, side, ask, cores=(0,))
    if "error" in line:
        raise MissingError(f"{side} could not be measured: {line['error']}")
    print(side, row, f"{line['processor']:.2f} s of processor time", file=sys.stderr)
    return float(line["processor"])


def losses(ratios: Ratios, recorded: Ratios) -> list[str]:
    pairs = ((name, ratio, recorded.get(name, 0.0)) for name, ratio in ratios.items())
    return [
        f"{name}: {ratio:.1f} times as fast, {before:.1f} times when recorded."
        for name, ratio, before in pairs
        if ratio < LEAST * before
    ]


def record(ratios: Ratios) -> None:
    kept = tomllib.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    kept[level()] = {"date": datetime.date.today(), "load": round(os.getloadavg()[0]), **ratios}
    head = "# Processor time of peers as a multiple of ours: benchmarks/peer_ratios.py --record\n"
    tables = (
        f"\n[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in table.items())
        for name, table in kept.items()
    )
    RECORDED.write_text(head + "".join(tables))


def main() -> None:
    try:
        made = corpus.make(DOCS, peers.common)
        made.warm()
        ratios = measured(made)
    except MissingError as missing:
        sys.exit(str(missing))
    print(*(f"{name}: {ratio:.1f}" for name, ratio in ratios.items()), sep="\n")
    if "--record" in sys.argv[1:]:
        return record(ratios)
    recorded = tomllib.loads(RECORDED.read_text()).get(level(), {})
    found = losses(ratios, recorded)
    print("\n".join(found) or f"No ratio is below {LEAST:.0%} of the recorded one.")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
