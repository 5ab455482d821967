"""``make fuzz MINUTES=10``: coverage-guided inputs for kernels and readers.

Kernels (``kernels.cpp``) are built with clang's libFuzzer, AddressSanitizer and
UndefinedBehaviorSanitizer. Readers (``readers.py``) run under atheris, which is guided by the
coverage of the Python code. Each has half of the minutes. The corpora grow in ``build/fuzz``; what
was run is written to ``docs/reliability.md``. An input that fails is kept in ``build/fuzz`` and
ends the command with exit code 1: put it into ``tests/fuzz/corpus``, where the tests repeat it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from recorded import record, table

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
NATIVE, BUILD, CORPUS = ROOT / "native", ROOT / "build" / "fuzz", HERE / "corpus"
SANITIZERS = "address,undefined"
FLAGS = ["-std=c++20", "-O2", "-g1", "-ffp-contract=off", "-fno-sanitize-recover=all"]
FLAGS += ["-D_GLIBCXX_ASSERTIONS", f"-I{NATIVE}", f"-fsanitize=fuzzer-no-link,{SANITIZERS}"]
NO_CLANG = (
    "Fuzzing kernels needs clang++ with libFuzzer, which was not found. Hint: apt-get install "
    "clang libclang-rt-dev libfuzzer-14-dev (Debian, Ubuntu), dnf install clang compiler-rt "
    "(Fedora), brew install llvm (macOS)."
)
NO_ATHERIS = (
    "Fuzzing readers needs the package atheris, which was not found. "
    "Hint: .venv/bin/python -m pip install atheris"
)


class Ran(NamedTuple):
    """What one target ran: ``documents`` are those that readers gave out or rejected."""

    name: str
    inputs: int
    documents: int
    seconds: int
    failed: bool


def compiler() -> str | None:
    """A clang++ that can link libFuzzer."""
    name = os.environ.get("CLANGXX") or shutil.which("clang++")
    if not name:
        return None
    program = b'extern "C" int LLVMFuzzerTestOneInput(const char *, unsigned long) { return 0; }'
    command = [name, "-fsanitize=fuzzer", "-x", "c++", "-", "-o", os.devnull]
    return (
        name
        if subprocess.run(command, input=program, capture_output=True).returncode == 0
        else None
    )


def built(clang: str) -> Path:
    """The fuzzer of kernels; what did not change since the last time is not compiled again."""
    BUILD.mkdir(parents=True, exist_ok=True)
    sources = [p for p in NATIVE.rglob("*.cpp") if p.parent.name != "bindings"]
    sources.append(HERE / "kernels.cpp")
    newest = max(p.stat().st_mtime for p in NATIVE.rglob("*.hpp"))
    objects = {p: BUILD / f"{'-'.join(p.relative_to(ROOT).parts)}.o" for p in sources}

    def compile_one(source: Path) -> None:
        made = objects[source]
        if not made.exists() or made.stat().st_mtime < max(newest, source.stat().st_mtime):
            subprocess.run([clang, *FLAGS, "-c", str(source), "-o", str(made)], check=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, sources))
    fuzzer = BUILD / "kernels"
    link = [clang, f"-fsanitize=fuzzer,{SANITIZERS}", *map(str, objects.values())]
    subprocess.run([*link, "-o", str(fuzzer)], check=True)
    return fuzzer


def run(name: str, command: Sequence[str], seconds: int, longest: int) -> Ran:
    corpus = BUILD / f"{name}-corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    options = [f"-max_total_time={seconds}", f"-max_len={longest}", "-print_final_stats=1"]
    options += [f"-artifact_prefix={BUILD}/{name}-", "-timeout=300", "-rss_limit_mb=4096"]
    seeds = [str(CORPUS / name)] if (CORPUS / name).is_dir() else []
    begun = time.monotonic()
    done = subprocess.run(
        [*command, *options, str(corpus), *seeds], cwd=BUILD, stderr=subprocess.PIPE, text=True
    )
    lasted = round(time.monotonic() - begun)
    (BUILD / f"{name}.log").write_text(done.stderr, "utf-8")
    if done.returncode:
        print(done.stderr[-6000:], file=sys.stderr)
    inputs = re.findall(r"(?:number_of_executed_units: |Done )(\d+)", done.stderr)
    counted = BUILD / f"{name}.json"
    documents = json.loads(counted.read_text())["documents"] if counted.exists() else 0
    return Ran(name, int(inputs[-1]) if inputs else 0, documents, lasted, done.returncode != 0)


def main(minutes: float, only: str | None) -> int:
    clang, share = compiler(), int(minutes * 60 / (1 if only else 2))
    missing = [] if clang or only == "readers" else [NO_CLANG]
    if only != "kernels" and not importlib.util.find_spec("atheris"):
        missing.append(NO_ATHERIS)
    if missing:
        print("\n".join(missing), file=sys.stderr)
        return 1
    ran: list[Ran] = []
    if only != "readers" and clang:
        ran.append(run("kernels", [str(built(clang))], share, 300))
    if only != "kernels":
        ran.append(run("readers", [sys.executable, str(HERE / "readers.py")], share, 20_000))
    _note(ran)
    return int(any(target.failed for target in ran))


def _note(ran: Sequence[Ran]) -> None:
    """Adds to what earlier runs with the same kernels and readers counted."""
    notes = BUILD / "ran.json"
    all_ran = json.loads(notes.read_text()) if notes.exists() else {}
    for one in ran:
        before = all_ran.get(one.name, {"inputs": 0, "documents": 0, "seconds": 0, "failures": 0})
        all_ran[one.name] = {
            "inputs": before["inputs"] + one.inputs,
            "documents": before["documents"] + one.documents,
            "seconds": before["seconds"] + one.seconds,
            "failures": before["failures"] + one.failed,
        }
    notes.write_text(json.dumps(all_ran, indent=1))
    head = ["target", "inputs", "documents", "seconds", "failures"]
    record("fuzz", table(head, ([name, *found.values()] for name, found in all_ran.items())))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--only", choices=("kernels", "readers"))
    given = parser.parse_args()
    sys.exit(main(given.minutes, given.only))
