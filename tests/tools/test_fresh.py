"""``make fresh``: what it takes from the README, what it lets in, and what it records."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tools import fresh, image
from tools.fresh import Done

README = fresh.README.read_text("utf-8")


def test_packages_and_commands_are_those_of_the_readme() -> None:
    assert fresh.packages(README) == ["python3", "python3-venv", "python3-dev", "make", "g++"]
    assert fresh.commands(README) == (
        "pip install . && neardup dedup examples/news.jsonl -o out",
        "make test",
    )
    with pytest.raises(SystemExit, match="has no `apt-get install"):
        fresh.packages("# neardup\n")


def test_who_may_not_is_told_all_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(SystemExit, match=r"as root.* debootstrap\. .* git\. Hint: apt-get"):
        fresh.check()


def test_a_folder_with_other_things_is_not_touched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "letter").touch()
    monkeypatch.setenv("FRESH_ROOT", str(tmp_path))
    with pytest.raises(SystemExit, match="is not empty"), fresh.system([]):
        pass
    assert [one.name for one in tmp_path.iterdir()] == ["letter"]


def test_nothing_of_the_host_goes_in_but_the_way_to_registries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in os.environ:
        monkeypatch.delenv(name)
    given = {"PIP_CERT": "/host/ca.crt", "https_proxy": "http://proxy:3128", "SECRET": "x"}
    for name, value in {**given, "NEARDUP_DATA": "/host/data", "FRESH_BIND": "/wheels"}.items():
        monkeypatch.setenv(name, value)
    inside = fresh.environment()
    assert inside.keys() == {"PIP_CERT", "https_proxy", "NEARDUP_DATA", "HOME", "LANG", "PATH"}
    assert not any("/host" in value for value in inside.values())
    assert list(fresh.binds()) == [("/host/data", "/data"), ("/wheels", "/wheels")]
    lines = list(fresh.mounts(Path("/a root")))
    for folder in ("/data", "/wheels"):
        assert f"mount -o remount,bind,ro '/a root'{folder}" in lines


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("74 documents = 33 kept + 41 duplicates + 0 rejected.\n", None),
        ("==== 6526 passed, 3 skipped in 1300.11s (0:21:40) ====\n", "6526 passed, 3 skipped"),
        ("=== 4 failed, 6 passed, 16 errors in 3.1s ===\n", "4 failed, 6 passed, 16 errors"),
        ("collecting ...\n", ""),
    ],
)
def test_the_line_that_counts(line: str, told: str | None) -> None:
    expected = line.rstrip(".\n") if told is None else told
    assert (fresh.conclusion(line) or "") == expected


def test_a_failure_is_recorded_as_one() -> None:
    assert Done("make test", 0, 61.2, "9 passed").row() == "| `make test` | 1 min 01 s | 9 passed |"
    assert "**exit code 2**; 1 failed" in Done("make test", 2, 61.2, "1 failed").row()
    assert Done("apt-get update", 0, 3, "").row().endswith("| done |")


def test_the_steps_of_the_dockerfile_are_run_in_order(tmp_path: Path) -> None:
    """What is run where, by whom, and with which files; the last user is not root."""
    text = fresh.DOCKERFILE.read_text("utf-8")
    (tmp_path / "build" / "opt" / "neardup").mkdir(parents=True)  # what the second RUN makes
    roots = iter([tmp_path / "build", tmp_path / "last"])
    *runs, last = image.built(text, fresh.ROOT, lambda: next(roots))
    assert image.suite(text) == "bookworm"
    assert [run.root.name for run in runs] == ["build", "build", "last"]
    assert runs[1].script.splitlines()[:2] == ["cd /src", "export EXTRAS="]
    assert (tmp_path / "build" / "src" / "src" / "neardup" / "py.typed").is_file()
    assert (tmp_path / "build" / "src" / "tools" / "needs.py").is_file()
    assert isinstance(last, image.Stage)
    assert (last.user, last.folder, last.entry) == ("neardup", "/work", ["neardup"])
    with pytest.raises(SystemExit, match="does not know VOLUME"):
        list(image.built("VOLUME /x", tmp_path, lambda: tmp_path))


def test_the_page_has_a_place_for_the_record_and_names_every_setting() -> None:
    page = fresh.PAGE.read_text("utf-8")
    assert all(place.search(page) for place in fresh.RECORDS.values())
    source = Path(fresh.__file__).read_text("utf-8")
    assert set(re.findall(r"FRESH_[A-Z]+", source)) == set(re.findall(r"FRESH_[A-Z]+", page))
