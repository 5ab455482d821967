"""What users may give, right and wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import neardup as nd
from evaluation.collections import grouped
from neardup.errors import ColumnError, InputError, NeardupError, SettingsError
from neardup.labels.labelled_pairs import PairColumns, read_pairs
from neardup.methods.shingles import Shingles

DOCUMENTS = grouped(groups=8)
ROWS = [
    {"a": "0-0", "b": "0-1", "label": True},
    {"a": "1-0", "b": "1-1", "label": True},
    {"a": "0-0", "b": "1-0", "label": False},
]


@pytest.mark.parametrize(
    ("gold", "error", "said"),
    [
        ({}, SettingsError, "needs gold"),
        ({"group": "group", "pairs": ROWS}, SettingsError, "needs gold"),
        ({"group": "text"}, SettingsError, "in the text column"),
        ({"group": "nothing"}, ColumnError, "'nothing'"),
        ({"group": "empty"}, InputError, "None of the 32 documents has a value in 'empty'"),
        ({"pairs": []}, InputError, "None of the 0 labelled pairs can be used"),
        (
            {"pairs": [{"a": "x", "b": "y", "label": 1}]},
            InputError,
            r"no document has \('x', 'y'\)",
        ),
        ({"pairs": [{"a": "0-0", "b": "0-0", "label": 1}]}, InputError, "with itself"),
        ({"pairs": [{"a": "0-0", "b": "0-1", "label": "?"}]}, InputError, "neither positive nor"),
        (
            {"pairs": [{**ROWS[0], "label": "Ja"}, {**ROWS[1], "label": "nein"}]},
            InputError,
            "for example --positive Ja --negative nein;",
        ),
        ({"group": "group", "sweeps": True}, SettingsError, "did you mean 'sweep'"),
        ({"group": "group", "recommend": "f1"}, SettingsError, "did you mean 'wish'"),
        ({"group": "group", "sweep": "0.5", "thresholds": [0.6]}, SettingsError, "Both sweep and"),
        ({"pairs": [{"a": "0-0", "c": "0-1"}]}, ColumnError, "'b' is not in pairs"),
        ({"pairs": [1, 2]}, InputError, "neither files nor rows"),
        ({"pairs": ROWS, "columns": "ab"[:1]}, SettingsError, "expected those of a, b"),
        ({"pairs": ROWS, "positive": ["no"]}, SettingsError, "both positive and negative"),
        ({"group": "group", "wish": "fast"}, SettingsError, "recommend is 'fast'"),
        ({"group": "group", "sweep": True, "threshold": 0.5}, SettingsError, "Both a threshold"),
        ({"group": "group", "clusters": "trees"}, SettingsError, "clusters is 'trees'"),
        ({"group": "group", "method": "shingels"}, SettingsError, "did you mean 'shingles'"),
        ({"group": "group", "words": 3}, SettingsError, "'words' is no setting of an evaluation"),
        ({"group": "group", "keep": "last"}, SettingsError, "'keep' is no setting"),
    ],
)
def test_wrong_gold_is_refused(gold: dict[str, Any], error: type[NeardupError], said: str) -> None:
    documents = [{**one, "empty": None} for one in DOCUMENTS]
    with pytest.raises(error, match=said):
        nd.evaluate(documents, **gold)


def test_labels_that_cannot_be_used_are_counted() -> None:
    rows = [
        *ROWS,
        {"a": "0-1", "b": "0-0", "label": "yes"},
        {"a": "1-1", "b": "1-0", "label": "no"},
        {"a": "nobody", "b": "0-0", "label": "yes"},
        {"a": "2-0", "b": "2-0", "label": "yes"},
        {"a": "2-0", "b": "2-1", "label": "undecided"},
    ]
    made = nd.evaluate(DOCUMENTS, pairs=rows)
    gold = made.data()["gold"]
    assert (gold["positives"], gold["negatives"]) == (1, 1)
    assert gold["unused"] == {
        "unknown_ids": 1,
        "examples": ["nobody"],
        "with_itself": 1,
        "contradicting": 1,
        "other_labels": {"undecided": 1},
    }
    assert len(gold["notes"]) == 4


def test_one_document_and_none() -> None:
    made = nd.evaluate(DOCUMENTS[:1], group="group", sweep=True)
    assert made.measured[0].at[0].every.counts.tp == 0
    assert made.recommendation is not None
    assert "no positive pair" in made.recommendation.text
    made.sections()
    with pytest.raises(InputError, match="None of the 0 documents"):
        nd.evaluate([], group="group")


def test_rejected_documents_are_no_gold() -> None:
    documents = [*DOCUMENTS, {"id": "bad", "group": 0, "text": None}]
    made = nd.evaluate(documents, group="group")
    assert made.data()["rejected"] == 1
    assert made.data()["gold"]["positives"] == 8 * 6
    rows = [*ROWS, {"a": "bad", "b": "0-0", "label": True}]
    assert nd.evaluate(documents, pairs=rows).data()["gold"]["unused"]["unknown_ids"] == 1


def test_a_threshold_of_its_own_is_no_recommendation() -> None:
    made = nd.evaluate(DOCUMENTS, group="group", method=Shingles(words=3))
    assert made.recommendation is None
    assert [at.cut.value for at in made.measured[0].at] == [0.8]
    assert nd.evaluate(DOCUMENTS, group="group", wish="f1").recommendation is not None


def test_a_run_that_is_done_is_evaluated_from_its_scores(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in DOCUMENTS))
    nd.find(path, method="shingles", threshold=0.3, words=3).save(tmp_path / "run")
    again = nd.evaluate(nd.Result.load(tmp_path / "run"), group="group", sweep=(0.2, 0.5, 0.7))
    fresh = nd.evaluate(path, group="group", method="shingles words=3", sweep=(0.5, 0.7))
    assert [at.data() for at in again.measured[0].at] == [at.data() for at in fresh.measured[0].at]
    own = nd.evaluate(nd.Result.load(tmp_path / "run"), group="group")
    assert [at.cut.value for at in own.measured[0].at] == [0.3]


def test_a_sweep_below_a_run_is_refused() -> None:
    result = nd.find(DOCUMENTS, method="shingles", threshold=0.8)
    with pytest.raises(SettingsError, match=r"from 0\.8 on"):
        nd.evaluate(result, group="group", threshold=0.5)
    with pytest.raises(SettingsError, match=r"from 0\.8 on"):
        nd.evaluate(result, group="group", sweep=(0.3, 0.5))


def test_a_run_against_references_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in DOCUMENTS[:9]))
    result = nd.find(DOCUMENTS[9:], method="shingles", against=path)
    with pytest.raises(SettingsError, match="against references"):
        nd.evaluate(result, group="group")


def written(rows: list[dict[str, Any]], path: Path) -> Path:
    if path.name.endswith((".jsonl", ".ndjson")):
        path.write_text("\n" + "".join(json.dumps(row) + "\n\n" for row in rows))
        return path
    if path.name.endswith(".zst"):
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        with pa.CompressedOutputStream(str(path), "zstd") as stream:
            stream.write(data)
        return path
    table = pa.Table.from_pylist(rows)
    if path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    elif path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, path)
    return path


@pytest.mark.parametrize(
    "name", ["p.jsonl", "p.ndjson", "p.jsonl.zst", "p.csv", "p.parquet", "p.arrow"]
)
def test_labels_are_read_from_files(tmp_path: Path, name: str) -> None:
    rows = [{"a": "1", "b": 'x"y', "label": True}, {"a": "2", "b": "z", "label": False}]
    table = read_pairs(written(rows, tmp_path / name))
    assert table.to_pylist() == [
        {"a": "1", "b": 'x"y', "label": "true"},
        {"a": "2", "b": "z", "label": "false"},
    ]
    assert read_pairs([tmp_path / name, tmp_path / name]).num_rows == 4


def test_pairs_of_a_spreadsheet_may_have_semicolons(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("\ufeffa;b;label\r\nx;y;1\r\nx;z;0\r\n", "utf-8")
    assert [row["label"] for row in read_pairs(tmp_path / "p.csv").to_pylist()] == ["1", "0"]


def test_labels_are_read_from_columns_of_other_names() -> None:
    rows = [{"left": 1, "right": 2, "grade": 4}]
    columns = PairColumns("left", "right", "grade", label_named=True)
    expected = [{"a": "1", "b": "2", "label": "4"}]
    assert read_pairs(rows, columns).to_pylist() == expected
    assert read_pairs(pa.Table.from_pylist(rows), columns).to_pylist() == expected
    assert read_pairs([{"a": 1, "b": 2}]).to_pylist() == [
        {"a": "1", "b": "2", "label": "duplicate"}
    ]
    with pytest.raises(ColumnError, match="'grade' is not in"):
        read_pairs([{"left": 1, "right": 2}], columns)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("p.jsonl", b'{"a": 1}\n[1]\n', "line 2 is no JSON object"),
        ("p.jsonl", b"\xff\xfe{}\n", "line 1 is no JSON object"),
        ("p.csv", b"a,b\n\xff,\xff\n", "Cannot read"),
        ("p.parquet", b"nothing", "Cannot read"),
        ("p.txt", b"a b", "has no format"),
    ],
)
def test_broken_files_of_labels_are_refused(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_pairs(tmp_path / name)
    with pytest.raises(InputError, match="Cannot read"):
        read_pairs(tmp_path / "absent.jsonl")


def test_hostile_names_do_no_harm(tmp_path: Path) -> None:
    bad = "<script>alert(1)</script>"
    documents = [{**one, "id": f"{bad}{one['id']}"} for one in DOCUMENTS]
    rows = [
        {"a": bad + "0-0", "b": bad + "0-1", "label": bad},
        {"a": bad + "0-0", "b": bad + "1-0", "label": "no"},
        {"a": bad, "b": "x", "label": bad},
    ]
    made = nd.evaluate(documents, pairs=rows, positive=[bad], sweep=True)
    made.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "<script" not in page
    assert len(page) < 2_000_000
