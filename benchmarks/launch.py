"""Start one runner in a fresh process, pinned to cores and held to as many threads."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpus import ROOT, MissingError
from neardup.schema import VARIABLE

THREAD_SETTINGS = [
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "RAYON_NUM_THREADS",
    "TOKIO_WORKER_THREADS",
]
QUIET = {
    "DAFT_ANALYTICS_ENABLED": "0",
    "DAFT_PROGRESS_BAR": "0",
    "DAFT_RUNNER": "native",
    "DO_NOT_TRACK": "1",
}


def environment(threads: int, level: str = "") -> dict[str, str]:
    """``level``: of the instructions that neardup may use; none: the best of the machine."""
    chosen = {VARIABLE: level} if level else {}
    return {**os.environ, **QUIET, **{name: str(threads) for name in THREAD_SETTINGS}, **chosen}


def run(
    python: Path, side: str, arguments: Sequence[str], *, cores: Sequence[int], level: str = ""
) -> Any:
    """The JSON line `benchmarks.run_SIDE ARGUMENTS…` prints, or {"error": its last words}."""
    if not shutil.which("taskset"):
        raise MissingError("taskset, which pins a process to cores, is not here. Hint: util-linux.")
    pin = ["taskset", "-c", ",".join(map(str, cores))]
    command = [*pin, str(python), "-m", f"benchmarks.run_{side}", *arguments]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment(len(cores), level),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        words = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return {"side": side, "error": words[-1]}
    return json.loads(done.stdout.splitlines()[-1])
