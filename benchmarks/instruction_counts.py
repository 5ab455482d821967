"""Guards the speed of kernels by their instructions, which no other work on a machine changes.

callgrind counts the instructions of every kernel of ``tests/native/golden.cpp`` at each level that
valgrind knows (AVX2 and below), in the object files of the installed build. A count that is more
than ``TOLERANCE`` above the one in ``instruction_counts.toml`` is a loss. Counts of different
compilers cannot be compared. Instructions are not time: a loop may wait for memory, so
``python -m benchmarks`` still measures speed.

usage: python -m benchmarks.instruction_counts [--record]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from benchmarks.corpus import ROOT, MissingError
from tools import needs

RECORDED = Path(__file__).with_suffix(".toml")
BUILT = ROOT / "build" / "Release" / "CMakeFiles" / "_native.dir" / "native"
TOLERANCE = 0.05
LEVELS = ("portable", "sse4", "avx2")
HEAD = (
    "# Instructions of each kernel of tests/native/golden.cpp by level, as callgrind counts them:\n"
)
Counts = dict[str, dict[str, int]]


def compiler() -> str:
    """The first line of what the compiler of the build says of itself."""
    return _output("c++", "--version").splitlines()[0]


def counted() -> Counts:
    if not needs.valgrind():
        raise MissingError(needs.NEEDS["valgrind"].sentence())
    with tempfile.TemporaryDirectory() as folder:
        program, parts = Path(folder) / "golden", Path(folder) / "part"
        _build(program)
        ask = [
            "-q",
            "--tool=callgrind",
            "--dump-before=next_kernel",
            f"--callgrind-out-file={parts}",
        ]
        lines = _output("valgrind", *ask, program, "--each").splitlines()
        counts: Counts = {}
        for number, line in enumerate(lines, 2):  # the first part is what comes before all kernels
            level, name = line.split(maxsplit=1)
            counts.setdefault(name, {})[LEVELS[int(level)]] = _total(Path(f"{parts}.{number}"))
    return counts


def _build(program: Path) -> None:
    objects = [path for path in BUILT.rglob("*.o") if path.parent.name != "bindings"]
    if not objects:
        raise MissingError(f"There are no object files in {BUILT}. Hint: `make dev` builds them.")
    source = ROOT / "tests" / "native" / "golden.cpp"
    _output("c++", "-std=c++20", "-O2", f"-I{ROOT / 'native'}", source, *objects, "-o", program)


def _output(*command: str | Path) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def _total(part: Path) -> int:
    totals = [line for line in part.read_text().splitlines() if line.startswith("totals:")]
    return int(totals[0].split()[1])


def losses(counts: Counts, recorded: Counts) -> list[str]:
    """A sentence for each kernel that takes more instructions than recorded, or is not recorded."""
    found = []
    for name, levels in counts.items():
        for level, count in levels.items():
            before = recorded.get(name, {}).get(level)
            if before is None:
                found.append(f"{name} at {level} has no recorded count.")
            elif count > before * (1 + TOLERANCE):
                share = count / before - 1
                found.append(
                    f"{name} at {level}: {count:,} instructions, {share:.0%} more than {before:,}."
                )
    return found


def record(counts: Counts) -> None:
    lines = [f'compiler = "{compiler()}"\n']
    for name, levels in counts.items():
        lines += [f'[counts."{name}"]', *(f"{level} = {n:_}" for level, n in levels.items()), ""]
    RECORDED.write_text(
        f"{HEAD}# python -m benchmarks.instruction_counts --record\n" + "\n".join(lines)
    )


def check() -> list[str]:
    """The losses; raises MissingError where nothing can be compared."""
    recorded = tomllib.loads(RECORDED.read_text())
    if compiler() != recorded["compiler"]:
        raise MissingError(
            f"The recorded counts are of {recorded['compiler']}, and this is {compiler()}. "
            "Hint: compare with `--record` before and after a change."
        )
    return losses(counted(), recorded["counts"])


def main() -> None:
    try:
        if "--record" in sys.argv[1:]:
            return record(counted())
        found = check()
    except MissingError as missing:
        sys.exit(str(missing))
    print("\n".join(found) or "No kernel takes more instructions than recorded.")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
