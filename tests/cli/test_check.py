"""``neardup check``: documentation that repeats itself fails a build, unless that is accepted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import neardup as nd
from cli.sample import Run
from neardup.cli import main

ROOT = Path(__file__).parents[2]
STEPS = (
    "Download the archive, unpack it into an empty folder, and start the installer from there. It "
    "asks for the port of the service and for the folder in which the documents lie, and then "
    "writes both into its settings. Restart the machine after {} minutes."
)
CODE = (
    "```sh\n" + "\n".join(f"pip install part-{n} --upgrade --no-deps" for n in range(9)) + "\n```\n"
)


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = Path("docs")
    folder.mkdir()
    top = "# Guide\n\nWhat this page is about, in a few words.\n\n"
    (folder / "a.md").write_text(f"{top}## Install\n\n{STEPS.format('ten')}\n\n{CODE}")
    (folder / "b.rst").write_text(f"Manual\n======\n\nSetup\n-----\n\n{STEPS.format('five')}\n")
    (folder / "c.txt").write_text(f"Gardens need water, light and patience in spring.\n{CODE}")
    (folder / "picture.png").write_bytes(b"\x89PNG\0")
    (folder / ".hidden.md").write_text(STEPS.format("ten"))
    return folder


def test_a_repeated_section_fails(run: Run, pages: Path) -> None:
    done = run("check", pages)
    assert done.exit_code == 1
    place, sections, *differing = done.stdout.splitlines()
    assert place.startswith("docs/b.rst:4: repeats docs/a.md:5 (revision, score 0.")
    assert sections == "  sections: Install | Setup"
    assert differing == ["  - ten minutes", "  + five minutes"]
    assert done.stderr == "3 files, 3 sections: 1 repeated section pair.\n"


@pytest.mark.parametrize(
    ("fail_on", "code"),
    [("revision", 1), ("identical,excerpt", 0), ("revision,0.99", 0), ("0.6", 1)],
)
def test_kinds_and_score_decide(run: Run, pages: Path, fail_on: str, code: int) -> None:
    assert run("check", pages, "--fail-on", fail_on).exit_code == code


def test_what_is_accepted_passes_until_copies_drift(run: Run, pages: Path) -> None:
    accept = ("--baseline", "accepted.json", "--update-baseline")
    (pages / "b.rst").write_text(f"Setup\n-----\n\n{STEPS.format('ten')}\n")
    assert run("check", pages, *accept).exit_code == 0
    assert run("check", pages, *accept[:2]).exit_code == 0
    # A line above a section moves it; it is still the same section.
    (pages / "b.rst").write_text(f"New.\n\nSetup\n-----\n\n{STEPS.format('ten')}\n")
    assert run("check", pages, *accept[:2]).exit_code == 0
    (pages / "b.rst").write_text(f"Setup\n-----\n\n{STEPS.format('five')}\n")
    done = run("check", pages, *accept[:2])
    assert done.exit_code == 1
    assert "has drifted from its accepted copy docs/a.md:5" in done.stdout
    assert run("check", pages, *accept).exit_code == 0
    assert run("check", pages, *accept[:2]).exit_code == 0
    (pages / "b.rst").unlink()
    done = run("check", pages, *accept[:2])
    assert (done.exit_code, "no longer similar" in done.stderr) == (0, True)


def test_a_file_that_cannot_be_read_fails_with_its_place(run: Run, pages: Path) -> None:
    (pages / "b.rst").write_bytes(b"text\0text")
    done = run("check", pages)
    assert (done.exit_code, done.stdout) == (1, "docs/b.rst: file is binary: NUL at byte 5\n")


def test_as_data_and_in_python(run: Run, pages: Path) -> None:
    data = json.loads(run("check", pages, "--json").stdout)
    (finding,) = data["findings"]
    assert (finding["a"]["path"], finding["b"]["line"], data["passed"]) == ("docs/a.md", 4, False)
    found = nd.check([pages], score=0.6)
    assert [(f.a.name, f.kind) for f in found.findings] == [("docs/a.md#Install", "revision")]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--fail-on", "revised"], "There is no kind 'revised'"),
        (["--fail-on", "0.5,0.6"], "at most one score"),
        (["--fail-on", "2"], "at most one score"),
        (["--update-baseline"], "needs a file"),
        (["--baseline", "docs/a.md"], "is no baseline"),
        (["missing"], "missing does not exist"),
    ],
)
def test_what_is_refused(run: Run, pages: Path, options: list[str], said: str) -> None:
    done = run("check", pages, *options)
    assert (done.exit_code, said in done.stderr) == (2, True)


def test_the_hook_names_a_command_and_options_that_exist() -> None:
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    entry = next(line for line in hook.splitlines() if "entry:" in line)
    name, command = entry.partition(":")[2].split()
    assert name == "neardup"
    assert command in main.homes  # type: ignore[attr-defined]
