"""explain: what it tells of each decision, and when the documents are gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import neardup as nd

WORDS = [f"word{i}" for i in range(40)]
TEXT = " ".join(WORDS)
EDITED = " ".join(["new", *WORDS[1:]])
DOCUMENTS = [
    {"id": "first", "text": TEXT},
    {"id": "copy", "text": TEXT},
    {"id": "edited", "text": EDITED},
    {"id": "alone", "text": " ".join(reversed(WORDS))},
    {"id": "broken", "text": None},
    {"id": "short", "text": "hello"},
]


@pytest.fixture
def result() -> nd.Result:
    return nd.dedup(DOCUMENTS, method="shingles")


def test_a_duplicate(result: nd.Result) -> None:
    why = result.explain("edited")
    assert (why.decision, why.kept_id, why.kind) == ("duplicate", "first", "revision")
    assert why.score == pytest.approx(35 / 37)
    assert (why.members, why.cluster_size) == (("first", "copy", "edited"), 3)
    assert {(pair.id, pair.decision) for pair in why.pairs} == {
        ("first", "kept"),
        ("copy", "duplicate"),
    }
    assert (why.threshold, why.method, why.pair_count) == (0.8, "shingles", 2)
    assert why.comparison is not None
    assert [why.comparison.texts_of(p) for p in why.comparison.differing] == [("word0", "new")]
    assert why.comparison.names == ("first", "edited")
    assert why.comparison.verdict is not None
    assert why.comparison.verdict.score == pytest.approx(why.score)
    assert why.note is None
    assert str(why).startswith("edited (input, row 3): duplicate of first, kind revision, ")
    assert "1:1 - word0\n1:1 + new" in str(why)


def test_a_copy(result: nd.Result) -> None:
    assert "duplicate of first, kind identical, score 1.0000" in str(result.explain("copy"))


@pytest.mark.parametrize(
    ("id", "sentence"),
    [
        ("first", "first (input, row 1): kept (representative); others are its duplicates."),
        ("alone", "alone (input, row 4): kept (unique); it matches no other."),
        (
            "short",
            "short (input, row 6): kept (too_short); it has too few different words, so only an "
            "equal one could be its duplicate.",
        ),
        ("broken", "broken (input, row 5): rejected (text is null)."),
    ],
)
def test_others(result: nd.Result, id: str, sentence: str) -> None:
    why = result.explain(id)
    assert str(why).splitlines()[0] == sentence
    assert why.comparison is None


def test_an_unknown_id(result: nd.Result) -> None:
    with pytest.raises(nd.NeardupError, match="Hint: did you mean 'edited'"):
        result.explain("editd")
    with pytest.raises(nd.NeardupError, match="see the column id"):
        result.explain("??")


def test_long_lists_are_cut() -> None:
    result = nd.dedup([TEXT] * 50, method="shingles")
    why = result.explain("input:7")
    assert (len(why.members), why.cluster_size) == (20, 50)
    assert (len(why.pairs), why.pair_count) == (20, 49)
    assert "… 30 more" in str(why)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs.jsonl"
    docs.write_text("".join(json.dumps(document) + "\n" for document in DOCUMENTS))
    nd.dedup(docs, method="shingles").save(tmp_path / "out")
    return tmp_path


def test_a_saved_run(folder: Path) -> None:
    why = nd.Result.load(folder / "out").explain("edited")
    assert why.comparison is not None
    assert why.note is None


def test_documents_that_are_gone(folder: Path) -> None:
    (folder / "docs.jsonl").unlink()
    why = nd.Result.load(folder / "out").explain("edited")
    assert why.comparison is None
    assert "could not be read again" in str(why)
    assert why.kept_id == "first"


def test_documents_that_changed(folder: Path) -> None:
    docs = folder / "docs.jsonl"
    docs.write_text(docs.read_text().replace("word30", "changed"))
    note = nd.Result.load(folder / "out").explain("edited").note
    assert "could not be read again" in (note or "")


def test_a_file_with_fewer_rows(folder: Path) -> None:
    (folder / "docs.jsonl").write_text(json.dumps(DOCUMENTS[0]) + "\n")
    why = nd.Result.load(folder / "out").explain("edited")
    assert "could not be read again" in (why.note or "")


NEWS = Path(__file__).parents[2] / "examples/news.jsonl"


def test_the_verdict_is_that_of_the_run(tmp_path: Path) -> None:
    """An idf table of the two texts alone would say otherwise."""
    run = nd.dedup(NEWS, method="keywords")
    for row in run.weakest(8).to_pylist():
        why = run.explain(row["id"])
        assert why.note is None
        assert why.comparison is not None
        assert why.comparison.verdict is not None
        assert why.comparison.verdict.score == pytest.approx(row["score"])
        assert why.comparison.verdict.note is None
    first = run.explain("fr-musee-2").comparison
    reloaded = nd.Result.load(run.save(tmp_path / "run")).explain("fr-musee-2")
    assert reloaded.note is None
    assert reloaded.comparison is not None
    assert first is not None
    assert reloaded.comparison.verdict == first.verdict


def test_without_its_tables_the_method_says_nothing(tmp_path: Path) -> None:
    folder = nd.dedup(NEWS, method="keywords").save(tmp_path / "run")
    (folder / "artefacts" / "idf.arrow").unlink()
    found = nd.Result.load(folder).explain("fr-musee-2").comparison
    assert found is not None
    assert found.verdict is None
    assert found.note == "the run's idf cannot be read, so keywords says nothing"


def test_a_kept_document_beside_what_was_set_aside_for_others() -> None:
    """No chains: what it matches went to another, so it stays."""
    middle = " ".join(WORDS[:30] + [f"x{i}" for i in range(10)])
    end = " ".join(WORDS[15:30] + [f"x{i}" for i in range(25)])
    run = nd.dedup([TEXT, middle, end], method=nd.Shingles(words=1, threshold=0.45), keep="first")
    why = run.explain("input:3")
    assert (why.decision, [pair.decision for pair in why.pairs]) == ("kept", ["duplicate"])
    assert "what it matches are duplicates of other documents" in str(why)


def test_a_reference_is_compared_too(tmp_path: Path) -> None:
    """Read from the files, from the run, and from what the run was made against."""
    old = tmp_path / "old.jsonl"
    old.write_text("".join(json.dumps(document) + "\n" for document in DOCUMENTS[:1]))
    first = tmp_path / "first.jsonl"
    first.write_text(json.dumps({"id": "other", "text": " ".join(reversed(WORDS))}) + "\n")
    run = nd.dedup(first, method="shingles", against=old, signatures=True).save(tmp_path / "run")
    for against in (old, run):
        why = nd.dedup([{"id": "x", "text": EDITED}], method="shingles", against=against).explain(
            "x"
        )
        assert (why.kept_id, why.note) == ("ref:first", None)
        assert why.comparison is not None
        assert why.comparison.names == ("ref:first", "x")
        assert [why.comparison.texts_of(p) for p in why.comparison.differing] == [("word0", "new")]
    old.unlink()
    gone = nd.Result.load(run).explain("other")
    assert gone.decision == "kept"


def test_it_is_data_and_a_page(result: nd.Result) -> None:
    why = result.explain("edited")
    found = json.loads(json.dumps(why.to_dict()))
    assert found["pairs"][0] == {
        "id": "first",
        "score": pytest.approx(35 / 37),
        "kind": "revision",
        "decision": "kept",
    }
    assert found["comparison"]["verdict"]["duplicate"]
    page = why.to_html()
    assert "<h1>Why edited is a duplicate</h1>" in page
    assert "<del>word0</del>" in page
    assert "<h1>Why alone was kept</h1>" in result.explain("alone").to_html()


def test_columns_that_count_beside_the_text_are_read_again() -> None:
    run = nd.dedup(NEWS, method="simhash", fields={"title": 4}, distance=6)
    for row in run.weakest(5).to_pylist():
        why = run.explain(row["id"])
        assert why.comparison is not None
        assert why.comparison.verdict is not None
        assert why.comparison.verdict.score == row["score"]
        assert why.note is None


def test_no_verdict_where_a_column_cannot_be_read_again() -> None:
    """Of a reference only the text is."""
    run = nd.dedup(NEWS, against=[NEWS], method="simhash", fields={"title": 4}, distance=6)
    why = run.explain("en-harbour-6")
    assert why.comparison is not None
    assert why.comparison.verdict is None
    assert why.comparison.note == "simhash reads more than the text: title"


def test_two_texts_are_a_small_collection() -> None:
    verdict = nd.compare(TEXT, EDITED, method="keywords").verdict
    assert verdict is not None
    assert verdict.note == "idf counted from these two texts alone"


def test_another_threshold_keeps_the_tables() -> None:
    run = nd.dedup(NEWS, method="keywords")
    assert run.rethreshold(0.9).artefacts is run.artefacts
