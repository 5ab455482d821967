"""``neardup watch``: what it prints, how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import neardup as nd
from cli.sample import TEXT, Run, edited

OPTIONS = ("--window", "24h", "--method", "qgrams", "--forward", "out", "--aside", "dup")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    for age, (name, text) in enumerate({"b.txt": edited(2), "a.txt": TEXT}.items(), 1):
        path = Path("in", name)
        path.write_text(text)
        os.utime(path, (1e9 - age,) * 2)
    return tmp_path


def watch(run: Run, *options: str) -> tuple[int, str, str]:
    done = run("watch", "in", "--index", "news.db", *OPTIONS, "--once", *options)
    return done.exit_code, done.stdout, done.stderr


def test_one_line_makes_an_index_and_works_a_folder_off(folder: Path, run: Run) -> None:
    code, out, said = watch(run)
    assert (code, out) == (0, "")
    assert said.splitlines()[-1] == "2 items: 1 original, 1 duplicate, 0 unreadable."
    assert (folder / "out/a.txt").exists()
    assert json.loads((folder / "dup/b.txt.why.json").read_bytes())["of"] == "a.txt"


def test_the_place_of_unreadable_items_is_named(folder: Path, run: Run) -> None:
    (folder / "in" / "bad.json").write_text("no JSON")
    said = watch(run)[2].splitlines()
    assert said[-3] == "3 items: 1 original, 1 duplicate, 1 unreadable."
    place = Path("in", ".neardup-watch", "unreadable")
    assert said[-2] == f"Unreadable items are in {place}, each with its reason."
    assert (place / "bad.json.why.json").exists()


def test_nothing_readable_is_no_success_and_the_reason_is_said(tmp_path: Path, run: Run) -> None:
    (tmp_path / "in").mkdir()
    for n in range(2):
        (tmp_path / "in" / f"{n}.json").write_text('{"contenu": "un texte"}')
    (tmp_path / "in" / "a.zzz").write_text("x")
    places = ["--index", tmp_path / "i.db", "--forward", tmp_path / "out"]
    done = run("watch", tmp_path / "in", *places, "--once")
    assert done.exit_code == 1
    reason = "it has no 'text', only 'contenu'; make a new index with --text COLUMN."
    assert done.stderr.splitlines()[-1] == f"The most frequent reason (2): {reason}"


def test_no_method_has_to_be_named(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hint comes where there is enough to count."""
    asked = ("watch", "in", "--index", "new.db", "--forward", "out", "--aside", "dup", "--once")
    first = run(*asked)
    assert first.exit_code == 0
    assert first.stderr.splitlines()[-1] == "2 items: 1 original, 1 duplicate, 0 unreadable."
    assert json.loads((folder / "dup/b.txt.why.json").read_bytes())["kind"] is not None
    monkeypatch.setattr("neardup.engines.index.index_artefacts.ENOUGH", 2)
    assert "neardup index refresh" in run(*asked).stderr.splitlines()[-1]
    assert "refresh" not in run(*asked, "--quiet").stderr


def test_notes_tell_kinds_where_texts_are_stored(folder: Path, run: Run) -> None:
    assert watch(run, "--texts")[0] == 0
    note = json.loads((folder / "dup/b.txt.why.json").read_bytes())
    texts = [(folder / name).read_text() for name in ("out/a.txt", "dup/b.txt")]
    assert note["kind"] == nd.compare(*texts).kind
    assert watch(run)[2].splitlines()[-1].startswith("0 items")


def test_events(folder: Path, run: Run) -> None:
    code, out, said = watch(run, "--json", "--quiet")
    one, two, end = map(json.loads, out.splitlines())
    assert (code, said) == (0, "")
    assert one == {"event": "original", "name": "a.txt", "id": "a.txt", "to": "out/a.txt"}
    assert (two["event"], two["of"], two["reason"]) == ("duplicate", "a.txt", "doc_4 >= 0.8")
    assert (end["event"], end["items"], end["duplicate"]) == ("end", 2, 1)
    assert folder.exists()


def test_a_log_has_a_line_an_item_if_asked(folder: Path, run: Run) -> None:
    said = watch(run, "-v")[2]
    assert "info: a.txt: original\n" in said
    assert "info: b.txt: duplicate of a.txt (0.9" in said
    assert folder.exists()


def test_what_waits_is_said_and_the_code_is_1(folder: Path, run: Run) -> None:
    code, _, said = watch(run, "--exec", f"{sys.executable} -c raise")
    assert code == 1
    assert "failed on a.txt with code 1" in said
    assert said.splitlines()[-1].startswith("1 item waits in in/.neardup-watch")
    assert watch(run)[0] == 0
    assert (folder / "out/a.txt").exists()


def test_a_recipe_is_one_command(folder: Path, run: Run) -> None:
    """DDD: a folder, and nothing else to say. Case counts, duplicates are remembered, tags go."""
    text = "The old ferry pier at Marrow Harbour will be rebuilt in stone next year. " * 3
    (folder / "in/1.html").write_text(f"<html><body><nav>Home</nav><p>{text}</p></body></html>")
    (folder / "in/2.txt").write_text(f"Home {text}")
    (folder / "in/3.txt").write_text("Nothing of this kind was ever seen in the town. " * 3)
    done = run("watch", "in", "--recipe", "montanari-puglisi", "--once")
    assert done.exit_code == 0, done.output
    work = folder / "in/.neardup-watch"
    assert len(list((work / "forward").iterdir())) >= 2
    assert (work / "aside/2.txt").exists()
    with nd.Index.open(work / "index.db", create=False) as index:
        made = index.described()
    assert (made["window"], made["against"], made["method"]) == ("24h", "seen", "qgrams")
    again = run("watch", "in", "--recipe", "montanari2012", "--once", "--memory", "50MB")
    assert again.exit_code == 0, again.output
    clipped = ("--clipping", "0.5,0.001")
    assert run("watch", "in", "--recipe", "montanari2012", "--once", *clipped).exit_code == 0
    wrong = run("watch", "in", "--recipe", "montanari2012", "--once", "--clipping", "some")
    assert "expected one or two shares" in wrong.stderr


@pytest.mark.usefixtures("folder")
def test_without_a_recipe_an_index_is_named(run: Run) -> None:
    assert "Missing option '--index'" in run("watch", "in", "--forward", "out").stderr
    other = ("--index", "s.db", "--forward", "out", "--method", "simhash", "--clipping", "0.5")
    assert "looks no q-grams up" in run("watch", "in", *other).stderr


def test_wrong_options(folder: Path, run: Run) -> None:
    done = run("watch", "nowhere", "--index", "news.db", "--poll", "0")
    assert done.exit_code == 2
    for part in ("There is no folder nowhere", "give --forward", "--poll is 0.0"):
        assert part in done.stderr
    assert not (folder / "news.db").exists()
    watch(run)
    done = run("watch", "in", "--index", "news.db", "--forward", "out", "--method", "simhash")
    assert "made with other settings; they differ in method" in done.stderr


def test_ctrl_c_finishes_what_is_at_hand_and_says_the_totals(folder: Path) -> None:
    """From a pipe that stays open, so that it waits for us, not we for it."""
    command = [sys.executable, "-m", "neardup", "watch", "-", "--index", "news.db", *OPTIONS]
    with subprocess.Popen(
        [*command, "--json", "--poll", "0.05"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps({"id": "one", "text": TEXT}).encode() + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["event"] == "original"
        process.send_signal(signal.SIGINT)
        assert json.loads(process.stdout.readline())["event"] == "end"
        assert process.wait() == 0
        assert process.stderr
        assert b"1 item: 1 original" in process.stderr.read()
    assert (folder / "out/one.json").exists()
