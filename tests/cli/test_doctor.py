"""``neardup doctor`` tells what works and what does not, and stays calm about both."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from click.testing import CliRunner

from neardup import api
from neardup.cli import doctor, main


@pytest.fixture(autouse=True)
def java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with Java, whatever this one has: ``doctor`` looks for it without running it."""
    program = tmp_path / "java"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return program


def told() -> tuple[int, dict[str, tuple[str, str]]]:
    done = CliRunner().invoke(main, ["doctor", "--json"])
    found = json.loads(done.stdout)
    return done.exit_code, {one["name"]: (one["state"], one["said"]) for one in found}


def test_a_sound_installation() -> None:
    code, found = told()
    assert code == 0
    assert {state for state, _ in found.values()} <= {"ok", "missing"}
    assert "3 documents = 2 kept + 1 duplicate" in found["a run"][1]
    assert found["extra web"][0] == "ok"


def test_spark_without_java_is_a_fault(java: Path) -> None:
    java.unlink()
    code, found = told()
    assert code == 1
    assert found["extra spark"][0] == "fault"
    assert "java is missing: Spark needs Java 17" in found["extra spark"][1]


def test_a_missing_extra_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    known = doctor.version

    def version(name: str) -> str:
        if name == "trafilatura":
            raise PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(doctor, "version", version)
    code, found = told()
    assert code == 0
    assert found["extra html"] == (
        "missing",
        "trafilatura not installed; pip install 'neardup[html]'",
    )


def test_what_does_not_work_is_told_and_the_rest_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(api, "dedup", broken)
    code, found = told()
    assert code == 1
    assert found["a run"] == ("fault", "MemoryError: no room")
    assert found["a store"][0] == "ok"
