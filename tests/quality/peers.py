"""What other tools find on the labelled sets, with the settings of their documentation.

    cd tests && python -m quality.peers [--peer NAME] [--set NAME] [--seconds N]

Each runs in an environment of its own (``benchmarks/peers.py``), which pip makes the first time.
The figures are written to ``peers.toml`` beside the digest of their data, as those of the methods
are to ``floors.toml``; docs/quality.md shows both. No test runs a peer.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from conftest import DATA
from quality import floors
from quality.sets import SETS, Figures, Found, digest, judge, rounded, script

FILE = Path(__file__).with_name("peers.toml")
HEAD = """\
# What other tools reach on the labelled sets; `python -m quality.peers` in tests/ measures it.
"""
# A peer → the thresholds it is asked with: its own default, else those that its pages show.
THRESHOLDS = {
    "datasketch": ("0.5", "0.8"),
    "gaoya": ("0.5", "0.8"),
    "text_dedup": ("0.5", "0.7"),
    "unisim": ("0.8", "0.9"),
}
ROWS = tuple(f"{peer} {asked}" for peer, every in THRESHOLDS.items() for asked in every)
MOST_SECONDS = 300  # as a method has; of the processor, because others may be at work
ROOT = Path(__file__).parents[2]


def main() -> None:
    asked = arguments()
    for name in asked.set or SETS:
        for peer in asked.peer or THRESHOLDS:
            for row, figures in measured(peer, DATA / name, asked.seconds).items():
                print(f"{name:<20}{row:<20}{figures}", file=sys.stderr, flush=True)
                keep(name, row, figures)


def measured(peer: str, folder: Path, seconds: float) -> dict[str, Figures]:
    rows = [f"{peer} {asked}" for asked in THRESHOLDS[peer]]
    docs = list(script(folder.parent / "score.py").rows(str(folder / "docs.jsonl")))
    with tempfile.TemporaryDirectory() as scratch:
        texts, out = Path(scratch) / "texts.json", Path(scratch) / "pairs.npz"
        texts.write_text(json.dumps([doc["text"] for doc in docs]), "utf-8")
        if not finished(peer, texts, out, seconds):
            return {row: {floors.UNFINISHED: seconds} for row in rows}
        with np.load(out) as saved:
            found = {asked: saved[asked] for asked in THRESHOLDS[peer]}
    ids = [doc["id"] for doc in docs]
    every = [Found(ids, pairs[:, 0], pairs[:, 1]) for pairs in found.values()]
    return {row: rounded(judge(folder).figures(one)) for row, one in zip(rows, every, strict=True)}


def finished(peer: str, texts: Path, out: Path, seconds: float) -> bool:
    """Whether the peer wrote its pairs before it had used so many seconds of the processor."""
    sys.path.append(str(ROOT))
    from benchmarks import peers

    python = peers.make(peer, ["numpy"])
    command: list[Any] = [python, "-m", "benchmarks.peer_pairs", peer, texts, out]
    limit = round(seconds)
    begin = time.monotonic()
    ran = subprocess.run(
        [*command, *THRESHOLDS[peer]],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=functools.partial(resource.setrlimit, resource.RLIMIT_CPU, (limit, limit)),
        check=False,
    )
    print(f"{peer}: {time.monotonic() - begin:.0f} s", file=sys.stderr)
    if ran.returncode > 0:
        raise RuntimeError(f"{peer} failed; its error is above.")
    return ran.returncode == 0


def keep(name: str, row: str, figures: Figures) -> None:
    pinned = floors.read(FILE)
    sha256 = digest(DATA / name)
    if name not in pinned or pinned[name].sha256 != sha256:
        pinned[name] = floors.Pinned(sha256, {})
    pinned[name].measured[row] = figures
    floors.write(pinned, FILE, HEAD)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m quality.peers", description=__doc__)
    parser.add_argument("--peer", action="append", choices=THRESHOLDS, help="only this one")
    parser.add_argument("--set", action="append", choices=SETS, help="only this one")
    parser.add_argument("--seconds", type=float, default=MOST_SECONDS, help="for one peer at most")
    return parser.parse_args()


if __name__ == "__main__":
    main()
