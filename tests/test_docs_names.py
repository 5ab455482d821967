"""What the pages name is there: extras, make targets, modules to run, variables, files of a run."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.__main__ import parse
from neardup import _native
from neardup.cli import main
from pages import DOCS, PAGES, README, ROOT, each_page

SOURCES = ("src", "tests", "benchmarks", "tools", "Makefile")
OTHERS = {"text_dedup"}  # modules of other tools, on the page for people who come from them
COMMAND = re.compile(r"python -m ([\w.]+)([^`\n#;|)]*)")
TARGET = re.compile(r"(?:`|=1 |^)make ([a-z]+)(?=`|\s*$|\s+#)", re.MULTILINE)
ONLY_WITH = {"signatures.arrow", "export.*", "actions.parquet"}  # written where a policy is given


@cache
def extras() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return {*project["optional-dependencies"]}


@cache
def source_text() -> str:
    files = [ROOT / name for name in SOURCES]
    found = [path for file in files for path in (file.rglob("*.py") if file.is_dir() else [file])]
    return "\n".join(path.read_text("utf-8") for path in found)


def named_extras(text: str) -> set[str]:
    lists = re.findall(r"neardup\[([\w,]+)\]", text)
    alone = re.findall(r"[Ee]xtra `(\w+)`", text)
    return {name for names in lists for name in names.split(",")} | {*alone}


@each_page
def test_extras_exist(page: Path) -> None:
    assert named_extras(page.read_text("utf-8")) <= extras()


def test_every_extra_is_named_somewhere() -> None:
    named = {name for page in PAGES for name in named_extras(page.read_text("utf-8"))}
    assert extras() - named <= {"dev", "all"}  # `make dev` installs both


@each_page
def test_make_targets_exist(page: Path) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert {*TARGET.findall(page.read_text("utf-8"))} <= {*targets}


@each_page
def test_modules_that_are_run_exist(page: Path) -> None:
    for name, _ in COMMAND.findall(page.read_text("utf-8")):
        places = [root / name.replace(".", "/") for root in (ROOT, ROOT / "tests")]
        files = [
            file for place in places for file in (place.with_suffix(".py"), place / "__main__.py")
        ]
        assert name.partition(".")[0] in OTHERS or any(file.exists() for file in files), name


@each_page
def test_benchmarks_take_what_pages_give_them(page: Path) -> None:
    for name, options in COMMAND.findall(page.read_text("utf-8")):
        if name == "benchmarks":
            parse([option.rstrip(".,:*") for option in options.split()])


@each_page
def test_variables_are_read_somewhere(page: Path) -> None:
    for name in {*re.findall(r"\bNEARDUP_[A-Z_]+", page.read_text("utf-8"))}:
        assert name in source_text(), name


def test_the_files_of_a_run_are_those_of_the_page(tmp_path: Path) -> None:
    out = tmp_path / "out"
    news = str(ROOT / "examples" / "news.jsonl")
    CliRunner().invoke(main, ["dedup", news, "-o", str(out), "--quiet"], catch_exceptions=False)
    written = {path.name.replace("kept.jsonl", "kept.*") for path in out.iterdir()}
    part = (DOCS / "cli.md").read_text("utf-8").partition("\n## dedup\n")[2].partition("<!--")[0]
    listed = {name.rstrip("/") for name in re.findall(r"^\| `([\w.*/]+)` \|", part, re.MULTILINE)}
    assert written == listed - ONLY_WITH


@pytest.mark.parametrize("page", [DOCS / "methods" / "README.md", ROOT / "CHANGELOG.md"])
def test_the_version_of_unicode(page: Path) -> None:
    said = re.findall(r"(?:Unicode|\(version) (\d+\.\d+)", page.read_text("utf-8"))
    assert said == [_native.UNICODE_VERSION.rpartition(".")[0]]


def test_the_version_of_python() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    least = project["requires-python"].removeprefix(">=")
    for page in (README, ROOT / "CONTRIBUTING.md"):
        assert {*re.findall(r"Python ≥ (\d\.\d+)", page.read_text("utf-8"))} <= {least}
