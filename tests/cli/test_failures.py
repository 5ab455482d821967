"""How commands fail, and what a real process prints and returns."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cli.sample import DOCUMENTS, Run, jsonl

NEARDUP = [sys.executable, "-m", "neardup"]


def process(*arguments: object, **options: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*NEARDUP, *map(str, arguments)], capture_output=True, **options)  # type: ignore[call-overload,no-any-return]


def fail_with(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("neardup.engines.execution.execute", fail)


def test_an_unexpected_error_is_one_sentence(
    run: Run, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_with(monkeypatch, ZeroDivisionError("by zero"))
    done = run("find", docs)
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: unexpected ZeroDivisionError: by zero. Hint: run again")
    assert "Traceback" not in done.stderr


def test_debug_shows_the_traceback(run: Run, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(monkeypatch, ZeroDivisionError("by zero"))
    done = run("find", docs, "--debug")
    assert done.exit_code == 1
    assert "Traceback" in done.stderr


def test_a_full_disk_is_one_sentence(run: Run, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(monkeypatch, OSError(28, "No space left on device", "/data/out"))
    done = run("find", docs)
    assert done.exit_code == 1
    assert done.stderr == "Error: the system says /data/out: No space left on device.\n"


def test_an_unknown_command(run: Run) -> None:
    done = run("dedupe")
    assert done.exit_code == 2
    assert "There is no command 'dedupe'. Hint: did you mean 'dedup'?" in done.stderr


def test_missing_input(run: Run, tmp_path: Path) -> None:
    assert "does not exist" in run("find", tmp_path / "nothing.jsonl").stderr
    assert run("find").exit_code == 2


def test_a_real_pipe() -> None:
    done = process("dedup", "-", "-o", "-", input=jsonl(DOCUMENTS).encode())
    assert done.returncode == 0
    assert done.stdout.decode() == jsonl([DOCUMENTS[i] for i in (0, 3, 4)])
    assert b"5 documents = 3 kept" in done.stderr


def test_real_exit_codes(docs: Path, broken: Path, tmp_path: Path) -> None:
    assert process("find", docs, "--threshold", "7").returncode == 2
    strict = process("dedup", broken, "-o", tmp_path / "out", "--strict")
    assert strict.returncode == 1
    assert strict.stderr.startswith(b"Error: ")
    assert strict.stderr.count(b"\n") == 1


def test_a_closed_pipe_is_quiet(docs: Path) -> None:
    command = f"{' '.join(NEARDUP)} dedup {docs} -o - --quiet | true"
    done = subprocess.run(command, shell=True, capture_output=True, check=False)
    assert done.stderr == b""


@pytest.mark.parametrize("arguments", ["--help", "dedup --help", "find -h", "compare -h"])
def test_help_loads_nothing_heavy(arguments: str) -> None:
    code = (
        "import sys\nfrom neardup.cli import main\n"
        f"try: main({arguments.split()!r})\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'pyarrow', 'rich', 'rapidfuzz'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_few_rows_in_another_encoding_are_rejected_with_a_hint(run: Run, tmp_path: Path) -> None:
    rows = [f"{i},{'a café on the corner' if i % 3 == 0 else 'plain words'}" for i in range(9)]
    file = tmp_path / "words.csv"
    file.write_bytes("\n".join(["id,text", *rows]).encode("windows-1252"))
    done = run("dedup", file, "-o", tmp_path / "out")
    assert done.exit_code == 0
    assert "--encoding windows-1252" in done.output
    again = run("dedup", file, "-o", tmp_path / "again", "--encoding", "windows-1252")
    assert "0 rejected" in again.output
    assert "--encoding" not in again.output


def test_too_little_memory_is_one_sentence(
    run: Run, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_with(monkeypatch, MemoryError())
    done = run("find", docs)
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: the system gave no more memory. Hint: ")
