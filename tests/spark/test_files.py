"""``--engine spark`` on files: the tables of a local run, to the byte, whatever the files hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import neardup as nd
from neardup.cli import main
from neardup.errors import ColumnError, RejectedError
from neardup.spark import files
from neardup.testing import HOSTILE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.filterwarnings("ignore")  # of pyspark: pandas is newer than it knows
NEWS = Path(__file__).parents[2] / "examples" / "news.jsonl"


def same(ours: nd.Result, theirs: nd.Result) -> None:
    for name in ("decisions", "pairs"):
        for mine, other in zip(
            getattr(ours, name).to_pylist(), getattr(theirs, name).to_pylist(), strict=True
        ):
            assert mine == other
    assert ours.decisions.schema == theirs.decisions.schema
    assert ours.rank.tolist() == theirs.rank.tolist()
    assert ours.text_digests is not None
    assert theirs.text_digests is not None
    assert ours.text_digests.tolist() == theirs.text_digests.tolist()
    assert ours.counts == theirs.counts


@pytest.fixture
def mixed(tmp_path: Path) -> list[Path]:
    """Lines that are broken, blank or repeat an id; a table of several row groups; a torn file."""
    lines = NEWS.read_text("utf-8").splitlines()
    broken = ["{", "", json.dumps({"id": "x", "text": None}), lines[3], *lines[:30], '{"text": 1}']
    hostile = [json.dumps({"id": f"h{i}", "text": t}) for i, t in enumerate(HOSTILE)]
    (tmp_path / "lines.jsonl").write_text("\n".join([*broken, *hostile]), "utf-8")
    rows = [json.loads(line) for line in lines[20:]]
    table = pa.table({"id": [f"{r['id']}" for r in rows], "text": [r["text"] for r in rows]})
    pq.write_table(table, tmp_path / "table.parquet", row_group_size=7)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing more")
    return [tmp_path / f"{name}" for name in ("lines.jsonl", "table.parquet", "broken.parquet")]


def test_ranges_row_groups_and_what_cannot_be_read(
    spark: SparkSession, mixed: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "GROUP_BYTES", 1)
    monkeypatch.setattr(files.FileInput, "range_bytes", 1500)
    settings: dict[str, Any] = {"method": "shingles", "threshold": 0.5, "keep": "longest"}
    ours = nd.dedup(mixed, engine="spark", **settings)
    theirs = nd.dedup(mixed, **settings)
    assert theirs.counts.rejected > 10
    same(ours, theirs)
    assert ours.kept.equals(theirs.kept)
    assert spark.version


def test_a_run_on_the_command_line_against_an_earlier_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Only the signatures of the earlier run are read; the kept lines are those of the input."""
    lines = NEWS.read_text("utf-8").splitlines(keepends=True)
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    old.write_text("".join(lines[:40]), "utf-8")
    new.write_text("".join(lines[40:]), "utf-8")
    nd.dedup(str(old), method="simhash", signatures=True).save(tmp_path / "before")
    old.unlink()
    given = ["dedup", str(new), "--method", "simhash", "--against", str(tmp_path / "before")]
    for engine in ("spark", "local"):
        out = [*given, "-o", str(tmp_path / engine), "--engine", engine, "--quiet"]
        done = CliRunner().invoke(main, out)
        assert done.exit_code == 0, done.output
    same(nd.Result.load(tmp_path / "spark"), nd.Result.load(tmp_path / "local"))
    kept = [(tmp_path / engine / "kept.jsonl").read_bytes() for engine in ("spark", "local")]
    assert kept[0] == kept[1]
    assert spark.version


def test_what_a_task_refuses_is_said_in_our_words(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text('{"id": 1, "body": "a text of some words"}\n' * 3, "utf-8")
    with pytest.raises(ColumnError, match=r"Column 'text' is not in .*Hint: "):
        nd.dedup(str(path), method="exact", engine="spark")
    with pytest.raises(RejectedError, match=r"row 2: id '1' was already used in .*, row 1"):
        nd.dedup(str(path), text="body", method="exact", engine="spark", strict=True)
    assert spark.version
