"""Passages of a collection: tables, classes, the folder, and both ways to ask for them."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import neardup as nd
from neardup.cli import main
from neardup.engines.integrity import verify
from neardup.errors import NeardupError
from neardup.passages import passage_folder
from neardup.passages.excerpts import is_quoted
from neardup.passages.passage_tables import Passages
from neardup.runs.checksums import digests_of
from neardup.runs.journal_folder import JournalFolder
from neardup.runs.result import Result
from passages.material import SHARED, documents_of, jsonl, prose

MAIL = "> " + SHARED.replace(". ", ".\n> ")


def run(*arguments: object) -> str:
    done = CliRunner().invoke(main, [*map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.output


def found(documents: list[dict[str, str]], **settings: object) -> Passages:
    return nd.passages(documents, **settings)  # type: ignore[arg-type]


def texts_of(passages: Passages, documents: list[dict[str, str]]) -> list[tuple[str, str]]:
    texts = {document["id"]: document["text"] for document in documents}
    rows = passages.occurrences.to_pylist()
    return [(row["id"], texts[row["id"]][row["begin"] : row["end"]]) for row in rows]


def test_a_shared_passage_is_found_at_its_characters() -> None:
    documents = documents_of(f"{prose(1, 16)} {SHARED} Ö", f"Ä {prose(2, 24)} {SHARED}")
    passages = found(documents)
    assert [(id, text) for id, text in texts_of(passages, documents)] == [
        ("d0", SHARED[:-1]),
        ("d1", SHARED[:-1]),
    ]
    (row,) = passages.passages.to_pylist()
    assert (row["words"], row["documents"], row["occurrences"]) == (40, 2, 2)
    assert passages.occurrences["original"].to_pylist() == [True, False]
    assert passages.occurrences["of"].to_pylist() == [None, "d0"]


def test_an_edited_copy_is_one_occurrence_with_its_similarity() -> None:
    edited = SHARED.split()
    edited[10], edited[25] = "changed", "too"
    documents = documents_of(SHARED, f"{prose(3, 8)} {' '.join(edited)}")
    rows = found(documents).occurrences.to_pylist()
    assert [row["exact"] for row in rows] == [True, False]
    assert rows[1]["similarity"] == 38 / 40
    assert len(found(documents, gap=0, min_words=25).occurrences) == 0


@pytest.mark.parametrize("unit", ["sentence", "line", "paragraph"])
def test_only_whole_units_are_passages(unit: str) -> None:
    body = SHARED.replace(". ", ".\n\n")
    half = body[len(body) // 5 :]
    documents = documents_of(body, f"Other words before{half}")
    for _, text in texts_of(found(documents, unit=unit), documents):
        assert text.strip() in SHARED.replace(". ", ".\n\n")
        assert text[0].isupper()
        assert text.strip().endswith(".")


def test_the_order_decides_which_place_is_the_original() -> None:
    documents = documents_of(SHARED, f"{SHARED} {prose(4, 40)}")
    by_length = found(documents, keep="longest").occurrences.to_pylist()
    assert {row["id"]: row["original"] for row in by_length} == {"d0": False, "d1": True}


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("repetition", [f"{SHARED} {prose(5, 30)} {SHARED}", prose(6, 30)]),
        ("quotation", [SHARED, f"{prose(7, 9)}\n{MAIL}\n{prose(8, 9)}"]),
        (
            "notice",
            [
                f"{prose(9, 30)} {SHARED} All rights reserved by Nobody.",
                f"{SHARED} all rights reserved by nobody",
            ],
        ),
        ("boilerplate", [f"{prose(10 + i, 90)} {SHARED}" for i in range(6)]),
        ("copied", [f"{prose(20 + i, 60)} {SHARED} {prose(30 + i, 60)}" for i in range(2)]),
    ],
)
def test_each_class_has_its_evidence(kind: str, texts: list[str]) -> None:
    (row,) = found(documents_of(*texts)).passages.to_pylist()
    assert row["class"] == kind, row["evidence"]
    assert "document" in row["evidence"]


def test_a_template_is_filled_differently() -> None:
    texts = []
    for i in range(4):
        words = SHARED.split()
        words[12], words[28] = prose(40 + i, 1), prose(50 + i, 1)
        texts.append(f"{prose(60 + i, 30)} {' '.join(words)} {prose(70 + i, 30)}")
    (row,) = found(documents_of(*texts)).passages.to_pylist()
    assert row["class"] == "template", row["evidence"]


def test_what_one_source_repeats_is_its_boilerplate() -> None:
    texts = [f"{prose(80 + i, 50)} {SHARED} {prose(90 + i, 50)}" for i in range(4)]
    texts += [prose(100 + i, 50) for i in range(4)]
    urls = [f"https://{'a' if i < 4 else 'b'}.example/{i}" for i in range(8)]
    (row,) = found(documents_of(*texts, url=urls)).passages.to_pylist()
    assert (row["class"], row["source"], row["sources"]) == ("boilerplate", "a.example", 1)


def test_quotation_marks_are_recognised() -> None:
    assert is_quoted(b'He said: "', b"these are the words", b'" and left')
    assert is_quoted("„".encode(), "wörtlich".encode(), "“ so".encode())
    assert not is_quoted(b"He said: ", b"these are the words", b" and left")
    assert not is_quoted(b"", b"", b"")


def test_the_folder_is_whole_and_verified(tmp_path: Path) -> None:
    documents = documents_of(SHARED, f"{prose(2, 24)} {SHARED}")
    folder = found(documents).save(tmp_path / "out")
    assert pq.read_table(folder / "passages.parquet")["occurrences"].to_pylist() == [2]
    assert len(pq.read_table(folder / "occurrences.parquet")) == 2
    assert SHARED[:40] in (folder / "report.html").read_text("utf-8")
    assert verify(folder).faults == []
    with pytest.raises(NeardupError, match="is a run of `neardup passages`"):
        Result.load(folder)


def test_the_command_finds_what_the_function_finds(tmp_path: Path) -> None:
    documents = documents_of(f"{prose(1, 16)} {SHARED}", f"{prose(2, 24)} {SHARED}", prose(3, 50))
    file = jsonl(tmp_path / "in.jsonl", documents)
    done = CliRunner().invoke(main, ["passages", str(file), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "1 passage in 2 places of 3 documents" in done.output
    stored = pq.read_table(tmp_path / "out" / "occurrences.parquet").select(["id", "begin", "end"])
    assert stored == found(documents).occurrences.select(["id", "begin", "end"])


def test_threads_and_limits_change_nothing_else() -> None:
    documents = [{"id": f"{i}", "text": f"{prose(200 + i, 40)} {SHARED}"} for i in range(300)]
    one, four = found(documents, workers=1), found(documents, workers=4)
    assert one.passages == four.passages
    assert one.occurrences == four.occurrences
    few = found(documents, limit=7)
    assert few.counts["documents"] == 7
    assert few.passages["occurrences"].to_pylist() == [7]


def test_hostile_texts_end_with_an_answer() -> None:
    texts = ["", "a " * 50_000, "x" * 1_000_000, "字" * 5000, "\x00\x01", "字" * 5000, "🙂" * 3000]
    passages = found(documents_of(*texts))
    kinds = passages.passages["class"].to_pylist()
    assert set(kinds) <= {"repetition", "copied"}
    assert passages.counts["documents"] == 7


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"unit": "page"}, "unit is 'page'"),
        ({"min_words": 2}, "min_words is 2"),
        ({"similarity": 2.0}, "similarity is 2.0"),
        ({"keep": "newest"}, "needs to know which column is the date"),
        ({"colour": 1}, "no setting 'colour'"),
    ],
)
def test_wrong_settings_are_refused_with_a_sentence(
    setting: dict[str, object], sentence: str
) -> None:
    with pytest.raises(NeardupError, match=sentence):
        found(documents_of("a", "b"), **setting)


def test_the_function_stays_callable_after_its_package_is_imported() -> None:
    """The package has the same name, and importing it hides the function."""
    import neardup.passages

    assert callable(nd.passages)
    assert len(neardup.passages(documents_of(SHARED, SHARED)).passages) == 1


def large(documents: int = 160) -> list[str]:
    """Enough words that some are beyond a megabyte, with copies near and far."""
    texts = [prose(2000 + i, 1000) for i in range(documents)]
    return [f"{text} {texts[(7 * i) % documents][:900]}" for i, text in enumerate(texts)]


def test_little_memory_gives_the_same_answer() -> None:
    usual, little = (nd.passages(large(), memory=size) for size in ("1GB", "1MB"))
    assert little.passages.equals(usual.passages)
    assert little.occurrences.equals(usual.occurrences)
    assert little.counts["passages"] > 100


@pytest.mark.parametrize("command", ["passages", "clean"])
@pytest.mark.parametrize("chunks", [1, 3])
def test_a_stopped_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, chunks: int
) -> None:
    names = []
    for n in range(3):
        rows = [{"id": f"{n}-{i}", "text": text} for i, text in enumerate(large(12)[n : n + 8])]
        names.append(str(jsonl(tmp_path / f"{n}.jsonl", rows)))
    whole, out = str(tmp_path / "whole"), str(tmp_path / "out")
    run(command, *names, "-o", whole)
    left = iter(range(chunks))
    keep = JournalFolder.keep_chunk
    with monkeypatch.context() as patched:
        patched.setattr(
            JournalFolder, "keep_chunk", lambda *a: keep(*a) if next(left, None) is not None else 0
        )
        patched.setattr(passage_folder, "write_tables", _stop)
        done = CliRunner().invoke(main, [command, *names, "-o", out, "--resume"])
        assert done.exit_code == 130
        assert "the same command goes on from here" in done.output
        assert not Path(out).exists()
    other = CliRunner().invoke(main, [command, *names, "-o", out, "--resume", "--gap", "0"])
    assert "gap was 8 and is 0" in other.output
    run(command, *names, "-o", out, "--resume")
    assert digests_of(Path(out)) == digests_of(Path(whole))
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("id", [None, "url"])
def test_the_host_is_the_source_also_where_the_url_is_the_id(id: str | None) -> None:
    footer = {"one.example": SHARED, "two.example": ""}
    rows = [
        {"url": f"https://{host}/{n}", "text": f"{prose(n, 30)}\n\n{footer[host]}"}
        for n, host in enumerate([*footer] * 6, 1)
    ]
    (passage,) = found(rows, id=id).passages.to_pylist()
    assert (passage["class"], passage["source"]) == ("boilerplate", "one.example")
