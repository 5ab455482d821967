"""Tracing a document against a collection, and evaluation items against training texts."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import neardup as nd
from documents.extraction.office_files import docx, paragraph
from documents.extraction.test_pdf import pdf
from neardup.cli import main
from passages.material import documents_of, jsonl, prose

SOURCES = [prose(i, 80) for i in range(800, 806)]
OWN = [prose(i, 24) for i in range(810, 813)]


def essay() -> str:
    first = " ".join(SOURCES[0].split()[8:32])
    second = SOURCES[3].split()[16:56]
    second[10], second[25] = "another", "word"
    return f"{OWN[0]} {first} {OWN[1]} {' '.join(second)} {OWN[2]}"


def run(*arguments: object) -> str:
    done = CliRunner().invoke(main, [*map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.output


def test_an_essay_of_two_sources_names_both_with_their_places() -> None:
    text = essay()
    (trace,) = nd.trace([text], documents_of(*SOURCES))
    assert [part.source for part in trace.parts] == ["d0", "d3"]
    for part in trace.parts:
        source = SOURCES[int(part.source[1:])]
        assert part.text == source[part.source_begin : part.source_end]
        assert text[part.begin : part.end].split()[0] == part.text.split()[0]
    assert [part.similarity for part in trace.parts] == [1.0, 0.95]
    copied = len(text) - sum(len(own) + 1 for own in OWN)
    assert abs(trace.coverage - copied / len(text)) < 0.02


def test_a_document_is_not_its_own_source() -> None:
    documents = documents_of(*SOURCES)
    traces = nd.trace(documents, documents)
    assert [trace.parts for trace in traces] == [[]] * len(documents)


def test_one_source_is_named_where_many_have_the_text() -> None:
    documents = documents_of(*[SOURCES[0]] * 5, SOURCES[1])
    (trace,) = nd.trace([f"{OWN[0]} {SOURCES[0]}"], documents)
    (part,) = trace.parts
    assert (part.source, part.also_in) == ("d0", 4)


def test_folders_of_texts_on_both_sides(tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    for i, text in enumerate(SOURCES):
        (tmp_path / "sources" / f"{i}.txt").write_text(text)
    (tmp_path / "essay.txt").write_text(essay())
    page = tmp_path / "page.html"
    output = run("trace", tmp_path / "essay.txt", "--against", tmp_path / "sources", "--html", page)
    assert "stands in 2 sources (2 passages)" in output
    assert "of 3.txt" in output
    shown = page.read_text("utf-8")
    assert "class=s0" in shown
    assert "class=s1" in shown
    told = json.loads(
        run("trace", tmp_path / "essay.txt", "--against", tmp_path / "sources", "--json")
    )
    assert [part["source"] for part in told["documents"][0]["passages"]] == ["0.txt", "3.txt"]


def test_word_pdf_and_text_files_on_both_sides(tmp_path: Path) -> None:
    for side, first in (("essays", 0), ("sources", 1)):
        folder = tmp_path / side
        folder.mkdir()
        files = (
            (folder / "a.txt").write_text,
            lambda text, to=folder / "b.pdf": to.write_bytes(pdf((text,))),
            lambda text, to=folder / "c.docx": to.write_bytes(docx(paragraph(text))),
        )
        for i, write in enumerate(files):
            write(f"{prose(950 + 10 * first + i, 16)} {SOURCES[(i + first) % 3]}")
    asked = ("trace", tmp_path / "essays", "--against", tmp_path / "sources")
    found = {
        each["id"]: [part["source"] for part in each["passages"]]
        for each in json.loads(run(*asked, "--json"))["documents"]
    }
    assert found == {"a.txt": ["c.docx"], "b.pdf": ["a.txt"], "c.docx": ["b.pdf"]}


def test_contamination_weighs_what_many_training_documents_have(tmp_path: Path) -> None:
    phrase = prose(820, 40)
    training = [f"{prose(830 + i, 40)} {phrase}" for i in range(30)]
    training[7] += f" {prose(900, 60)}"
    items = documents_of(prose(900, 60), f"{prose(901, 4)} {phrase}", prose(902, 60))
    train = jsonl(
        tmp_path / "train.jsonl", [{"id": f"t{i}", "text": t} for i, t in enumerate(training)]
    )
    evals = jsonl(tmp_path / "evals.jsonl", items)
    output = run("passages", train, "--against", evals, "-o", tmp_path / "out")
    assert "1 of 3 documents" in output
    leaked, common, clean = pq.read_table(tmp_path / "out" / "contamination.parquet").to_pylist()
    assert leaked["coverage"] > 0.95
    assert leaked["weighted"] > 0.95
    assert leaked["source"] == "t7"
    assert common["coverage"] > 0.8
    assert common["weighted"] < 0.1
    assert clean["coverage"] == 0


@pytest.mark.parametrize("command", ["passages -o out", "clean -o out", "trace --against good"])
def test_a_file_that_is_rejected_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.jsonl").write_text('{"text": 1}\n{"text": 2}\n', "utf-8")
    Path("good").write_text(SOURCES[0], "utf-8")
    name, *options = command.split()
    failed = CliRunner().invoke(main, [name, "bad.jsonl", *options])
    assert failed.exit_code == 1
    assert "2 of 2 documents were rejected for one reason" in failed.output
    accepted = [*options, "--accept-rejected"] + ["--overwrite"] * (name == "passages")
    if name != "clean":
        assert "rejected" in run(name, "bad.jsonl", *accepted)


def test_a_collection_that_cannot_be_read_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "essay.txt").write_text(SOURCES[0], "utf-8")
    (tmp_path / "bad.jsonl").write_text('{"text": 1}\n{"text": 2}\n', "utf-8")
    asked = ["trace", str(tmp_path / "essay.txt"), "--against", str(tmp_path / "bad.jsonl")]
    failed = CliRunner().invoke(main, asked)
    assert failed.exit_code == 1
    assert "2 documents of the collection could not be read" in failed.output


def test_columns_that_are_named_are_those_of_the_collection(tmp_path: Path) -> None:
    """A text file that is traced against a table has no such columns, and needs none."""
    table = tmp_path / "archive.csv"
    table.write_text("number,body\n7," + SOURCES[0] + "\n", "utf-8")
    named = ["--against", table, "--text", "body", "--id", "number"]
    (tmp_path / "essay.txt").write_text(essay(), "utf-8")
    assert "1 passage of 7" in run("trace", tmp_path / "essay.txt", *named)
    (tmp_path / "essays.jsonl").write_text(json.dumps({"text": essay()}) + "\n", "utf-8")
    assert "1 passage of 7" in run("trace", tmp_path / "essays.jsonl", *named)
    (tmp_path / "essays.csv").write_text("essay\n" + essay() + "\n", "utf-8")
    words = ["trace", tmp_path / "essays.csv", *named]
    refused = CliRunner().invoke(main, [*map(str, words)])
    assert "it has 'essay'. Hint: what is traced needs a column 'body'" in refused.output


def test_an_empty_document_is_reported(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    (tmp_path / "source.txt").write_text(SOURCES[0], "utf-8")
    traced = run("trace", tmp_path / "empty.txt", "--against", tmp_path / "source.txt")
    assert "empty.txt is empty." in traced
    (tmp_path / "none.jsonl").touch()
    traced = run("trace", tmp_path / "none.jsonl", "--against", tmp_path / "source.txt")
    assert "no document, so nothing was traced." in traced


def test_names_that_a_shell_made_of_a_pattern_are_noticed(tmp_path: Path) -> None:
    for name in ("essay.md", "one.txt", "three.txt", "two.txt"):
        (tmp_path / name).write_text(essay(), "utf-8")
    one, *others = sorted(map(str, tmp_path.glob("*.txt")))
    said = CliRunner().invoke(main, ["trace", "--against", one, *others]).stderr
    assert f"2 documents lie beside the source {one}. Quote the pattern" in said
    alone = CliRunner().invoke(main, ["trace", str(tmp_path / "essay.md"), "--against", one])
    assert not alone.stderr
    page = str(tmp_path / "no" / "page.html")
    refused = CliRunner().invoke(main, ["trace", one, "--against", others[0], "--html", page])
    assert f"the folder {tmp_path / 'no'} does not exist" in refused.stderr
