"""``make fuzz MINUTES=10``: coverage-guided inputs for kernels and readers, and requests.

Kernels (``kernels.cpp``) are built with clang's libFuzzer, AddressSanitizer and
UndefinedBehaviorSanitizer. Readers (``readers.py``) run under atheris, which is guided by the
coverage of the Python code. They take turns. The corpora grow in ``build/fuzz``; what this command
ran is written to ``docs/reliability.md``. An input that fails is kept in ``build/fuzz`` and
ends the command with exit code 1: put it into ``tests/fuzz/corpus``, where the tests repeat it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import resource
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
ROUND_SECONDS = 240
FLAGS = ["-std=c++20", "-O2", "-g1", "-ffp-contract=off", "-fno-sanitize-recover=all"]
FLAGS += ["-D_GLIBCXX_ASSERTIONS", f"-I{NATIVE}", f"-fsanitize=fuzzer-no-link,{SANITIZERS}"]
# Which branch was taken guides the fuzzer; reporting each comparison, too, would cost most of the
# time, and so would counting how often a table is filled.
FLAGS += ["-fno-sanitize-coverage=trace-cmp", f"-fsanitize-coverage-ignorelist={BUILD}/filling"]
FILLING = "fun:*__uninit*\nfun:*_M_fill*\nfun:*__fill*\n"
# Memory that was freed is used again soon: with the default of 256 MB each input gets fresh pages.
ASAN = "quarantine_size_mb=4:thread_local_quarantine_size_kb=64:malloc_context_size=2"
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
    inputs: int = 0
    documents: int = 0
    seconds: int = 0
    failures: int = 0

    def plus(self, other: Ran) -> Ran:
        return Ran(self.name, *(a + b for a, b in zip(self[1:], other[1:], strict=True)))


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
    (BUILD / "filling").write_text(FILLING, "utf-8")
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
    """One process, with the corpus that earlier ones left."""
    corpus = BUILD / f"{name}-corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    counted = BUILD / f"{name}.json"
    counted.unlink(missing_ok=True)
    options = [f"-max_total_time={seconds}", f"-max_len={longest}", "-print_final_stats=1"]
    options += [f"-artifact_prefix={BUILD}/{name}-", "-timeout=300", "-rss_limit_mb=4096"]
    seeds = [str(CORPUS / name)] if (CORPUS / name).is_dir() else []
    begun = _child_seconds()
    done = subprocess.run(
        [*command, *options, "-entropic=0", "-detect_leaks=0", str(corpus), *seeds],
        cwd=BUILD,
        env={**os.environ, "ASAN_OPTIONS": ASAN},
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    (BUILD / f"{name}.log").write_text(done.stderr, "utf-8")
    if done.returncode:
        print(done.stderr[-6000:], file=sys.stderr)
    inputs = re.findall(r"kernel inputs: (\d+)", done.stderr)
    found = json.loads(counted.read_text()) if counted.exists() else {"inputs": 0, "documents": 0}
    found |= {"inputs": int(inputs[-1])} if inputs else {}
    return Ran(name, **found, seconds=_child_seconds() - begun, failures=int(done.returncode != 0))


def run_service() -> Ran:
    """Requests that follow from the description of the service (schemathesis), ten times as
    many as among the tests."""
    counted, begun = BUILD / "service.json", _child_seconds()
    counted.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, str(HERE.parent / "web" / "service" / "test_openapi.py")],
        env={**os.environ, "NEARDUP_TIMES": "10", "NEARDUP_COUNTED": str(counted)},
    )
    found = json.loads(counted.read_text()) if counted.exists() else {}
    return Ran("service", **found, seconds=_child_seconds() - begun, failures=int(done.returncode))


def _child_seconds() -> int:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round(used.ru_utime + used.ru_stime)


def main(minutes: float, only: str | None) -> int:
    """Rounds of both in turn, each in a new process, and the record after each of them."""
    clang = compiler()
    missing = [] if clang or only not in (None, "kernels") else [NO_CLANG]
    if only in (None, "readers") and not importlib.util.find_spec("atheris"):
        missing.append(NO_ATHERIS)
    if missing:
        print("\n".join(missing), file=sys.stderr)
        return 1
    targets: list[tuple[str, list[str], int]] = []
    if only in (None, "kernels") and clang:
        targets.append(("kernels", [str(built(clang))], 200))
    if only in (None, "readers"):
        targets.append(("readers", [sys.executable, str(HERE / "readers.py")], 20_000))
    end, failures = time.monotonic() + minutes * 60, 0
    if only in (None, "service"):
        ran = run_service()
        _note("service", ran)
        failures += ran.failures
    while targets and (left := end - time.monotonic()) > 1 and not failures:
        for name, command, longest in targets:
            ran = run(name, command, int(min(ROUND_SECONDS, left / len(targets)) + 1), longest)
            _note(name, ran)
            failures += ran.failures
    return int(failures > 0)


def _note(name: str, ran: Ran) -> None:
    """Adds to what earlier rounds ran, whatever has changed in between."""
    notes = BUILD / "ran.json"
    known = json.loads(notes.read_text()) if notes.exists() else {}
    known[name] = Ran(name, *known.get(name, ())).plus(ran)[1:]
    notes.write_text(json.dumps(known))
    head = ["target", "inputs", "documents", "seconds of processor time", "failures"]
    record("fuzz", table(head, ([name, *counts] for name, counts in sorted(known.items()))))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--only", choices=("kernels", "readers", "service"))
    given = parser.parse_args()
    sys.exit(main(given.minutes, given.only))
