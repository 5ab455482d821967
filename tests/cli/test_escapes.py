"""No command prints what a terminal obeys, or a password: ids, texts and names may be hostile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.sample import Run, jsonl
from neardup.wording import visible

NAME = "a\x1b]0;owned\x07\x9b31m\u202eb"
TEXT = "The council met on Monday and decided to repair the old bridge over the river this year. "


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    path = tmp_path / f"{NAME}.jsonl"
    rows = [{"id": f"{NAME}{n}", "text": f"{TEXT * 3}\x1b[31m {n}"} for n in range(3)]
    path.write_text(jsonl([*rows, {"id": NAME, "text": None}]), "utf-8")
    return path


def test_no_command_prints_them(run: Run, hostile: Path, tmp_path: Path) -> None:
    out, store, name = tmp_path / "out", tmp_path / "i.db", f"{NAME}0"
    commands = [
        ["dedup", hostile, "-o", out],
        ["find", hostile],
        ["find", hostile, "--json"],
        ["compare", name, f"{NAME}1", "--in", hostile],
        ["compare", name, "--run", out],
        ["compare", name, "--run", out, "--json"],
        ["compare", "missing" + NAME, "--run", out],
        ["index", "build", store, hostile],
        ["index", "add", store, hostile],
        ["index", "check", store, hostile],
        ["group", hostile],
        ["dedup", tmp_path / f"missing{NAME}.jsonl"],
        ["verify", tmp_path / NAME],
        ["report", tmp_path / NAME],
    ]
    for command in commands:
        done = run(*command)
        for sign in ("\x1b", "\x07", "\x9b", "\u202e"):
            assert sign not in done.stdout + done.stderr, command


def test_json_says_the_same(run: Run, hostile: Path) -> None:
    done = run("compare", f"{NAME}0", f"{NAME}1", "--in", hostile, "--json")
    assert json.dumps(f"{NAME}0") in json.dumps(json.loads(done.stdout))


@pytest.mark.parametrize("password", ["secret", "se/cr@et", "s:e?cret", "sec%40ret"])
def test_no_password_is_printed(run: Run, password: str) -> None:
    url = f"postgresql://me:{password}@127.0.0.1:1/news?connect_timeout=1"
    for command in (["index", "stats"], ["verify"], ["index", "check"], ["review"]):
        for address in (url, url.replace("postgresql", "postgersql")):
            done = run(*command, address)
            assert done.exit_code != 0
            for part in (password, "cret", "cr@et", "sec%40"):
                assert part not in done.stdout + done.stderr, (command, done.stderr)


def test_plain_text_stays() -> None:
    plain = "naïve café\t日本語 👍🏽 עברית\n"
    assert visible(plain) == plain
    assert visible("\x1b[0m\x7f") == "␛[0m␡"
