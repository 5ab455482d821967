"""What neardup needs of the system, and which package has it: for make, CMake and the tests.

``python3 tools/needs.py check`` looks for what a build needs and names all that is missing,
``bring`` installs what the tests need where apt-get works without a question, ``say NAME`` prints
the sentence for one of them. A bare and older Python 3 must be able to run this file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

OLDEST = (3, 11)
PROGRAM = "#include <concepts>\nint main() {}\n"
CHROMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


class Need(NamedTuple):
    """``use`` needs ``what``: packages of Debian and Fedora, a command of macOS."""

    use: str
    what: str
    debian: str
    fedora: str
    macos: str

    def sentence(self) -> str:
        return (
            f"{self.use} needs {self.what}, which was not found. "
            f"Hint: apt-get install {self.debian} (Debian, Ubuntu), "
            f"dnf install {self.fedora} (Fedora), {self.macos} (macOS)."
        )


BUILD = "Building neardup"
PAGES = "Testing pages in a browser"
SPARK = "Testing on Spark"
COUNTS = "Counting the instructions of kernels"
TOOLS, BREW = "xcode-select --install", "brew install python"
# In the order in which the README lists the packages.
NEEDS = {
    "python": Need(BUILD, "Python 3.11 or later", "python3", "python3", BREW),
    "venv": Need(BUILD, "Python's module venv with pip", "python3-venv", "python3", BREW),
    "headers": Need(BUILD, "Python's header file Python.h", "python3-dev", "python3-devel", BREW),
    "make": Need(BUILD, "make", "make", "make", TOOLS),
    "compiler": Need(BUILD, "a C++20 compiler", "g++", "gcc-c++", TOOLS),
    "chromium": Need(
        PAGES, "Chromium", "chromium", "chromium", "brew install --cask google-chrome"
    ),
    "java": Need(
        SPARK,
        "Java 17 or later",
        "default-jre-headless",
        "java-21-openjdk-headless",
        'brew install openjdk@21 and export JAVA_HOME="$(brew --prefix openjdk@21)"',
    ),
    "valgrind": Need(COUNTS, "valgrind", "valgrind", "valgrind", "a machine with Linux"),
}


def chromium() -> str | None:
    return next(filter(None, map(shutil.which, CHROMES)), None)


def java() -> str | None:
    """JAVA_HOME counts alone where it is set, as it does for Spark."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which(str(Path(home) / "bin" / "java") if home else "java")


def valgrind() -> str | None:
    return shutil.which("valgrind")


def python() -> bool:
    return sys.version_info >= OLDEST


def venv() -> bool:
    """Debian has the module, but without the pip that it puts into each environment."""
    import importlib.util

    return sys.prefix != sys.base_prefix or importlib.util.find_spec("ensurepip") is not None


def headers() -> bool:
    return (Path(sysconfig.get_path("include")) / "Python.h").exists()


def compiler() -> bool:
    """One that translates C++20: macOS has a ``c++`` that only asks to be installed."""
    named = os.environ.get("CXX")
    return any(map(_compiles, [named] if named else ["c++", "g++", "clang++"]))


def _compiles(name: str) -> bool:
    command = [*name.split(), "-std=c++20", "-fsyntax-only", "-x", "c++", "-"]
    if not shutil.which(command[0]):
        return False
    done = subprocess.run(command, input=PROGRAM.encode(), stderr=subprocess.DEVNULL)
    return done.returncode == 0


BUILDING: dict[str, Callable[[], object]] = {
    "python": python,
    "venv": venv,
    "headers": headers,
    "compiler": compiler,
}
TESTING: dict[str, Callable[[], object]] = {
    "chromium": chromium,
    "java": java,
    "valgrind": valgrind,
}


def missing(finders: dict[str, Callable[[], object]]) -> list[str]:
    return [name for name, find in finders.items() if not find()]


def check() -> int:
    names = missing(BUILDING)
    for name in names:
        say(name)
    return 1 if names else 0


def bring() -> int:
    """What cannot be brought is said; the tests that need it are skipped with the same sentence."""
    names = missing(TESTING)
    if names and shutil.which("apt-get") and (administrator := _administrator()) is not None:
        _install([NEEDS[name].debian for name in names], administrator)
    for name in missing(TESTING):
        say(name)
    return 0


def _administrator() -> list[str] | None:
    """What makes a command root's: nothing, sudo if it asks no password, or nothing can."""
    if os.geteuid() == 0:
        return []
    asks = ["sudo", "-n", "true"]
    can = shutil.which("sudo") and subprocess.run(asks, stderr=subprocess.DEVNULL).returncode == 0
    return ["sudo", "-n"] if can else None


def _install(packages: list[str], administrator: list[str]) -> None:
    print(f"The tests need {' and '.join(packages)}: apt-get installs that.", file=sys.stderr)
    quiet = [*administrator, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    for command in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        done = subprocess.run([*quiet, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            sys.stderr.write(done.stdout.decode("utf-8", "replace"))
            return


def say(name: str) -> int:
    print(NEEDS[name].sentence(), file=sys.stderr)
    return 0


if __name__ == "__main__":
    COMMANDS = {"check": check, "bring": bring, "say": say}
    sys.exit(COMMANDS[sys.argv[1]](*sys.argv[2:]))  # type: ignore[operator]
