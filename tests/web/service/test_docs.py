"""docs/service.md: its requests are sent and its Python runs, against the server it speaks of."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from neardup.cli import main
from neardup.web.limits import Limits
from web.service.process import Served, served

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "service.md"
SAID = "http://127.0.0.1:8765"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    store = tmp_path_factory.mktemp("docs") / "news.index"
    news = str(ROOT / "examples" / "news.jsonl")
    built = CliRunner().invoke(main, ["index", "build", str(store), news, "--texts", "--quiet"])
    assert built.exit_code == 0, built.output
    with served(store, settings=()) as made:
        yield made


@pytest.fixture
def curl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``curl`` on PATH is ours, on machines with another one too."""
    program = tmp_path / "curl"
    ours = shlex.join([sys.executable, str(Path(__file__).with_name("curl.py"))])
    program.write_text(f'#!/bin/sh\nexec {ours} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)


@pytest.mark.usefixtures("curl")
def test_requests_are_answered_as_the_page_says(service: Served) -> None:
    """In their order, each after those before it. NEARDUP_UPDATE_DOCS=1 corrects the page."""
    page = PAGE.read_text("utf-8")
    for language, block, printed in BLOCK.findall(page):
        if language == "console":
            made = "".join(_run(part, service.url) for part in block.split("$ ")[1:])
            page = page.replace(block, made)
        elif language == "py":
            assert _python(block, service.url) == printed
    if os.environ.get("NEARDUP_UPDATE_DOCS"):
        PAGE.write_text(page, "utf-8")
    assert page == PAGE.read_text("utf-8")


def _run(part: str, url: str) -> str:
    command, _, _ = part.partition("\n")
    done = subprocess.run(
        ["sh", "-c", command.replace(SAID, url)], capture_output=True, text=True, check=True
    )
    return f"$ {command}\n{done.stdout.rstrip()}\n"


def _python(block: str, url: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.replace(SAID, url), str(PAGE), "exec", dont_inherit=True), {})
    return printed.getvalue()


def test_the_limits_are_those_of_the_code() -> None:
    page, limits = PAGE.read_text("utf-8"), Limits()
    for found in (limits.body, limits.text, limits.id, limits.batch, limits.waiting):
        assert f"| {found:,} |" in page
    assert f"| {limits.seconds:g} | `--timeout`" in page
    assert f"| {limits.requests:,}; {limits.bodies:,} |" in page
