"""Spark decides as the local engine does: DataFrames and files, whatever they hold, their
partitions and order, and what fails on the way. One file, because each process of the tests that
has one of these starts a Java machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import neardup as nd
from engines.spark.comparing import Document, check_equal, framed, real, same
from neardup.artefacts.calibration import CONSISTENCY, UNLIKE
from neardup.cli import main
from neardup.documents import collect, parquet
from neardup.engines.integrity import verify
from neardup.engines.spark import passage_search, spark_files
from neardup.errors import ColumnError, InputError, RejectedError, SettingsError
from neardup.plan import resolve
from neardup.runs.checksums import digests_of
from neardup.settings import settings_of
from neardup.testing import HOSTILE
from passages.material import SHARED, documents_of, jsonl, prose
from test_real_data import rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.filterwarnings("ignore")  # of pyspark: pandas is newer than it knows
NEWS = Path(__file__).parents[3] / "examples" / "news.jsonl"
TEXT = "one two three four five six seven eight nine ten eleven twelve and then many more of them"


@pytest.mark.parametrize(("method", "partitions"), [("shingles", 5), ("simhash", 1)])
def test_on_real_documents(spark: SparkSession, data: Path, method: str, partitions: int) -> None:
    """A set method and a signature method, on shuffled rows; the session is as it was."""
    documents = real(data, 400)
    before = dict(spark.conf.getAll)
    frame = framed(spark, documents, partitions=partitions, seed=partitions)
    result = nd.spark.dedup(frame, position="at", method=method)
    check_equal(result, nd.dedup(documents, method=method))
    kept = {row["id"] for row in result.kept.select("id").collect()}
    assert len(kept) == result.counts.kept
    assert dict(spark.conf.getAll) == before
    result.release()


def test_a_task_that_is_lost_and_tried_again(
    spark: SparkSession, data: Path, tmp_path: Path
) -> None:
    """As with a machine that is lost when half of its work is done."""
    documents, marker = real(data, 200), tmp_path / "failed"

    def fail_once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, batch in enumerate(batches):
            yield batch
            if number == 0 and not marker.exists():
                marker.touch()
                raise OSError("the task is lost")

    frame = framed(spark, documents)
    frame = frame.mapInArrow(fail_once, frame.schema)
    result = nd.spark.dedup(frame, position="at", method="simhash", kinds="none")
    assert marker.exists()
    check_equal(result, nd.dedup(documents, method="simhash", kinds="none"))
    result.release()


def ran(spark: SparkSession, documents: list[Document], tuning: Any, **settings: Any) -> Any:
    from neardup.engines.spark.spark_frames import FrameInput
    from neardup.engines.spark.spark_run import run

    plan = resolve(settings_of({"kinds": "none", **settings}))
    given = FrameInput(framed(spark, documents), plan.columns, "at")
    return run(spark, given, plan, tuning=tuning)


def test_components_by_stars_and_giants_taken_apart(spark: SparkSession, data: Path) -> None:
    """With limits so low that every path of a large collection is taken."""
    from neardup.engines.spark.spark_run import Tuning

    documents = real(data)
    low = Tuning(driver_edges=5, buckets=3, parts=3, giant=4)
    result = ran(spark, documents, low, method="shingles", threshold=0.5)
    said = result.info["statistics"]["components"]
    assert said["rounds"]
    assert said["apart"]
    check_equal(result, nd.dedup(documents, method="shingles", threshold=0.5, kinds="none"))
    result.release()


@pytest.mark.parametrize(
    ("giant", "settings"),
    [(4, {"method": "shingles", "threshold": 0.5}), (10**6, {"method": "exact"})],
)
def test_evidence_of_files_is_made_again(
    spark: SparkSession, data: Path, tmp_path: Path, giant: int, settings: Document
) -> None:
    """Some texts differ and have the same evidence, and an id comes again with another text."""
    from neardup.engines.spark.spark_run import Tuning, run

    documents, path = real(data, 150), tmp_path / "some.jsonl"
    documents += [{**one, "id": f"{one['id']}!", "text": one["text"] + " "} for one in documents]
    documents += [{**documents[0], "text": documents[1]["text"]}]
    path.write_text("".join(json.dumps(one) + "\n" for one in documents), "utf-8")
    plan = resolve(settings_of({"kinds": "none", **settings}))
    given = spark_files.FileInput(spark, collect(path), plan, range_bytes=100_000)
    result = run(spark, given, plan, tuning=Tuning(giant=giant))
    assert result.counts.rejected == 1
    check_equal(result, nd.dedup(str(path), kinds="none", **settings))
    result.release()


def test_fingerprints_by_the_tables_of_a_large_collection(
    spark: SparkSession, data: Path, tmp_path: Path
) -> None:
    """Of files, in groups; as if there were a thousand million, and of more than two cores do."""
    from neardup.engines.spark.spark_run import Tuning, run

    documents, path = real(data, 1000), tmp_path / "some.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in documents), "utf-8")
    settings: dict[str, Any] = {"method": "simhash", "within": "outlet", "kinds": "none"}
    plan = resolve(settings_of(settings))
    given = spark_files.FileInput(spark, collect(path), plan)
    result = run(spark, given, plan, tuning=Tuning(prints=10**9, buckets=2, giant=2))
    assert result.info["statistics"]["tables"] == 10
    local = nd.dedup(documents, **settings)
    assert local.counts.duplicates > 10
    check_equal(result, local)
    result.release()
    with pytest.raises(SettingsError, match=r"the limit is 4e\+12, for 2 cores\. Hint: "):
        run(spark, given, plan, tuning=Tuning(prints=10**10))


def test_the_usual_method_calibrates_as_on_one_machine(spark: SparkSession, data: Path) -> None:
    """Counted, calibrated and taken apart by Spark; in groups, and the longest kept."""
    from neardup.engines.spark.spark_run import Tuning

    documents = real(data, 300)
    settings = {"keep": "outlet:asc; longest", "within": "outlet"}
    result = ran(spark, documents, Tuning(giant=50), **settings)
    local = nd.dedup(documents, kinds="none", **settings)
    check_equal(result, local)
    assert result.info["artefacts"] == local.info["artefacts"]
    result.release()


def test_a_threshold_by_consistency_is_that_of_one_machine(spark: SparkSession, data: Path) -> None:
    """Scans: a low threshold, and pairs that pass because their texts were read."""
    from neardup.engines.spark.spark_run import Tuning

    found = rows(data / "ocr_pairs" / "docs.jsonl.zst", 600)
    documents = [{"id": one["id"], "text": one["text"], "at": at} for at, one in enumerate(found)]
    settings = {"method": "raregrams", "clusters": "average"}
    result = ran(spark, documents, Tuning(giant=50), **settings)
    local = nd.dedup(documents, kinds="none", **settings)
    calibration = local.artefacts["calibration"]
    assert calibration.threshold < 0.5
    assert len(calibration.pairs) > 100
    check_equal(result, local)
    assert result.info["artefacts"] == local.info["artefacts"]
    result.release()


def test_groups_choose_the_threshold_of_a_method_as_on_one_machine(
    spark: SparkSession, data: Path
) -> None:
    found = rows(data / "laws_de" / "docs.jsonl.zst")[:300]
    documents = [{"id": one["id"], "text": one["text"], "at": at} for at, one in enumerate(found)]
    result = ran(spark, documents, None, method="shingles", threshold="auto")
    local = nd.dedup(documents, method="shingles", threshold="auto", kinds="none")
    assert local.info["artefacts"]["calibration"]["by"] == CONSISTENCY
    check_equal(result, local)
    assert result.info["artefacts"] == local.info["artefacts"]
    result.release()


def test_a_collection_unlike_what_a_model_knows_is_not_asked(spark: SparkSession) -> None:
    """Its outline is counted by tasks; decisions and every artefact are those of one machine."""
    table = [f"x_{i}[{j}] = {i * j};" for i in range(4) for j in range(40)]
    texts = [" ".join(table[i : i + 120]) for i in range(8)]
    documents = [{"id": str(i), "text": one, "at": i} for i, one in enumerate(texts)]
    result = ran(spark, documents, None, method="learned")
    local = nd.dedup(documents, method="learned", kinds="none")
    check_equal(result, local)
    assert result.info["artefacts"] == local.info["artefacts"]
    assert local.info["artefacts"]["calibration"]["by"] == UNLIKE
    result.release()


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
    monkeypatch.setattr(parquet, "PART_BYTES", 1)
    monkeypatch.setattr(spark_files.FileInput, "range_bytes", 5000)
    settings: dict[str, Any] = {"method": "shingles", "threshold": 0.5, "keep": "longest"}
    ours = nd.dedup(mixed, engine="spark", **settings)
    theirs = nd.dedup(mixed, **settings)
    assert theirs.counts.rejected == 5
    assert theirs.info["shared_ids"]["ids"] == 10
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


@pytest.mark.parametrize("method", ["shingles", "exact"])
def test_ids_that_several_files_have_are_told_apart(
    spark: SparkSession, tmp_path: Path, method: str
) -> None:
    """As on one machine: in decisions, in signatures, and among references."""
    lines = [json.loads(line) for line in NEWS.read_text("utf-8").splitlines()]
    shards = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, part in zip(shards, (lines[:37], lines[37:]), strict=True):
        rows = [json.dumps({**one, "id": i}) for i, one in enumerate(part)]
        unnamed = [json.dumps({"text": "one"}), json.dumps({"id": f"{path}:39", "text": "two"})]
        path.write_text("\n".join([*rows, rows[3], *unnamed]), "utf-8")
    runs = {}
    for engine in ("spark", "local"):
        given = {"engine": engine, "method": method, "kinds": "none"}
        made = nd.dedup(shards, signatures=True, **given)
        made.save(tmp_path / engine)
        runs[engine] = made, nd.dedup(shards, against=[tmp_path / engine, shards[1]], **given)
    for ours, theirs in zip(*runs.values(), strict=True):
        same(ours, theirs)
        assert ours.info["shared_ids"] == theirs.info["shared_ids"]
        assert ours.counts.rejected == 2
    shared = {"ids": 37, "documents": 74, "example": "a.jsonl:0", "unnamed": 2}
    assert ours.info["shared_ids"] == shared
    assert spark.version


def test_what_a_task_refuses_is_said_in_our_words(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text('{"id": 1, "body": "a text of some words"}\n' * 3, "utf-8")
    for method in ("exact", "rareshingles"):  # when documents are signed, and when they are counted
        with pytest.raises(ColumnError, match=r"Column 'text' is not in .*Hint: [^\n]*$"):
            nd.dedup(str(path), method=method, engine="spark")
    with pytest.raises(RejectedError, match=r"row 2: id '1' was already used in .*, row 1"):
        nd.dedup(str(path), text="body", method="exact", engine="spark", strict=True)
    assert spark.version


def test_rows_that_cannot_be_used_are_rejected_and_counted(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = [("a", TEXT), ("b", None), (None, TEXT), ("c", TEXT), ("a", TEXT + " fourteen")]
    frame = spark.createDataFrame(rows, "id string, text string").coalesce(1)
    result = nd.spark.dedup(frame, method="shingles", words=2, kinds="none")
    told = {(r["id"], r["decision"], r["reason"]) for r in result.decisions.collect()}
    assert {(i, d) for i, d, _ in told} == {
        ("a", "kept"),
        ("a", "rejected"),
        ("b", "rejected"),
        (None, "rejected"),
        ("c", "duplicate"),
    }
    assert {"text is null", "id is null"} <= {reason for _, _, reason in told}
    assert result.counts.sentence() == "5 documents = 1 kept + 1 duplicate + 3 rejected"
    where = result.save(str(tmp_path / "out"))
    stored = pq.read_table(f"{where}/decisions.parquet")
    assert sorted(stored["decision"].to_pylist()) == sorted(d for _, d, _ in told)
    assert (tmp_path / "out" / "run.json").exists()
    result.release()
    assert verify(where).faults == []
    assert verify(where).checksums
    assert nd.Result.load(where).counts == result.counts
    (part, *_) = (tmp_path / "out" / "decisions.parquet").glob("part-*")
    whole = part.read_bytes()
    other = part.with_name("part-other.parquet")
    for path, content in ((part, whole[:-9] + b"x" + whole[-8:]), (other, whole)):
        path.write_bytes(content)
        assert verify(where).faults
        with pytest.raises(InputError, match="is damaged"):
            nd.Result.load(where)
        part.write_bytes(whole)
    other.unlink()
    (tmp_path / "out" / "checksums.sha256").unlink()
    assert verify(where).faults


def test_a_lost_application_goes_on_from_its_last_stage(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(str(i), f"{TEXT} {i // 3}") for i in range(30)]
    spark.createDataFrame(rows, "id string, text string").write.parquet(str(tmp_path / "in"))
    frame = spark.read.parquet(str(tmp_path / "in"))
    settings: dict[str, Any] = {"method": "shingles", "words": 2, "kinds": "none"}
    whole = nd.spark.dedup(frame, **settings)
    expected = sorted(map(tuple, whole.decisions.collect()), key=str)
    folder = str(tmp_path / "stages")
    with monkeypatch.context() as lost:
        lost.setattr("neardup.engines.spark.large_components.Matched.parts", _lost)
        with pytest.raises(InterruptedError):
            nd.spark.dedup(frame, checkpoint=folder, **settings)
    again = nd.spark.dedup(frame, checkpoint=folder, **settings)
    assert {"signed", "edges"} <= set(again.resumed)
    assert sorted(map(tuple, again.decisions.collect()), key=str) == expected
    other = nd.spark.dedup(frame, checkpoint=folder, **{**settings, "threshold": 0.9})
    assert not other.resumed


def _lost(*_: Any) -> Any:
    raise InterruptedError


def test_frames_that_are_none(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("a", TEXT)], "name string, text string")
    with pytest.raises(ColumnError, match="no column 'id' of ids; it has 'name', 'text'"):
        nd.spark.dedup(frame)
    with pytest.raises(ColumnError, match="'when', which is to order the input"):
        nd.spark.dedup(frame, id="name", position="when")
    with pytest.raises(SettingsError, match="limit counts documents of files"):
        nd.spark.dedup(frame, id="name", limit=3, method="exact")
    with pytest.raises(InputError, match="Expected a DataFrame of Spark, got list"):
        nd.spark.dedup([{"id": "a", "text": TEXT}])
    assert (
        nd.spark.dedup(frame.where("name = 'b'"), id="name", method="exact").counts.documents == 0
    )


def test_the_ten_lines_of_the_page(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Path(__file__).parents[3] / "docs" / "spark.md"
    [code] = re.findall(r"```py\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    assert len([line for line in code.splitlines() if line]) <= 10
    rows = [(str(i), f"{TEXT} {i // 2}") for i in range(6)]
    monkeypatch.chdir(tmp_path)
    frame = spark.createDataFrame(rows, "id string, text string")
    frame.write.parquet(str(tmp_path / "docs.parquet"))
    code = code.replace('"docs.parquet"', repr(str(tmp_path / "docs.parquet")))
    code = code.replace('"kept.parquet"', repr(str(tmp_path / "kept.parquet")))
    found: dict[str, Any] = {}
    exec(code.replace('"out"', repr(str(tmp_path / "out"))), found)
    kept = spark.read.parquet(str(tmp_path / "kept.parquet")).count()
    assert kept == found["result"].counts.kept
    assert (tmp_path / "out" / "run.json").exists()


def shared(tmp_path: Path) -> list[str]:
    """Three files: passages within and between them, edited copies, and what cannot be read."""
    names = []
    for number, some in enumerate(
        ([prose(1, 60), SHARED + " " + prose(2, 30)], [prose(3, 40) + " " + SHARED, ""])
    ):
        names.append(str(jsonl(tmp_path / f"{number}.jsonl", documents_of(*some))))
    edited = SHARED.replace("ka", "xo", 2)
    lines = [json.dumps({"id": "e", "text": f"{edited} {prose(4, 30)} {prose(1, 60)}"}), "{"]
    (tmp_path / "2.jsonl").write_text("\n".join(lines), "utf-8")
    return [*names, str(tmp_path / "2.jsonl"), str(NEWS)]


def test_passages_are_those_of_one_machine(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same files to the byte, with buckets so small that grams meet in several tasks."""
    monkeypatch.setattr(passage_search, "_BUCKET_WORDS", 5_000)
    names = shared(tmp_path)
    for engine in ("spark", "local"):
        out = ["-o", str(tmp_path / engine), "--engine", engine, "--accept-rejected"]
        options = ["--unit", "line", "--keep", "longest"]
        done = CliRunner().invoke(main, ["clean", *names, *options, *out])
        assert done.exit_code == 0, done.output
    ours, theirs = (digests_of(tmp_path / engine) for engine in ("spark", "local"))
    assert len(ours) > 4
    assert ours == theirs
    assert spark.version


def test_evaluation_items_are_found_in_the_same_training_documents(
    spark: SparkSession, tmp_path: Path
) -> None:
    evals = jsonl(tmp_path / "evals.jsonl", documents_of(SHARED, prose(1, 60), prose(9, 40)))
    for engine in ("spark", "local"):
        out = ["passages", *shared(tmp_path), "--against", str(evals), "--accept-rejected"]
        done = CliRunner().invoke(main, [*out, "-o", str(tmp_path / engine), "--engine", engine])
        assert done.exit_code == 0, done.output
    ours, theirs = (digests_of(tmp_path / engine) for engine in ("spark", "local"))
    assert ours == theirs
    assert spark.version
