"""A file of which most is rejected for one reason: named, with a hint, and no success."""

from __future__ import annotations

import csv
import gzip
import io
import json
import logging
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import neardup as nd
from conftest import ROOT
from neardup.cli import main

NEWS = [json.loads(line) for line in (ROOT / "examples/news.jsonl").read_text("utf-8").splitlines()]
WESTERN = [one for one in NEWS if one["id"][:2] in ("de", "fr", "es")]


def csv_text(documents: list[dict[str, Any]]) -> str:
    out = io.StringIO(newline="")
    rows = csv.writer(out)
    rows.writerow(["id", "text"])
    rows.writerows([one["id"], one["text"]] for one in documents)
    return out.getvalue()


def jsonl_text(documents: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\r\n" for one in documents)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


@pytest.fixture
def western(tmp_path: Path) -> Path:
    path = tmp_path / "west.csv"
    path.write_bytes(csv_text(WESTERN).encode("cp1252", "replace"))
    return path


def test_windows_1252_is_named_and_its_option_helps(tmp_path: Path, western: Path) -> None:
    out = tmp_path / "out"
    done = run("dedup", western, "-o", out)
    assert done.exit_code == 1
    assert "22 of 23 documents were rejected for one reason: text is not valid UTF-8" in done.stderr
    assert "Hint: the file looks like windows-1252; read it with --encoding windows-1252." in (
        done.stderr
    )
    assert "the corrected command replaces it with --overwrite" in done.stderr
    assert nd.Result.load(out).counts.documents == 23  # the folder is whole
    (one,) = json.loads((out / "run.json").read_text("utf-8"))["mostly_rejected"]
    assert (one["rejected"], one["documents"]) == (22, 23)
    done = run("dedup", western, "-o", tmp_path / "read", "--encoding", "windows-1252")
    assert done.exit_code == 0
    assert "0 rejected" in done.stderr


def test_it_can_be_accepted(tmp_path: Path, western: Path) -> None:
    done = run("dedup", western, "-o", tmp_path / "out", "--accept-rejected")
    assert done.exit_code == 0
    assert "Hint: the file looks like windows-1252" in done.stderr
    done = run("find", western, "-o", tmp_path / "found", "--quiet")
    assert done.exit_code == 1
    assert "Hint: the file looks like windows-1252" in done.stderr


def test_in_python_it_is_a_warning(western: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "neardup"):
        result = nd.dedup(western)
    assert len(result.info["mostly_rejected"]) == 1
    assert any("--encoding windows-1252" in record.getMessage() for record in caplog.records)


def lines_in_windows_1252(folder: Path) -> Path:
    path = folder / "a.jsonl"
    path.write_bytes(jsonl_text(WESTERN).encode("cp1252", "replace"))
    return path


def null_texts(folder: Path) -> Path:
    path = folder / "a.parquet"
    pq.write_table(pa.table({"id": range(3), "text": pa.array([None] * 3, pa.string())}), path)
    return path


def texts_of_another_type(folder: Path) -> Path:
    path = folder / "a.jsonl"
    path.write_text("".join(f'{{"id": {i}, "text": {{"body": "x"}}}}\n' for i in range(12)))
    return path


def one_id_for_all(folder: Path) -> Path:
    path = folder / "a.jsonl"
    path.write_text("".join(f'{{"id": "x", "text": "text {i}"}}\n' for i in range(12)))
    return path


def another_delimiter(folder: Path) -> Path:
    path = folder / "a.csv"
    path.write_text("id,text\n" + "".join(f"{i},a, b, c\n" for i in range(12)))
    return path


@pytest.mark.parametrize(
    ("make", "hint"),
    [
        (lines_in_windows_1252, "iconv -f windows-1252 -t utf-8"),
        (null_texts, "with --text"),
        (texts_of_another_type, "with --text"),
        (one_id_for_all, "with --id"),
        (another_delimiter, "delimiter"),
    ],
)
def test_what_else_rejects_everything(
    tmp_path: Path, make: Callable[[Path], Path], hint: str
) -> None:
    done = run("dedup", make(tmp_path), "-o", tmp_path / "out")
    assert done.exit_code == 1
    assert hint in done.stderr


def test_some_rejected_documents_are_no_failure(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    bad = "{\n" * 9
    path.write_text(bad + jsonl_text(NEWS[:3]), "utf-8")  # many, but few documents
    assert run("dedup", path, "-o", tmp_path / "few").exit_code == 0
    path.write_text(bad * 3 + jsonl_text(NEWS[:40]), "utf-8")  # less than half
    assert run("dedup", path, "-o", tmp_path / "less").exit_code == 0


WIDE = ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"]
PACKED = [("csv.gz", "utf-16"), ("jsonl.gz", "utf-32-le")]


@pytest.mark.parametrize(("form", "encoding"), [*product(["csv", "jsonl"], WIDE), *PACKED])
def test_wide_encodings_are_read_with_and_without_a_mark(
    tmp_path: Path, form: str, encoding: str
) -> None:
    text = (csv_text if "csv" in form else jsonl_text)(NEWS)
    plain, wide = tmp_path / f"plain.{form}", tmp_path / f"wide.{form}"
    pack = gzip.compress if form.endswith("gz") else bytes
    plain.write_bytes(pack(text.encode()))
    wide.write_bytes(pack(text.encode(encoding)))
    expected, found = nd.dedup(plain), nd.dedup(wide)
    columns = ["id", "row", "decision", "kept_id", "score"]
    assert found.decisions.select(columns).equals(expected.decisions.select(columns))
    assert found.kept.equals(expected.kept)
    assert found.explain("en-harbour-6").comparison is not None
    found.save(tmp_path / "found")
    expected.save(tmp_path / "expected")
    kept, same = (next((tmp_path / name).glob("kept.*")) for name in ("found", "expected"))
    unpack = gzip.decompress if form.endswith("gz") else bytes
    assert unpack(kept.read_bytes()).removeprefix(b"\xef\xbb\xbf") == unpack(same.read_bytes())
    assert (encoding == "utf-8-sig") == (found.info["encodings"] == {})


def test_utf_16_on_standard_input() -> None:
    data = csv_text(NEWS).encode("utf-16")
    done = CliRunner().invoke(main, ["dedup", "-", "-o", "-"], input=data)
    assert done.exit_code == 0
    assert "74 documents" in done.stderr
    assert "1 as utf-16-le" in done.stderr


def test_what_is_no_character_rejects_its_document_alone(tmp_path: Path) -> None:
    lines = [f'{{"text": "text {i}"}}\n'.encode("utf-16-le") for i in range(4)]
    lines[2] = lines[2].replace(b"2\0", b"\x00\xd8")  # one half of a surrogate pair
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xff\xfe" + b"".join(lines) + b"x")
    rejected = [row["decision"] == "rejected" for row in nd.dedup(path).decisions.to_pylist()]
    assert rejected == [False, False, True, False, True]


def test_a_quote_that_is_not_closed_is_hinted_at(tmp_path: Path) -> None:
    path = tmp_path / "open.csv"
    path.write_text('id,text\n1,"a text that goes on\n', "utf-8")
    failed = run("dedup", path, "-o", tmp_path / "out")
    assert failed.exit_code == 1
    assert "Hint: look for a quote that begins a field and is not closed" in failed.output
    assert "JSON" not in failed.output
