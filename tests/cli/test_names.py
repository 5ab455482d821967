"""Names for people: short enough to read, and the file that a document stands in."""

from __future__ import annotations

from pathlib import Path

import pytest

import neardup as nd
from cli.sample import TEXT, Run, jsonl
from neardup.wording import sayable, score_text, shortened, where

LONG = "x" * 100_000
SPACED = "a b " * 25_000


def test_the_middle_of_a_long_name_is_left_out() -> None:
    assert shortened("sub/a.txt") == "sub/a.txt"
    short = shortened("begin" + LONG + "end.txt")
    assert len(short) < 150
    assert short.startswith("begin")
    assert short.endswith("end.txt")
    assert "characters" in short
    assert shortened("two\nlines") == "two lines"


def test_a_message_keeps_its_words() -> None:
    assert sayable("Cannot read a.txt: why.") == "Cannot read a.txt: why."
    assert len(sayable(f"Cannot read {LONG}: why.")) < 200


def test_a_score_is_one_only_if_no_word_differs() -> None:
    assert [score_text(score) for score in (1.0, 0.99996, 0.5, 0.83784)] == [
        *("1.0000", "0.9999", "0.5000", "0.8378")
    ]
    assert score_text(1.0, "normalised") == "1.0000"
    assert score_text(1.0, "revision") == "0.9999"
    assert score_text(1.0, "revision", 2) == "0.99"
    words = [f"w{i * 7919 % 6007}" for i in range(6000)]
    edited = [*words[:3000], "another", *words[3001:]]
    result = nd.dedup([" ".join(words), " ".join(edited)], method="raregrams", threshold=0.5)
    assert "kind revision, score 0.9" in str(result.explain(result.duplicates["id"][0].as_py()))


def test_where_a_document_stands() -> None:
    assert where("news.jsonl", 29) == "news.jsonl, row 29"
    assert where("lib", 29, "lib/sub/a.txt") == "lib/sub/a.txt"


@pytest.fixture
def long_ids(tmp_path: Path) -> Path:
    path = tmp_path / "long.jsonl"
    ids = (LONG, LONG + "2", SPACED, SPACED + "2", LONG, SPACED)
    path.write_text(jsonl([{"id": id, "text": TEXT} for id in ids]))
    return path


@pytest.mark.parametrize("options", [(), ("--strict",), ("--method", LONG), ("--text", LONG)])
def test_no_long_name_is_printed(
    run: Run, long_ids: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    for command in (("dedup", long_ids, "-o", tmp_path / "out"), ("find", long_ids)):
        done = run(*command, *options)
        assert len(done.stdout) + len(done.stderr) < 3000


def test_data_have_names_whole(run: Run, long_ids: Path, tmp_path: Path) -> None:
    run("dedup", long_ids, "-o", tmp_path / "out")
    result = nd.Result.load(tmp_path / "out")
    assert result.decisions["id"][0].as_py() == LONG
    assert LONG not in (tmp_path / "out/report.html").read_text()
    for id in (LONG + "2", SPACED):
        explained = result.explain(id)
        assert explained.kept_id == LONG
        assert len("\n".join([*explained.head(), explained.between()])) < 3000
    compared = run("compare", "--run", tmp_path / "out", SPACED, "nothing" + SPACED)
    assert len(compared.stderr) < 1000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "lib"
    (made / "sub").mkdir(parents=True)
    (made / "a.txt").write_text(TEXT)
    (made / "sub/b.txt").write_text(TEXT)
    (made / "sub/c.txt").write_bytes(b"a\0b")
    return made


def test_messages_name_the_file_of_a_folder(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    done = run("dedup", "lib", "-o", "out")
    assert "  rejected: lib/sub/c.txt: file is binary" in done.stderr
    assert "<bdi>lib/sub/c.txt</bdi>" in (tmp_path / "out/report.html").read_text()
    said = run("compare", "--run", "out", "sub/b.txt").stdout
    assert said.startswith("sub/b.txt (lib/sub/b.txt): duplicate of a.txt")
    strict = run("dedup", "lib", "-o", "strict", "--strict")
    assert strict.stderr.startswith("Error: lib/sub/c.txt: file is binary")
    indexed = run("index", "build", "x.db", "lib", "--method", "shingles")
    assert "rejected: lib/sub/c.txt: file is binary" in indexed.stderr
    counted = run("idf", "build", "lib", "-o", "x.idf")
    assert "rejected: lib/sub/c.txt: file is binary" in counted.stderr


def test_a_file_that_cannot_be_read_has_no_row(run: Run, folder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"no table")
    said = run("find", folder, broken).stderr
    assert f"rejected: {shortened(str(broken))}: nothing of it can be read" in said


def test_a_folder_that_has_other_files_now_is_named_as_it_was(folder: Path, tmp_path: Path) -> None:
    nd.dedup(folder).save(tmp_path / "out")
    (folder / "0.txt").write_text("another file comes first")
    assert nd.Result.load(tmp_path / "out").explain("a.txt").where == f"{folder}, row 1"
