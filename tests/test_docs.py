"""The docs tell the truth: help texts are the real ones, examples run, every name is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import neardup as nd
from cli.every import every_command
from neardup.cli import main

DOCS = Path(__file__).parents[1] / "docs"
CLI, API = DOCS / "cli.md", DOCS / "python-api.md"
HELP = re.compile(r"<!-- help: ?([\w ]*?) ?-->\n(?:\n```text\n.*?\n```\n)?", re.DOTALL)


def help_text(command: str) -> str:
    arguments = [*command.split(), "--help"]
    done = CliRunner().invoke(main, arguments, prog_name="neardup", terminal_width=80)
    return done.stdout.rstrip()


def with_help(page: str) -> str:
    def block(found: re.Match[str]) -> str:
        name = found[1]
        return f"<!-- help: {name}{' ' if name else ''}-->\n\n```text\n{help_text(name)}\n```\n"

    return HELP.sub(block, page)


def test_help_is_the_real_one() -> None:
    page = CLI.read_text("utf-8")
    if os.environ.get("NEARDUP_UPDATE_DOCS"):
        CLI.write_text(with_help(page), "utf-8")
        return
    assert page == with_help(page), "run the tests once with NEARDUP_UPDATE_DOCS=1"


def test_every_command_is_documented() -> None:
    assert {name for name in HELP.findall(CLI.read_text("utf-8")) if name} == set(every_command())


def test_every_option_is_explained() -> None:
    for name, command in every_command().items():
        for parameter in command.params:
            assert parameter.param_type_name == "argument" or parameter.help, (name, parameter.name)  # type: ignore[attr-defined]


def test_help_says_once_that_an_option_is_required() -> None:
    """Click says it by itself; a help text that says it too shows it twice."""
    for name in every_command():
        assert not re.search(r"\[required\]\s+\[required\]", help_text(name)), name


def test_the_compare_example_is_the_real_one() -> None:
    example = CLI.read_text("utf-8").partition("```console\n$ neardup ")[2].partition("\n```")[0]
    command, _, output = example.partition("\n")
    strings = re.findall(r'"(.*?)"', command)
    done = CliRunner().invoke(main, ["compare", "--strings", *strings])
    assert done.stdout.rstrip() == output


def test_defaults_in_help_are_those_of_the_settings() -> None:
    from neardup.settings import USUAL_MEMORY, Settings

    said = " ".join(help_text("dedup").split())
    settings = Settings()
    for name in ("method", "text", "keep", "clusters", "max_pairs"):
        assert f"[default: {getattr(settings, name)}]" in said, name
    assert f"[default: {USUAL_MEMORY // 10**9}GB, or what the documents need]" in said


def test_the_api_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(DOCS.parent / "examples")
    monkeypatch.chdir(tmp_path)  # what the page writes stays there
    blocks = re.findall(r"```python\n(.*?)```", API.read_text("utf-8"), re.DOTALL)
    assert len(blocks) > 5
    exec(compile("\n".join(blocks), str(API), "exec"), {})


def test_every_public_name_is_documented() -> None:
    headings = re.findall(r"^## (.*)$", API.read_text("utf-8"), re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(headings))) == nd.__all__


def test_public_names() -> None:
    assert nd.__all__ == sorted(nd.__all__)
    assert len({*nd.__all__} - {"__version__"}) <= 12
    assert dir(nd) == nd.__all__
    assert all(getattr(nd, name) is not None for name in nd.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = nd.nothing  # type: ignore[attr-defined]


def test_importing_loads_nothing_heavy() -> None:
    code = "import sys, neardup, neardup.errors; print({'numpy', 'pyarrow'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
