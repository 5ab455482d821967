"""compare: files, documents, strings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.sample import Run


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path, word in zip(paths, ("sidewalk", "pavement"), strict=True):
        path.write_text(f"People rally on the {word} today")
    return paths


def test_files(run: Run, files: list[Path]) -> None:
    done = run("compare", *files)
    assert done.exit_code == 0
    tail = done.stdout.splitlines()[-4:]
    assert tail == ["  people rally on the", "- sidewalk", "+ pavement", "  today"]
    assert "no duplicate (too short to be compared)" in done.stdout
    assert "\x1b" not in done.stdout


def test_colours_on_a_terminal(run: Run, files: list[Path]) -> None:
    assert "\x1b[31m- sidewalk" in run("compare", *files, color=True).stdout


def test_documents_by_id(run: Run, docs: Path) -> None:
    by_in = run("compare", "fox", "edited", "--in", docs)
    by_sign = run("compare", f"{docs}#fox", f"{docs}#edited")
    assert by_in.exit_code == 0
    assert by_in.stdout == by_sign.stdout
    assert "duplicate" in by_in.stdout


def test_columns(run: Run, docs: Path) -> None:
    done = run("compare", "2003-01-01", "2003-01-02", "--in", docs, "--id", "day", "--text", "site")
    assert done.stdout.startswith("kind        identical")


def test_strings_as_json(run: Run) -> None:
    done = run("compare", "--strings", "a rose is red", "A rose is white!", "--json")
    said = json.loads(done.stdout)
    assert said["differing"] == [["red", "white"]]
    assert said["shared"] == [["a rose is", "a rose is"]]
    assert said["verdict"]["method"] == "shingles"


def test_the_method_and_its_parameters(run: Run) -> None:
    options = ("--method", "shingles", "--threshold", "0.5", "--set", "min_words=1", "--set")
    done = run("compare", "--strings", "a b c d", "a b c e", *options, "words=1")
    assert "shingles ≥ 0.5: score 0.6000, duplicate" in done.stdout


def test_stdin(run: Run, files: list[Path]) -> None:
    done = run("compare", "-", files[0], input=files[0].read_text())
    assert done.stdout.startswith("kind        identical")


def test_refusals(run: Run, docs: Path, tmp_path: Path) -> None:
    latin = tmp_path / "latin.txt"
    latin.write_bytes(b"caf\xe9")
    for arguments, code, sentence in [
        (("nowhere", "here"), 1, "nowhere cannot be read"),
        ((docs, docs), 2, "holds many documents"),
        ((f"{docs}#fox", f"{docs}#fix"), 1, "no usable document with the id 'fix'"),
        ((latin, latin), 1, "is not UTF-8: unexpected end of data at byte 3"),
    ]:
        done = run("compare", *arguments)
        assert (done.exit_code, sentence in done.stderr) == (code, True), done.stderr
