"""What is missing on a machine is named with its package, by make, by CMake and by the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools import needs
from tools.needs import NEEDS

ROOT = Path(__file__).parents[2]
BUILD = [one for one in NEEDS.values() if one.use == needs.BUILD]
BIN = Path(sys.executable).parent


def in_order(names: list[str]) -> str:
    return " ".join(dict.fromkeys(names))


def said(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools" / "needs.py"), *arguments]
    environment = {**os.environ, **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def test_the_readme_lists_these_packages() -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    assert f"`apt-get install {in_order([one.debian for one in BUILD])}`" in page
    assert f"`dnf install {in_order([one.fedora for one in BUILD])}`" in page
    assert all(f"`{one.macos}`" in page for one in BUILD)


def test_a_machine_without_a_compiler(tmp_path: Path) -> None:
    done = said("check", PATH=str(tmp_path), CXX="")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "Building neardup needs a C++20 compiler, which was not found. Hint: apt-get install g++ "
        "(Debian, Ubuntu), dnf install gcc-c++ (Fedora), xcode-select --install (macOS)."
    ]


def test_a_compiler_that_does_not_work_is_none(tmp_path: Path) -> None:
    program = tmp_path / "c++"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    assert said("check", CXX=str(program)).returncode == 1


def test_a_machine_without_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs.sysconfig, "get_path", lambda _: str(tmp_path))
    assert not needs.headers()
    (tmp_path / "Python.h").touch()
    assert needs.headers()


def test_a_python_without_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert not needs.venv()


def test_make_says_it_before_anything_else(tmp_path: Path) -> None:
    """Without a Python the sentence is make's own; it is the same."""
    command = ["make", "-s", "dev", "PYTHON=no-such-python", f"VENV={tmp_path}/none"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == NEEDS["python"].sentence()


@pytest.mark.parametrize(
    ("name", "compiler", "given"),
    [
        ("compiler", "/no/such/c++", "-DNEARDUP_SANITIZE=OFF"),
        ("headers", "", "-DPython_INCLUDE_DIR=/no/such"),
    ],
)
def test_cmake_says_it_in_one_line(name: str, compiler: str, given: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    environment |= {"CXX": compiler} if compiler else {}
    command = ["cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(tmp_path), given]
    command.append(f"-DPython_EXECUTABLE={sys.executable}")
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    where, sentence, *rest = done.stderr.splitlines()
    assert where.startswith("CMake Error at CMakeLists.txt:")
    assert sentence.strip() == NEEDS[name].sentence()
    assert not any(rest)


def test_what_cannot_be_brought_is_said_and_make_goes_on(tmp_path: Path) -> None:
    done = said("bring", PATH=str(tmp_path), JAVA_HOME=str(tmp_path))
    assert done.returncode == 0
    assert done.stderr.splitlines() == [NEEDS[name].sentence() for name in needs.TESTING]


@pytest.mark.parametrize("works", [True, False])
def test_what_apt_get_has_is_brought(works: bool, tmp_path: Path) -> None:
    """An apt-get that makes the programs it is asked for, and one that fails."""
    (tmp_path / "id").symlink_to("/usr/bin/id")
    program = tmp_path / "apt-get"
    made = "".join(f"/bin/cp $0 {tmp_path}/{name}\n" for name in needs.TESTING)
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n{made if works else "echo no mirror; exit 1"}\n'
    )
    program.chmod(0o755)
    for name, text in (("sudo", 'shift\nexec "$@"'), ("env", 'shift\nexec "$@"')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "true").symlink_to("/bin/true")
    done = said("bring", PATH=str(tmp_path), JAVA_HOME="")
    assert done.returncode == 0
    asked = (tmp_path / "asked").read_text()
    missing = [NEEDS[name].sentence() for name in needs.TESTING]
    if works:
        assert "install -y --no-install-recommends chromium default-jre-headless valgrind" in asked
        assert len(done.stderr.splitlines()) == 1
    else:
        assert done.stderr.splitlines()[1:] == ["no mirror", *missing]


# A test, and what it needs.
NEEDY = {
    "tests/engines/spark/test_spark.py::test_frames_that_are_none": "java",
    "tests/benchmarks/test_instruction_counts.py::test_instructions_of_kernels": "valgrind",
    "tests/report/test_browser.py::test_what_a_document_hides_is_shown": "chromium",
}


@pytest.mark.parametrize("ci", [False, True])
def test_a_test_without_its_tool(ci: bool, tmp_path: Path) -> None:
    """It is skipped by its name with the sentence; where CI is set it fails with the same one."""
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    environment |= {"PATH": str(tmp_path), "JAVA_HOME": str(tmp_path)} | ({"CI": "1"} if ci else {})
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *NEEDY]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == (1 if ci else 0), done.stdout
    assert (f"{len(NEEDY)} errors" if ci else f"{len(NEEDY)} skipped") in done.stdout
    for test, tool in NEEDY.items():
        summary = [line for line in done.stdout.splitlines() if test in line]
        assert any(line.startswith("ERROR" if ci else "SKIPPED") for line in summary), done.stdout
        assert NEEDS[tool].sentence() in done.stdout
