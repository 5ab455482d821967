"""The common corpus: made once, into benchmarks/.work, by generate.py and truth.py.

NEARDUP_BENCH may name a folder with a gen.py and a truth.py to be used in their place; what they
make is kept under another name, so that the two never mix.
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
OTHER = os.environ.get("NEARDUP_BENCH")
NAME = "corpus" if OTHER else "generated"
FULL = 100_000
OTHERS = (20_000, FULL)  # a foreign generator makes these two and no others


class MissingError(Exception):
    """Something the benchmark needs is not on this machine; the message says what."""


@dataclass(frozen=True)
class Corpus:
    docs: int

    @property
    def prefix(self) -> Path:
        thousands, rest = divmod(self.docs, 1000)
        size = str(self.docs) if rest else f"{thousands}k"
        return WORK / (NAME if self.docs == FULL else f"{NAME}_{size}")

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
    """The corpus of that size; the peers' interpreter is asked for only by a foreign generator."""
    corpus = Corpus(docs)
    if OTHER and docs not in OTHERS:
        raise MissingError(
            f"The generator that NEARDUP_BENCH names makes {OTHERS[0]:,} or {OTHERS[1]:,} "
            f"documents, not {docs:,}. Hint: without it any number can be made."
        )
    if not (corpus.jsonl.exists() and corpus.parquet.exists()):
        part = WORK / "part"
        part.mkdir(parents=True, exist_ok=True)
        if OTHER:  # one run of it gives both sizes
            _run_other(python(), "gen.py", str(FULL), str(part / NAME))
        else:
            _run_own("generate", str(docs), str(part / corpus.prefix.name))
        for made in part.iterdir():
            made.replace(WORK / made.name)
        part.rmdir()
    return corpus


def make_truth(corpus: Corpus, python: Callable[[], Path]) -> Path:
    """Every pair's exact Jaccard of word 5-shingles (words as runs of \\w)."""
    if not corpus.truth.exists():
        part = WORK / "truth.part.npz"
        if OTHER:
            _run_other(python(), "truth.py", str(corpus.parquet), str(part), "w")
        else:
            _run_own("truth", str(corpus.parquet), str(part))
        part.replace(corpus.truth)
    return corpus.truth


def _run_own(module: str, *arguments: str) -> None:
    _run([sys.executable, "-m", f"benchmarks.{module}", *arguments])


def _run_other(python: Path, script: str, *arguments: str) -> None:
    path = Path(OTHER or "") / script
    if not path.is_file():
        raise MissingError(
            f"NEARDUP_BENCH names {OTHER}, and there is no {script}. "
            "Hint: without it the benchmark makes its own corpus."
        )
    _run([str(python), str(path), *arguments])


def _run(command: list[str]) -> None:
    print("running", *command[1:], file=sys.stderr)
    subprocess.run(command, cwd=ROOT, stdout=sys.stderr, check=True)
