"""Markers stand where they belong, so that ``make quick`` is quick and a skip has its reason."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
LEFT_OUT = re.compile(r'-m "not \(([^)]*)\)"')


def test_make_quick_leaves_out_markers_that_exist() -> None:
    named = LEFT_OUT.search((ROOT / "Makefile").read_text("utf-8"))
    assert named is not None
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]
    declared = [line.partition(":")[0] for line in settings["ini_options"]["markers"]]
    assert sorted(named[1].split(" or ")) == sorted(declared)


def collected(marker: str, *files: str) -> set[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", marker, *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {line.rpartition("::")[2] for line in done.stdout.splitlines() if "::" in line}


def test_fixtures_give_their_marker() -> None:
    """Also where a test takes them by way of another fixture."""
    spark = [f"tests/engines/spark/test_{name}.py" for name in ("spark", "component_task")]
    names = collected("browser or spark and not data", "tests/web/review/test_browser.py", *spark)
    assert {"test_search_finds_texts_and_ids", "test_a_server_that_is_gone_is_said"} <= names
    assert "test_frames_that_are_none" in names
    assert "test_a_part_that_is_decided_twice" not in names


@pytest.mark.parametrize("listed", ["slow", "long"])
def test_tests_that_are_listed_exist(listed: str) -> None:
    lines = (TESTS / f"{listed}.txt").read_text("utf-8").splitlines()
    assert lines == sorted(set(lines))
    for line in lines:
        file, _, name = line.partition("[")[0].partition("::")
        assert f"def {name}" in (ROOT / file).read_text("utf-8"), line


def test_tests_that_kill_are_marked() -> None:
    """A module that kills, or that takes a helper which does."""
    sources = {file: file.read_text("utf-8") for file in TESTS.rglob("*.py")}
    killing = [file for file, source in sources.items() if re.search(r"signal\.SIGKILL", source)]
    helpers = "|".join(file.stem for file in killing if not file.name.startswith("test_"))
    takes = re.compile(rf"^from online\S* import .*\b({helpers})\b|\.({helpers}) import", re.M)
    unmarked = [
        file.relative_to(TESTS).as_posix()
        for file, source in sources.items()
        if file.name.startswith("test_") and (file in killing or takes.search(source))
        if "pytest.mark.kills" not in source
    ]
    assert unmarked == []
