"""The common corpus: made once, into benchmarks/.work, by the generator of NEARDUP_BENCH.

One run of the generator gives both sizes: the small corpus is the head of the large one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "benchmarks" / ".work"
GENERATOR = Path(os.environ.get("NEARDUP_BENCH", ROOT.parent / "shared" / "bench"))
FULL = 100_000
PREFIXES = {FULL: WORK / "corpus", 20_000: WORK / "corpus_20k"}


class MissingError(Exception):
    """Something the benchmark needs is not on this machine; the message says what."""


@dataclass(frozen=True)
class Corpus:
    docs: int
    prefix: Path

    @property
    def jsonl(self) -> Path:
        return self.prefix.with_suffix(".jsonl")

    @property
    def parquet(self) -> Path:
        return self.prefix.with_suffix(".parquet")

    @property
    def truth(self) -> Path:
        return self.prefix.with_suffix(".truth.npz")

    def warm(self) -> None:
        """Read the file once, so that no side pays for the disk."""
        with self.jsonl.open("rb") as file:
            while file.read(1 << 24):
                pass


def make(docs: int, python: Callable[[], Path]) -> Corpus:
    """The corpus of that size; the interpreter is asked for only where it must be generated."""
    corpus = Corpus(docs, PREFIXES[docs])
    if not (corpus.jsonl.exists() and corpus.parquet.exists()):
        _generate(python())
    return corpus


def make_truth(corpus: Corpus, python: Callable[[], Path]) -> Path:
    """Every pair's exact Jaccard of word 5-shingles (words as runs of \\w)."""
    if not corpus.truth.exists():
        part = WORK / "truth.part.npz"
        _run(python(), "truth.py", str(corpus.parquet), str(part), "w")
        part.replace(corpus.truth)
    return corpus.truth


def _generate(python: Path) -> None:
    part = WORK / "part"
    part.mkdir(parents=True, exist_ok=True)
    _run(python, "gen.py", str(FULL), str(part / PREFIXES[FULL].name))
    for made in part.iterdir():
        made.replace(WORK / made.name)
    part.rmdir()


def _run(python: Path, script: str, *arguments: str) -> None:
    path = GENERATOR / script
    if not path.is_file():
        raise MissingError(
            f"The benchmark corpus is made by {script}, and there is none in {GENERATOR}. "
            "Hint: set NEARDUP_BENCH to the folder that holds gen.py and truth.py."
        )
    print(f"running {script} {' '.join(arguments)}", file=sys.stderr)
    subprocess.run([python, path, *arguments], stdout=sys.stderr, check=True)
