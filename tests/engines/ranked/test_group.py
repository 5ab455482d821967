"""Ranked lists in groups: against the twin, against a run, and whatever people have as a list."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from cli.sample import Run, run
from neardup.engines.ranked import Grouper
from neardup.errors import ColumnError, InputError, SettingsError, SignatureError
from neardup.methods import registry
from neardup.runs.grouped_list import COLUMNS
from reference import grouping as twin
from reference import run as twin_run

__all__ = ["run"]  # a fixture
STORY = "the harbour will be rebuilt in stone after the council voted on tuesday to pay for it all"
OTHER = "train drivers walk out on friday for one whole day after talks about pay broke down late"
RESULTS = [
    {"id": "a", "text": STORY, "date": "2024-03-02", "n": 3},
    {"id": "b", "text": OTHER, "date": "2024-03-01", "n": 1},
    {"id": "c", "text": f"{STORY} and more", "date": "2024-03-01", "n": 2},
    {"id": "d", "text": None, "date": "2024-03-01", "n": 5},
    {"id": "e", "text": STORY.upper(), "date": "2024-03-09", "n": 4},
]


def shape(grouped: Any) -> list[list[str]]:
    return [[member.id for member in group] for group in grouped]


@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(0, 40),
    representative=st.sampled_from(list(twin.KEEP)),
    threshold=st.sampled_from([Fraction(t, 20) for t in (6, 10, 14, 16)]),
    by=st.sampled_from([None, "rank", "score"]),
)
def test_against_the_twin(
    seed: int, count: int, representative: str, threshold: Fraction, by: str | None
) -> None:
    rng = np.random.default_rng(seed)
    documents = twin_run.collection(rng, count)
    for document in documents:
        document["text"] = None if rng.random() < 0.1 else document["text"]
        document["date"] = document["date"] or (None if rng.random() < 0.5 else "soon")
    order = list(range(count))
    if by:
        order.sort(key=lambda i: documents[i]["n"], reverse=by == "score")  # ties as given
    ranked = [documents[i] for i in order]
    dated = any(str(d["date"]).startswith("2") for d in ranked if d["text"])
    asked = representative if dated else "rank"
    of_twin = [{**d, "date": None if d["date"] == "soon" else d["date"]} for d in ranked]
    wanted = twin_run.Settings(words=3, threshold=threshold)
    expected = twin.groups(of_twin, wanted, asked)
    made = nd.group(
        documents,
        method="shingles",
        words=3,
        keys="prefix",
        threshold=float(threshold),
        representative=asked,
        date="date",
        **({by: "n"} if by else {}),
    )
    assert [[member.position - 1 for member in group] for group in made] == expected
    assert [[documents[m.row] for m in group] for group in made] == [
        [ranked[i] for i in group] for group in expected
    ]
    check_conserved(made, documents)


def check_conserved(made: nd.grouping.Grouped, documents: list[Any]) -> None:
    """Nothing is lost, and counts add up."""
    flat, collapsed = made.flat(), made.collapsed()
    assert sorted(member.row for member in made.members) == list(range(len(documents)))
    assert [{k: row[k] for k in documents[0]} for row in flat] == [
        documents[member.row] for member in made.members
    ]
    assert len(collapsed) == len(made)
    assert sum(row["copies"] + 1 for row in collapsed) == len(documents) == made.results
    assert [row for row in flat if row["indent"] == 0] == collapsed
    assert [row["group"] for row in collapsed] == list(range(1, len(made) + 1))


@pytest.mark.parametrize("name", registry.METHODS)
def test_decides_as_a_run_does(name: str) -> None:
    """With the same order and the same artefacts; and so do ready signatures."""
    documents = [d for d in twin_run.collection(np.random.default_rng(7), 120) if d["text"]]
    result = nd.dedup(documents, method=name, keep="longest")
    grouper = Grouper(method=name, artefacts=result.artefacts)
    made = grouper.group(documents, representative="longest")
    under = {m.id: (g.representative.id, m.score, m.kind) for g in made for m in g.others}
    rows = result.duplicates.to_pylist()
    assert under == {row["id"]: (row["kept_id"], row["score"], row["kind"]) for row in rows}
    ready = grouper.group(documents, signatures=grouper.sign(documents), representative="longest")
    # Signatures tell equal texts only.
    kinds = {m.kind for m in ready.members}
    assert kinds <= {None, "identical", "normalised"}
    bare = [m._replace(kind=None, flags="") for m in ready.members]
    assert bare == [m._replace(kind=None, flags="") for m in made.members]


def test_representatives() -> None:
    assert shape(nd.group(RESULTS)) == [["a", "c", "e"], ["b"], ["d"]]
    first = nd.group(RESULTS, representative="first", date="date")
    assert shape(first) == [["c", "a", "e"], ["b"], ["d"]]
    last = nd.group(RESULTS, representative="last", date="date")
    assert shape(last) == [["e", "a", "c"], ["b"], ["d"]]
    assert shape(nd.group(RESULTS, representative="longest")) == [["c", "a", "e"], ["b"], ["d"]]
    assert shape(nd.group(RESULTS, rank="n")) == [["b"], ["c", "a", "e"], ["d"]]
    assert shape(nd.group(RESULTS, score="n")) == [["d"], ["e", "a", "c"], ["b"]]


def test_who_has_no_date_stands_behind_those_who_have_one() -> None:
    undated = [{**r, "date": r["date"] if r["id"] == "e" else None} for r in RESULTS]
    for which in ("first", "last"):
        made = nd.group(undated, representative=which, date="date")
        assert shape(made)[0] == ["e", "a", "c"]


def test_what_is_said_of_a_member() -> None:
    group = nd.group(RESULTS)[0]
    assert (group.representative.score, group.representative.kind) == (None, None)
    more, upper = group.others
    assert (more.position, more.kind) == (3, "excerpt")
    assert 0.5 <= float(more.score or 0) < 1
    assert (upper.position, upper.score, upper.kind) == (5, 1.0, "normalised")


def test_what_cannot_be_compared_stays_alone_and_says_why() -> None:
    odd: list[Any] = [STORY, None, STORY, 7, "", "\ud800", "short", b"\xff"]
    made = nd.group(odd)
    said = {group.representative.position: group.representative.flags for group in made}
    assert shape(made)[0] == ["input:1", "input:3"]
    assert [row["text"] for row in made.flat()] == [STORY, STORY, *odd[1:2], *odd[3:]]
    assert said[2] == "text is missing"
    assert said[4] == "text is a number; expected a string"
    assert said[5] == "too_short"
    assert "lone surrogate" in said[6]
    assert "not valid UTF-8" in said[8]


@pytest.mark.parametrize("results", [[], [STORY], [None], [{"text": STORY}]])
def test_small_lists(results: list[Any]) -> None:
    made = nd.group(results)
    assert (made.results, len(made)) == (len(results), len(results))
    assert len(made.flat()) == len(made.collapsed()) == len(results)
    assert str(made).count("\n") == max(len(results) - 1, 0)


def test_ids_are_labels_and_may_repeat() -> None:
    repeated: list[Any] = [{**r, "id": i} for r, i in zip(RESULTS, "xxyyx", strict=True)]
    assert shape(nd.group(repeated)) == [["x", "y", "x"], ["x"], ["y"]]
    odd = [{**r, "id": [1]} for r in RESULTS]
    assert shape(nd.group(odd))[0] == ["input:1", "input:3", "input:5"]
    assert shape(nd.group(RESULTS, id="n"))[0] == ["3", "2", "4"]


def test_long_and_many() -> None:
    long = " ".join(f"word{i % 5000}" for i in range(1_200_000))
    assert len(long) > 10_000_000
    assert shape(nd.group([long, STORY, long + " more"])) == [
        ["input:1", "input:3"],
        ["input:2"],
    ]
    many = nd.group([f"{STORY} {i // 2 * STORY[i % 60 :]}"[:300] for i in range(12_000)])
    assert sum(len(group) for group in many) == 12_000


def test_all_scripts() -> None:
    chinese = "市议会星期二晚上以十一票对四票通过贷款重建旧渡轮码头" * 2
    emoji = "🚢 🌊 🐟 " * 20
    made = nd.group([chinese, emoji, chinese + "。", emoji])
    assert shape(made) == [["input:1", "input:3"], ["input:2", "input:4"]]


TABLES = {
    "list": list,
    "arrow": pa.Table.from_pylist,
    "batch": pa.RecordBatch.from_pylist,
    "pandas": lambda rows: pd.DataFrame(rows, index=pd.Index([5, 5, 6, 7, 8])),
    "polars": polars.DataFrame,
    "views": lambda rows: pa.Table.from_pylist(rows).cast(
        pa.schema([("id", "string"), ("text", "string_view"), ("date", "string"), ("n", "int64")])
    ),
}


@pytest.mark.parametrize("kind", TABLES)
def test_comes_back_in_the_type_that_came_in(kind: str) -> None:
    table = TABLES[kind](RESULTS)
    made = nd.group(table, representative="last", date="date")
    for given_back in (made.flat(), made.collapsed()):
        assert type(given_back) is type(table)
    rows = made.to_list()
    assert [row["id"] for row in rows] == ["e", "a", "c", "b", "d"]
    assert [row["indent"] for row in rows] == [0, 1, 1, 0, 0]
    assert [row["position"] for row in rows] == [5, 1, 3, 2, 4]
    assert list(rows[0]) == [*RESULTS[0], *COLUMNS]
    made.collapse = True
    assert [(row["id"], row["copies"]) for row in made.to_list()] == [("e", 2), ("b", 0), ("d", 0)]


def test_columns_of_the_list_are_never_hidden() -> None:
    scored = [{**r, "score": 1.5} for r in RESULTS]
    row = nd.group(scored, score="score").to_list()[1]
    assert row["score"] == 1.5
    assert row["neardup_indent"] == 1
    assert set(nd.group(scored).columns) == {f"neardup_{name}" for name in COLUMNS}
    again = nd.group(nd.group(scored).flat())
    assert again.columns[0] == "neardup_neardup_group"
    assert shape(again) == shape(nd.group(RESULTS))


def test_files(tmp_path: Path) -> None:
    table = pa.Table.from_pylist(RESULTS)
    pq.write_table(table, tmp_path / "results.parquet")
    made = nd.group(tmp_path / "results.parquet")
    assert made.flat().select(table.column_names).to_pylist() == [
        RESULTS[i] for i in (0, 2, 4, 1, 3)
    ]
    (tmp_path / "results.jsonl").write_text('{"body": "x y"}\n{"body": "x y"}\n')
    assert shape(nd.group(str(tmp_path / "results.jsonl"), text="body")) == [
        [f"{tmp_path}/results.jsonl:1", f"{tmp_path}/results.jsonl:2"]
    ]


def test_a_broken_file_is_no_list(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text('{"text": "x"}\n{"text": \n')
    with pytest.raises(InputError, match=r"results.jsonl, row 2: .*expected a whole list"):
        nd.group(tmp_path / "results.jsonl")


def test_the_text_of_a_terminal_is_harmless() -> None:
    shown = str(nd.group([{"id": "a\x1b[31m", "title": "<b>x\n\ty</b>", "text": STORY}] * 2))
    assert shown == "1  a␛[31m  <b>x y</b>\n   2  a␛[31m  <b>x y</b>  1.0000  identical"


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"representative": "best"}, SettingsError, "expected rank, first, last, longest"),
        ({"representative": "first"}, SettingsError, "which column is the date"),
        ({"rank": "n", "score": "n"}, SettingsError, "Both rank and score"),
        ({"rank": "date"}, ColumnError, "row 1 has '2024-03-02'"),
        ({"rank": "place"}, ColumnError, "it has 'id', 'text', 'date', 'n'"),
        ({"text": "body"}, ColumnError, "'body' is not in the list of dicts"),
        ({"representative": "last", "date": "id"}, SettingsError, "is a date"),
        ({"keep": "first"}, SettingsError, "representative="),
        ({"limit": 3}, SettingsError, "setting of whole runs"),
        ({"treshold": 0.5}, SettingsError, "did you mean 'threshold'"),
        ({"signatures": "id"}, ColumnError, "have to be bytes"),
        ({"signatures": [b""]}, SettingsError, "1 signatures for 5 results"),
    ],
)
def test_refused(asked: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        nd.group(RESULTS, **asked)


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(SettingsError, match="2 settings are wrong") as caught:
        nd.group(RESULTS, representative="last", method="shingels")
    assert "which column is the date" in caught.value.problems[0]
    assert "did you mean 'shingles'" in caught.value.problems[1]


def test_one_list_at_a_time() -> None:
    with pytest.raises(InputError, match="one list; got 2 inputs"):
        nd.group({"one": RESULTS, "two": RESULTS})
    with pytest.raises(SettingsError, match="says nothing about a list"):
        Grouper().group(RESULTS, threshold=0.3)


def test_artefacts_of_another_kind_are_refused() -> None:
    words = nd.dedup([STORY, OTHER], method="keywords").artefacts
    with pytest.raises(SignatureError, match="idf has filter 'words'; the method asks for 'alpha'"):
        Grouper(method="termvector", artefacts=words)


def test_results_without_a_readable_date_are_flagged_and_counted(tmp_path: Path, run: Run) -> None:
    body = "the harbour of the old town was closed for three days because of a storm"
    dates = ["03.06.2024", "June 2nd", "02.06.2024", None]
    rows = [{"id": str(i), "text": body, "date": date} for i, date in enumerate(dates)]
    made = nd.group(rows, representative="oldest", date="date")
    assert [(m.id, m.flags) for m in made.members] == [
        ("2", ""),
        ("0", ""),
        ("1", "undated"),
        ("3", "undated"),
    ]
    (tmp_path / "list.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    shown = run("group", tmp_path / "list.jsonl", "--representative", "oldest", "--date", "date")
    said = "2 of 4 documents have no readable date in 'date' (the first is 'June 2nd')"
    assert said in shown.stderr
    assert nd.group(rows).undated is None
    out = tmp_path / "out"
    done = run("dedup", tmp_path / "list.jsonl", "-o", out, "--keep", "newest", "--date", "date")
    assert said in done.output
    assert "of 4 documents have no readable date" in (out / "report.html").read_text()
    info = json.loads((out / "run.json").read_text())
    assert info["undated"] == {"column": "date", "unread": 2, "documents": 4, "example": "June 2nd"}
