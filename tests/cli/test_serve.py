"""``neardup serve`` and ``neardup token``: what they refuse, and why."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from neardup.cli import main

NEW = ("--method", "shingles")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "index.example.org"])
def test_another_address_needs_a_token(tmp_path: Path, host: str) -> None:
    done = run("serve", tmp_path / "x.db", *NEW, "--host", host)
    assert done.exit_code == 2
    assert "can be reached from other machines" in done.output
    assert "Hint: make one with `neardup token new" in done.output
    assert not (tmp_path / "x.db").exists()


def test_what_cannot_be_served_is_said(tmp_path: Path) -> None:
    done = run("serve", tmp_path / "x.db", *NEW, "--token-file", tmp_path / "none")
    assert (done.exit_code, "none cannot be read" in done.output) == (1, True)
    done = run("serve", tmp_path / "x.db", "--read-only")
    assert (done.exit_code, "There is no index" in done.output) == (1, True)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run("serve", tmp_path / "x.db", *NEW, "--port", taken.getsockname()[1])
    assert (done.exit_code, "Cannot listen on 127.0.0.1" in done.output) == (2, True)


def test_a_new_index_needs_no_method(tmp_path: Path) -> None:
    """It is made before the port turns out to be taken."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run("serve", tmp_path / "x.db", "--port", taken.getsockname()[1])
    assert "Cannot listen on 127.0.0.1" in done.output
    made = json.loads(run("index", "stats", tmp_path / "x.db", "--json").stdout)
    assert (made["method"], made["tables"]["general"]) == ("raregrams", True)


def test_tokens_are_made_listed_and_removed(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    made = run("token", "new", "--token-file", file, "--name", "reader", "--read-only")
    assert made.output.startswith("neardup_")
    run("token", "new", "--token-file", file)
    listed = json.loads(run("token", "list", "--token-file", file, "--json").output)
    assert [(one["name"], one["read_only"]) for one in listed] == [
        ("reader", True),
        ("default", False),
    ]
    shown = run("token", "list", "--token-file", file).output
    assert "read and write" in shown
    assert made.output.strip() not in shown
    assert run("token", "remove", "--token-file", file, "reader").output == "reader was removed.\n"
    again = run("token", "remove", "--token-file", file, "reader")
    assert (again.exit_code, "has no token 'reader'" in again.output) == (2, True)
