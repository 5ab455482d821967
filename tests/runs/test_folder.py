"""The folder of a run: read back it answers the same; written again it has the same bytes."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup import api as nd
from neardup.errors import DataError, InputError, UsageError
from neardup.runs.checksums import Checksums, replacing
from neardup.runs.result import Result
from reference import run as twin

TABLES = ("decisions.parquet", "duplicates.parquet", "pairs.parquet", "rejected.jsonl")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    docs = twin.collection(np.random.default_rng(1), 60)
    lines = [json.dumps(doc) for doc in docs]
    lines[10:10] = ["broken", "", json.dumps({"id": "d3", "text": "used", "n": 1})]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_checksums_are_those_of_the_files(source: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(source.read_bytes().replace(b"d3", b"e3")))
    for number, inputs in enumerate(([source], [packed], [source, packed])):
        nd.dedup(inputs).save(tmp_path / str(number))
        checksums = Checksums(tmp_path / str(number))
        assert any(name.startswith("kept") for name in checksums.digests or ())
        assert checksums.faults() == []


@pytest.mark.parametrize("keep", ["first", "longest", "n:desc", "newest"])
def test_read_back_it_answers_the_same(source: Path, tmp_path: Path, keep: str) -> None:
    result = nd.find(source, method="join", threshold=0.6, keep=keep, date="date")
    folder = result.save(tmp_path / "out")
    again = Result.load(folder)
    assert again.decisions.equals(result.decisions)
    assert again.pairs.equals(result.pairs)
    assert again.clusters.equals(result.clusters)
    assert again.duplicates.equals(result.duplicates)
    assert again.counts == result.counts
    assert again.kept.equals(result.kept)
    assert again.info["settings"] == json.loads(json.dumps(result.info["settings"]))
    new = result.rethreshold(0.8).decisions
    assert again.rethreshold(0.8).decisions.to_pylist() == new.to_pylist()


def test_same_settings_same_bytes(source: Path, tmp_path: Path) -> None:
    for name, workers in (("one", 1), ("two", 2)):
        nd.dedup(source, workers=workers).save(tmp_path / name)
    for file in (*TABLES, "kept.jsonl"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_kept_lines_are_the_lines_that_came(source: Path, tmp_path: Path) -> None:
    result = nd.dedup(source)
    result.save(tmp_path / "out")
    lines = source.read_bytes().split(b"\n")
    rows = [r["row"] for r in result.decisions.to_pylist() if r["decision"] == "kept"]
    kept = (tmp_path / "out" / "kept.jsonl").read_bytes().split(b"\n")
    assert [one for one in kept if one.strip()] == [lines[row - 1] for row in rows]


def test_tables_hold_what_they_say(source: Path, tmp_path: Path) -> None:
    result = nd.dedup(source, method="shingles", threshold=0.6)
    folder = result.save(tmp_path / "out")
    duplicates = pq.read_table(folder / "duplicates.parquet")
    assert set(duplicates["decision"].to_pylist()) == {"duplicate"}
    assert set(duplicates["method"].to_pylist()) == {"shingles"}
    rejected = [json.loads(one) for one in (folder / "rejected.jsonl").read_text().splitlines()]
    assert [one["row"] for one in rejected] == [11, 13]
    info = json.loads((folder / "run.json").read_text())
    counts = info["counts"]
    assert counts["documents"] == counts["kept"] + counts["duplicates"] + counts["rejected"] == 62


def test_a_folder_without_its_last_file_is_not_a_run(source: Path, tmp_path: Path) -> None:
    folder = nd.dedup(source).save(tmp_path / "out")
    (folder / "run.json").unlink()
    with pytest.raises(InputError, match="not the folder of a finished run"):
        Result.load(folder)
    with pytest.raises(InputError):
        Result.load(tmp_path / "nowhere")


def test_another_format_is_refused(source: Path, tmp_path: Path) -> None:
    folder = nd.dedup(source).save(tmp_path / "out")
    for text in ('{"format": 999}', "{", '"x"'):
        (folder / "run.json").write_text(text)
        with pytest.raises(InputError):
            Result.load(folder)


def test_a_second_run_into_the_folder_leaves_nothing_of_the_first(
    source: Path, tmp_path: Path
) -> None:
    nd.dedup(source, keep="n:desc").save(tmp_path / "out")
    result = nd.dedup(source, keep="first")
    again = Result.load(result.save(tmp_path / "out", overwrite=True))
    assert np.array_equal(again.rank, result.rank)
    assert again.decisions.equals(result.decisions)
    assert not list((tmp_path / "out").glob("*.part"))


def test_a_run_never_writes_over_its_own_input(source: Path, tmp_path: Path) -> None:
    folder = nd.dedup(source).save(tmp_path / "out")
    before = (folder / "kept.jsonl").read_bytes()
    with pytest.raises(UsageError, match="lies in the output folder"):
        nd.dedup(folder / "kept.jsonl", threshold=0.5).save(folder)
    assert (folder / "kept.jsonl").read_bytes() == before
    assert Result.load(folder).counts.documents == 62


def test_a_finished_run_survives_a_save_that_cannot_be(tmp_path: Path) -> None:
    folder = nd.dedup(["one text", "one text"]).save(tmp_path / "out")
    with pytest.raises(DataError, match="in memory"):
        Result.load(folder).save(folder, overwrite=True)
    assert Result.load(folder).counts.duplicates == 1


def test_nothing_of_an_earlier_run_stays_behind(source: Path, tmp_path: Path) -> None:
    folder = nd.dedup(source).save(tmp_path / "out")
    nd.dedup(pa.table({"text": ["a b c", "a b c"]})).save(folder, overwrite=True)
    assert not (folder / "kept.jsonl").exists()
    assert pq.read_table(folder / "kept.parquet").num_rows == 1


def test_documents_are_found_again_from_anywhere(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link.jsonl").symlink_to(source)
    monkeypatch.chdir(tmp_path)
    result = nd.dedup("link.jsonl", method="join", threshold=0.6)
    folder, kept = result.save("out").resolve(), result.kept
    monkeypatch.chdir(tmp_path / "elsewhere")
    again = Result.load(folder)
    one = result.duplicates["id"][0].as_py()
    assert again.explain(one).comparison is not None
    assert str(again.explain(one)).startswith(f"{one} (link.jsonl, row ")
    assert again.kept.equals(kept)


def test_a_run_on_spark_is_replaced(source: Path, tmp_path: Path) -> None:
    """Its tables are folders."""
    (tmp_path / "out" / "pairs.parquet").mkdir(parents=True)
    (tmp_path / "out" / "run.json").write_text("{}")
    folder = nd.dedup(source).save(tmp_path / "out", overwrite=True)
    assert Result.load(folder).counts.documents == 62


@pytest.mark.parametrize("name", ["..", ".", "", "/", "../in.jsonl", "kept/../../in.jsonl", 7])
def test_a_foreign_run_json_cannot_have_files_removed(
    source: Path, tmp_path: Path, name: object
) -> None:
    folder = nd.dedup(source).save(tmp_path / "out")
    info = json.loads((folder / "run.json").read_text("utf-8"))
    (folder / "run.json").write_text(json.dumps({**info, "kept_files": [name]}), "utf-8")
    nd.dedup(source).save(folder, overwrite=True)
    assert source.exists()
    assert Result.load(folder).counts.documents == 62


def test_a_finished_run_is_replaced_only_on_request(source: Path, tmp_path: Path) -> None:
    result = nd.dedup(source, method="exact")
    result.save(tmp_path / "out")
    before = (tmp_path / "out/run.json").read_bytes()
    with pytest.raises(UsageError, match=r"already holds a finished run.*overwrite=True"):
        nd.dedup(source, method="join").save(tmp_path / "out")
    assert (tmp_path / "out/run.json").read_bytes() == before
    nd.dedup(source, method="join").save(tmp_path / "out", overwrite=True)
    assert Result.load(tmp_path / "out").info["settings"]["method"] == "join"


def test_a_report_that_is_being_replaced_never_looks_damaged(source: Path, tmp_path: Path) -> None:
    """Its checksum goes before the file does, and comes back with the next report."""
    out = nd.dedup(source, method="exact").save(tmp_path / "out")
    report = out / "report.html"
    with suppress(KeyboardInterrupt), replacing(report):
        report.write_text("the new one")
        raise KeyboardInterrupt
    assert Checksums(out).faults() == []
    Result.load(out).report(report)
    assert "report.html" in (Checksums(out).digests or {})
    report.write_text("damaged")
    assert len(Checksums(out).faults()) == 1
