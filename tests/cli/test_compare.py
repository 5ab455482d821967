"""compare: files, documents, strings."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from cli.sample import Run
from neardup.wording import ACTING

OUR_STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path, word in zip(paths, ("sidewalk", "pavement"), strict=True):
        path.write_text(f"People rally on the {word} today")
    return paths


def test_files(run: Run, files: list[Path]) -> None:
    done = run("compare", *files)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-4:] == [
        " 1:1   People rally on the",
        "1:21 - sidewalk",
        "1:21 + pavement",
        "1:30   today",
    ]
    assert "no duplicate (too short to be compared)" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("columns", "colours", "shown"),
    [
        ("80", "1", "\x1b[31m1:21 - sidewalk"),
        ("140", "1", "the \x1b[31msidewalk\x1b[0m today"),
        ("140", None, "the [-sidewalk-] today"),
    ],
)
def test_on_a_terminal(
    run: Run, files: list[Path], columns: str, colours: str | None, shown: str
) -> None:
    env = {"COLUMNS": columns, "FORCE_COLOR": "1", "TERM": "xterm"}
    env["NO_COLOR"] = None if colours else "1"  # type: ignore[assignment]  # None takes it away
    done = run("compare", *files, env=env)
    assert shown in done.stdout


def test_documents_by_id(run: Run, docs: Path) -> None:
    by_in = run("compare", "fox", "edited", "--in", docs)
    by_sign = run("compare", f"{docs}#fox", f"{docs}#edited")
    assert by_in.exit_code == 0
    assert by_in.stdout == by_sign.stdout
    assert "duplicate" in by_in.stdout


@pytest.fixture
def out(run: Run, docs: Path, tmp_path: Path) -> Path:
    assert run("dedup", docs, "-o", tmp_path / "out").exit_code == 0
    return tmp_path / "out"


def test_two_documents_of_a_run(run: Run, out: Path) -> None:
    """With the tables and the cut of that run: nothing is counted from two texts alone."""
    done = run("compare", "--run", out, "fox", "edited")
    assert "method      raregrams ≥ 0.5: score 0.89" in done.stdout
    assert "alone" not in done.stdout


def test_why_a_run_decided_so(run: Run, out: Path, tmp_path: Path) -> None:
    done = run("compare", "--run", out, "edited", "--html", tmp_path / "why.html")
    assert done.stdout.startswith("edited (")
    assert "duplicate of fox, kind revision, score 0.89" in done.stdout
    assert "1:11 + edit2" in done.stdout
    assert "<h1>Why edited is a duplicate</h1>" in (tmp_path / "why.html").read_text()
    said = json.loads(run("compare", "--run", out, "other", "--json").stdout)
    assert (said["decision"], said["reason"], said["comparison"]) == ("kept", "unique", None)


def test_a_run_says_how_it_compared(run: Run, out: Path, docs: Path) -> None:
    done = run("compare", "--run", out, "fox", "--in", docs, "--method", "exact", "--set", "a=1")
    assert done.exit_code == 2
    assert "--in, --method, --set cannot be given with --run" in done.stderr
    assert "No document of this run" in run("compare", "--run", out, "fox", "fix").stderr
    assert "did you mean 'fox'" in run("compare", "--run", out, "fix").stderr
    assert "A alone is for --run" in run("compare", "fox").stderr
    assert "not the folder of a finished run" in run("compare", "--run", docs.parent, "a").stderr


def test_output_is_bounded_and_json_is_whole(run: Run, tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    for path, word in zip(paths, ("old", "new"), strict=True):
        path.write_text(" ".join(f"one{i} two{i} six{i} {word}{i}" for i in range(400)))
    done = run("compare", *paths)
    assert done.stdout.splitlines()[-1] == "… and 667 more passages"
    assert len(done.stdout.splitlines()) < 220
    assert len(run("compare", *paths, "--lines", "0").stdout.splitlines()) > 1200
    assert len(json.loads(run("compare", *paths, "--json").stdout)["passages"]) == 800
    env = {"COLUMNS": "120", "FORCE_COLOR": "1", "TERM": "xterm"}
    assert len(run("compare", *paths, "--lines", "20", env=env).stdout.splitlines()) < 60


def test_hostile_texts(run: Run, tmp_path: Path) -> None:
    """Nothing of a document acts on the terminal, in any form of output."""
    path = tmp_path / "a.txt"
    path.write_bytes("\x1b]0;mine\x07 \x1b[2J\x1b[?25l \u202e one two [bold]three[/] \x9b".encode())
    other = tmp_path / "b.txt"
    other.write_text("one two")
    env = {"COLUMNS": "120", "FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm"}
    for options in ((), ("--json",), ("--html", tmp_path / "x.html")):
        for env_ in ({}, env):
            done = run("compare", path, other, *options, env=env_)
            assert done.exit_code == 0, done.stderr
            assert not ACTING.search(OUR_STYLE.sub("", done.stdout))


def test_wide_characters_keep_the_columns(run: Run, tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    for path, word in zip(paths, ("符", "串"), strict=True):
        path.write_text(f"中文字{word}测试文本 and more words\n" * 8)
    env = {"COLUMNS": "100", "FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm"}
    lines = OUR_STYLE.sub("", run("compare", *paths, env=env).stdout).splitlines()
    columns = {cell_len(line.partition("│")[0]) for line in lines if "│" in line}
    assert len(columns) == 1
    for path in paths:
        path.write_text("שלום עולם one two three")
    assert "│" not in run("compare", *paths, env=env).stdout


def test_columns(run: Run, docs: Path) -> None:
    done = run("compare", "2003-01-01", "2003-01-02", "--in", docs, "--id", "day", "--text", "site")
    assert done.stdout.startswith("kind        identical")


def test_strings_as_json(run: Run) -> None:
    done = run("compare", "--strings", "a rose is red", "A rose is white!", "--json")
    said = json.loads(done.stdout)
    assert [(p["how"], p["a"]["text"], p["b"]["text"]) for p in said["passages"]] == [
        ("shared", "a rose is", "A rose is"),
        ("differs", "red", "white"),
    ]
    assert said["verdict"]["method"] == "raregrams"


def test_the_method_and_its_parameters(run: Run) -> None:
    options = ("--method", "shingles", "--threshold", "0.5", "--set", "min_words=1", "--set")
    done = run("compare", "--strings", "a b c d", "a b c e", *options, "words=1")
    assert "shingles ≥ 0.5: score 0.6000, duplicate" in done.stdout


def test_stdin(run: Run, files: list[Path]) -> None:
    done = run("compare", "-", files[0], input=files[0].read_text())
    assert done.stdout.startswith("kind        identical")


def test_refusals(run: Run, docs: Path, tmp_path: Path) -> None:
    binary = tmp_path / "binary.txt"
    binary.write_bytes(bytes(range(256)) * 20)
    for arguments, code, sentence in [
        (("nowhere", "here"), 1, "nowhere cannot be read"),
        ((docs, docs), 2, "holds many documents"),
        ((f"{docs}#fox", f"{docs}#fix"), 1, "no usable document with the id 'fix'"),
        ((binary, binary), 1, "cannot be read as text"),
    ]:
        done = run("compare", *arguments)
        assert (done.exit_code, sentence in done.stderr) == (code, True), done.stderr


def test_pages_are_compared_by_their_text(run: Run, tmp_path: Path) -> None:
    article = " ".join(f"Sentence {i} of the article says something." for i in range(20))
    one, other, nothing = (tmp_path / name for name in ("a.html", "b.htm", "c.html"))
    one.write_text(f"<html><body><nav>Home News</nav><article><p>{article}</p></article></body>")
    other.write_text(f"<html><body><main><div><p>{article}</p></div></main></body></html>")
    nothing.write_text("<html></html>")
    assert json.loads(run("compare", one, other, "--json").stdout)["kind"] == "identical"
    done = run("compare", one, nothing)
    assert done.exit_code == 1
    assert "cannot be compared: page has no text." in done.stderr


def test_two_files_are_judged_as_a_run_judges_them(run: Run, tmp_path: Path) -> None:
    """By the default method, with general tables: the two texts alone do not say what is rare, so
    that the little that strangers share would be all that counts."""
    ends = ", said the mayor, who had asked the regional bank for a loan"
    first = f"The council met on Monday and voted to rebuild the old ferry pier in stone{ends}"
    texts = {
        "a": first,
        "b": first.replace("Monday", "Tuesday"),
        "c": f"A storm broke three windows of the school and flooded its cellar overnight{ends}",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
    for method in ((), ("--method", "raregrams"), ("--method", "rareshingles")):
        verdicts = {}
        for other in "bc":
            files = tmp_path / "a.txt", tmp_path / f"{other}.txt"
            verdicts[other] = json.loads(run("compare", *files, *method, "--json").stdout)[
                "verdict"
            ]
        assert verdicts["b"]["duplicate"]
        assert verdicts["b"]["score"] > 0.6
        assert not verdicts["c"]["duplicate"]
        assert verdicts["c"]["score"] < 0.5
        assert "general" in verdicts["c"]["note"]
    assert "raregrams ≥ 0.5: " in run("compare", *files).stdout
