"""Cleaning: one copy stays, formats and other fields are untouched, and characters add up."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.cli import main
from neardup.errors import NeardupError
from neardup.runs.checksums import digests_of
from passages.material import SHARED, documents_of, jsonl, prose
from repeats import examples

OWN = [prose(i, 24) for i in range(500, 504)]
DOCUMENTS = documents_of(f"{OWN[0]} {SHARED}", f"{SHARED} {OWN[1]}", f"{OWN[2]} {SHARED} {OWN[3]}")
SENTENCES = [f"{prose(n, 8)} " for n in range(600, 606)]
ENCODINGS = ("utf-8", "utf-16", "utf-8-sig")
CLEANED = [DOCUMENTS[0]["text"], OWN[1], f"{OWN[2]} {OWN[3]}"]


def run(*arguments: object) -> str:
    done = CliRunner().invoke(main, [*map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.output


def test_one_copy_stays() -> None:
    made = nd.clean(DOCUMENTS)
    assert [row["text"] for row in made.documents] == CLEANED
    assert made.counts["removed_characters"] == 2 * (len(SHARED) + 1)


def test_a_list_of_texts_stays_one() -> None:
    assert nd.clean([row["text"] for row in DOCUMENTS]).documents == CLEANED


def test_the_order_decides_which_copy_stays() -> None:
    made = nd.clean(DOCUMENTS, keep="last")
    assert [row["text"] for row in made.documents] == [f"{OWN[0]} ", OWN[1], DOCUMENTS[2]["text"]]


def test_classes_that_are_not_chosen_stay() -> None:
    assert nd.clean(DOCUMENTS, remove=["notice"]).counts["changed"] == 0
    with pytest.raises(NeardupError, match="no class of passages 'noise'"):
        nd.clean(DOCUMENTS, remove=["noise"])


@examples(20)
@given(st.lists(st.lists(st.sampled_from(SENTENCES), max_size=9)))
def test_characters_add_up_and_nothing_disappears(documents: list[list[str]]) -> None:
    texts = ["".join(document) for document in documents]
    made = nd.clean(texts, min_words=8)
    kept = made.documents
    counts = made.counts
    assert len(kept) == len(texts)
    assert sum(map(len, kept)) == counts["kept_characters"]
    assert sum(map(len, texts)) == counts["kept_characters"] + counts["removed_characters"]
    everything = "".join(kept)
    for sentence in {sentence for document in documents for sentence in document}:
        assert sentence in everything
    assert all(part == "" or part.endswith(". ") for part in kept)  # no sentence is cut


@pytest.mark.parametrize("text", ["text", "_source.text"])
def test_json_lines_keep_their_other_bytes(text: str, tmp_path: Path) -> None:
    *_, nested = text.rpartition("_source.")
    before_text, after = ('{"_source" : {', "}") if nested != text else ("{", "")
    lines = [
        before_text
        + '"n":  1.50, "text": '
        + json.dumps(row["text"])
        + after
        + f', "id":"{row["id"]}" }}\n'
        for row in DOCUMENTS
    ]
    file = tmp_path / "in.jsonl"
    file.write_text("".join(lines), "utf-8")
    before = file.read_bytes()
    output = run("clean", file, "-o", tmp_path / "out", "--text", text)
    total = sum(len(row["text"]) for row in DOCUMENTS)
    removed = 2 * (len(SHARED) + 1)
    assert f"{total:,} characters = {total - removed:,} kept + {removed:,} removed" in output
    expected = [
        line.replace(json.dumps(row["text"]), json.dumps(text))
        for line, row, text in zip(lines, DOCUMENTS, CLEANED, strict=True)
    ]
    written = tmp_path / "out" / "applied" / "1" / "documents.jsonl"
    assert written.read_text("utf-8") == "".join(expected)
    assert file.read_bytes() == before


def test_undo_restores_the_bytes_of_the_folder(tmp_path: Path) -> None:
    file = jsonl(tmp_path / "in.jsonl", DOCUMENTS)
    run("passages", file, "-o", tmp_path / "found", "--unit", "sentence")
    run("clean", file, "-o", tmp_path / "out")
    run("verify", tmp_path / "out")
    assert "kept + " in run("undo", tmp_path / "out")
    assert digests_of(tmp_path / "out") == digests_of(tmp_path / "found")


def test_tables_and_text_files_keep_their_form(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([{**row, "n": i} for i, row in enumerate(DOCUMENTS)])
    pq.write_table(table, tmp_path / "in.parquet")
    run("clean", tmp_path / "in.parquet", "-o", tmp_path / "p")
    written = pq.read_table(tmp_path / "p" / "applied" / "1" / "documents.parquet")
    assert written.schema == table.schema
    assert written["text"].to_pylist() == CLEANED
    with (tmp_path / "in.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("id", "text"), *(row.values() for row in DOCUMENTS)])
    run("clean", tmp_path / "in.csv", "-o", tmp_path / "c")
    with (tmp_path / "c" / "applied" / "1" / "documents.csv").open(newline="") as stream:
        assert [row["text"] for row in csv.DictReader(stream)] == CLEANED


def test_text_files_keep_their_encoding(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for i, (row, encoding) in enumerate(zip(DOCUMENTS, ENCODINGS, strict=True)):
        (folder / f"{i}.txt").write_bytes(f"{row['text']} Ünï.".encode(encoding))
    run("clean", folder, "-o", tmp_path / "out")
    written = tmp_path / "out" / "applied" / "1" / "documents"
    for i, (text, encoding) in enumerate(zip(CLEANED, ENCODINGS, strict=True)):
        assert (written / f"{i}.txt").read_bytes() == f"{text} Ünï.".encode(encoding)


def test_documents_below_the_floor_are_reported_and_written(tmp_path: Path) -> None:
    documents = documents_of(f"{OWN[0]} {SHARED}", SHARED)
    file = jsonl(tmp_path / "in.jsonl", documents)
    output = run("clean", file, "-o", tmp_path / "out")
    assert "1 document left with fewer than 5 words" in output
    removed = pq.read_table(tmp_path / "out" / "applied" / "1" / "removed.parquet").to_pylist()
    assert [(row["id"], row["below_floor"]) for row in removed] == [("d1", True)]
    lines = (tmp_path / "out" / "applied" / "1" / "documents.jsonl").read_text().splitlines()
    assert [json.loads(line)["text"] for line in lines] == [documents[0]["text"], ""]


def test_one_command_cleans_and_removes_duplicates(tmp_path: Path) -> None:
    short = prose(550, 16)  # too short for a passage
    twins = [{"id": "short", "text": short}, {"id": "twin", "text": short}]
    file = jsonl(tmp_path / "in.jsonl", [*DOCUMENTS, *twins])
    before = file.read_bytes()
    output = run("clean", file, "-o", tmp_path / "out", "--then", "dedup")
    assert "Then 5 documents = 4 kept + 1 duplicate + 0 rejected" in output
    folder = tmp_path / "out" / "applied" / "1"
    kept = [json.loads(line) for line in (folder / "kept.jsonl").read_text().splitlines()]
    assert [row["text"] for row in kept] == [*CLEANED, short]
    duplicates = pq.read_table(folder / "duplicates.parquet").to_pylist()
    assert [(row["id"], row["kept_id"]) for row in duplicates] == [("twin", "short")]
    run("passages", file, "-o", tmp_path / "plain", "--unit", "sentence")
    run("undo", tmp_path / "out")
    assert digests_of(tmp_path / "out") == digests_of(tmp_path / "plain")
    assert file.read_bytes() == before


def test_annotations_mark_what_would_be_removed() -> None:
    made = nd.clean(DOCUMENTS, annotate=True)
    texts = [
        [row["text"][mark["begin"] : mark["end"]].strip() for mark in row.get("passages", ())]
        for row in made.documents
    ]
    assert texts == [[], [SHARED], [SHARED]]


def test_an_edited_copy_of_what_is_removed_stays() -> None:
    """Otherwise a chain of edits could remove a text that nothing kept resembles."""
    first = prose(700, 64).split()
    second, third = first.copy(), first.copy()
    for i in (12, 13, 28, 29):
        second[i] = third[i] = f"second{i}"
    for i in (20, 21, 44, 45):
        third[i] = f"third{i}"
    made = nd.clean([" ".join(words) + "." for words in (first, second, third)], unit="paragraph")
    resembling = [text for text in made.documents if text]
    assert resembling[0].split()[0] == first[0]
    assert made.counts["removed_characters"] > 0


def test_formats_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,text\n1,a\n")
    done = CliRunner().invoke(
        main, ["clean", str(tmp_path / "in.csv"), "-o", str(tmp_path / "out"), "--annotate"]
    )
    assert done.exit_code == 2
    assert "no room for marks" in done.output


def test_single_passages_can_be_spared(tmp_path: Path) -> None:
    other = prose(7, 40)
    texts = [f"{SHARED} {other}", f"{other} {prose(8, 20)} {SHARED}"]
    documents = jsonl(tmp_path / "in.jsonl", documents_of(*texts))
    listed = nd.passages(str(documents), unit="sentence").passages.to_pylist()
    number = next(row["passage"] for row in listed if row["text"] == other)
    out = tmp_path / "out"
    run("clean", str(documents), "-o", str(out), "--except", str(number))
    rows = (out / "applied" / "1" / "documents.jsonl").read_text("utf-8").splitlines()
    left = json.loads(rows[1])["text"]
    assert other in left
    assert SHARED not in left
    done = CliRunner().invoke(
        main, ["clean", str(documents), "-o", str(tmp_path / "x"), "--except", "9"]
    )
    assert "There is no passage 9; there are 2, numbered from 0." in done.output


def test_what_is_not_removed_is_named(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "d.jsonl", documents_of(*(f"{prose(n, 40)} {SHARED}" for n in (1, 2))))
    said = run("clean", path, "-o", tmp_path / "out", "--remove", "boilerplate")
    assert "0 documents changed." in said
    assert "Passages of other classes stay: 1 copied." in said
    assert "--remove boilerplate,copied; a column" in said


@pytest.mark.parametrize("unit", ["sentence", "line", "paragraph"])
@pytest.mark.parametrize("dated", [False, True])
def test_a_footer_is_removed_though_the_line_before_it_varies(*, dated: bool, unit: str) -> None:
    footer = f"{SHARED.strip('.')}."
    documents = []
    for i in range(12):
        line = f"Published on day {i} of this month at noon by Ann Lee, our staff in Recife.\n\n"
        text = f"{prose(100 + i, 80)}.\n\n{line * dated}{footer}"
        documents.append({"id": str(i), "text": text, "source": "ab"[i % 12 == 11]})
    cleaned = nd.clean(documents, remove=["boilerplate"], unit=unit)
    left = [document["text"] for document in cleaned.documents]
    assert sum(footer in text for text in left) == 1
    assert all(f"on day {i} of" in text for i, text in enumerate(left)) == dated
