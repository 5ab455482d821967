"""The estimate before a run: exact where all is read, scaled where not, and nothing is written."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup.documents import (
    Collection,
    Columns,
    collect,
    csv,
    folder_entries,
    jsonl,
    memory_tables,
    pieces,
)
from neardup.documents.csv import CsvSource
from neardup.documents.jsonl import JsonlSource
from neardup.documents.source import Source
from neardup.engines.estimate import estimate as estimating
from neardup.engines.estimate import (
    estimate as writing,
)
from neardup.engines.estimate import sample as sampling
from neardup.engines.estimate.estimate import Estimate, estimate
from neardup.engines.estimate.sample import Sample
from neardup.errors import ColumnError, UsageError
from neardup.plan import resolve
from neardup.settings import Settings
from reference import run as twin

PLAN = resolve(Settings(method="shingles", threshold=0.6, set={"words": 2}, workers=1))


@pytest.fixture
def documents() -> list[dict[str, object]]:
    return twin.collection(np.random.default_rng(3), 120)


@pytest.fixture
def lines(documents: list[dict[str, object]], tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in documents))
    return path


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of 1 KB and short runs, so that a small input has a sample."""
    monkeypatch.setattr(pieces, "PIECE_BYTES", 1024)
    monkeypatch.setattr(pieces, "LEAST_PIECE", 256)
    monkeypatch.setattr(estimating, "LITTLE_BYTES", 1024)
    monkeypatch.setattr(sampling, "LEAST_BYTES", 6000)
    monkeypatch.setattr(sampling, "LEAST_DOCUMENTS", 1)
    monkeypatch.setattr(memory_tables, "RUN", 5)
    monkeypatch.setattr(folder_entries, "RUN", 5)
    monkeypatch.setattr(folder_entries, "FILE_BYTES", 0)


def of(path: Path, **options: object) -> Estimate:
    return estimate(collect(path), PLAN, **options)  # type: ignore[arg-type]


def test_a_small_input_is_read_whole(lines: Path) -> None:
    found = of(lines)
    result = nd.dedup(lines, method="shingles", threshold=0.6, set={"words": 2})
    assert found.whole
    assert found.documents == found.sample_documents == 120
    assert found.duplicates_low == found.duplicates_high == result.counts.duplicates
    assert found.disk < 2 * lines.stat().st_size + 20_000
    assert found.spool == 0
    assert found.memory > 10_000_000


@pytest.mark.usefixtures("small")
def test_a_sample_is_spread_and_scales_by_bytes(lines: Path) -> None:
    found = of(lines)
    assert not found.whole
    assert 100 <= found.documents <= 140
    assert found.sample_documents < 60
    assert found.duplicates_low <= found.duplicates_high < found.documents
    sample = Sample(collect(lines).sources)
    texts = "".join(chunk.data.decode() for chunk in sample.chunks(Columns()))  # type: ignore[attr-defined]
    places = [lines.read_text().index(line) for line in texts.splitlines()]
    assert len(sample.starts) >= 4
    assert places == sorted(set(places))
    assert places[-1] > lines.stat().st_size / 2


@pytest.mark.usefixtures("small")
def test_what_is_written_takes_disk(lines: Path) -> None:
    tables, kept, annotated = (of(lines, writes=w).disk for w in (None, "kept", "annotated"))
    assert tables < kept < annotated


@pytest.mark.usefixtures("small")
def test_a_limit_cuts_the_estimate(lines: Path) -> None:
    plan = resolve(Settings(limit=10, workers=1))
    found = estimate(collect(lines), plan)
    assert found.documents == 10
    assert found.disk < of(lines).disk


def csv_text(documents: list[dict[str, object]]) -> str:
    """Texts with quotes and newlines, so that most places of the file are inside a field."""
    rows = [f'{d["id"]},"""{d["text"]}""\n"\n' for d in documents]
    return "id,text\n" + "".join(rows)


def stored(form: str, documents: list[dict[str, object]], path: Path) -> Any:
    """The documents in that form, in the folder ``path`` or in memory."""
    table = pa.Table.from_pylist(documents)
    text = "".join(json.dumps(one) + "\n" for one in documents)
    file = path / f"docs.{form}"
    if form == "parquet":
        pq.write_table(table, file, row_group_size=12)
    elif form in ("feather", "arrow"):
        open_ = pa.ipc.new_file if form == "feather" else pa.ipc.new_stream
        with open_(str(file), table.schema) as out:
            out.write_table(table, max_chunksize=10)
    elif form.endswith((".gz", ".xz")):
        pack = gzip.compress if form.endswith("gz") else lzma.compress
        file.write_bytes(pack((csv_text(documents) if "csv" in form else text).encode()))
    elif form == "csv":
        file.write_text(csv_text(documents))
    elif form == "folder":
        file.mkdir()
        for i, one in enumerate(documents):
            (file / f"{i:04}.txt").write_text(str(one["text"]))
    else:
        return {"list": documents, "table": table, "frame": table.to_pandas()}[form]
    return file


FORMS = ["csv", "feather", "arrow", "parquet", "folder", "list", "table", "frame"]
PACKED = ["jsonl.gz", "jsonl.xz", "csv.gz", "csv.xz"]


@pytest.mark.parametrize("form", FORMS + PACKED)
def test_every_form_is_read_whole_if_small(
    documents: list[dict[str, object]], tmp_path: Path, form: str
) -> None:
    given = stored(form, documents, tmp_path)
    found = estimate(collect(given), PLAN)
    counts = nd.dedup(given, method="shingles", threshold=0.6, set={"words": 2}).counts
    assert found.whole
    assert found.documents == found.sample_documents == counts.documents
    assert found.rejected == counts.rejected
    assert found.duplicates_low == found.duplicates_high == counts.duplicates
    assert found.duplicates_likely == counts.duplicates
    assert found.seconds >= 0


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_a_sample(
    documents: list[dict[str, object]], tmp_path: Path, form: str
) -> None:
    many = [{**one, "id": f"{i}-{one['id']}"} for i in range(10) for one in documents]
    given = stored(form, many, tmp_path)
    found = estimate(collect(given), PLAN)
    assert not found.whole
    assert found.documents == pytest.approx(len(many), rel=0.35)
    assert found.rejected == 0
    assert found.duplicates_low <= found.duplicates_high
    assert (found.duplicates_likely is None) == (form == "arrow")  # a stream is read from its start
    assert found.disk > 0


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("form", PACKED)
def test_of_a_packed_file_only_the_beginning_is_unpacked(
    tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long it is: what is unpacked does not grow with the input."""
    unpacked: list[int] = []

    def counted(cut: Any) -> Any:
        def pieces_of(*given: Any) -> Any:
            for data in cut(*given):
                unpacked.append(len(data))
                yield data

        return pieces_of

    monkeypatch.setattr(jsonl, "whole_lines", counted(jsonl.whole_lines))
    monkeypatch.setattr(csv, "whole_records", counted(csv.whole_records))
    monkeypatch.setattr(writing, "TRIED_BYTES", 4000)
    monkeypatch.setattr(pieces, "SIP_BYTES", 256)
    monkeypatch.setattr(sampling, "LEAST_BYTES", 60_000)
    spent = []
    for times in (20, 60):
        unpacked.clear()
        random = np.random.default_rng(5)  # it must not pack better and better
        many = [{"id": str(i), "text": random.bytes(60).hex(" ")} for i in range(100 * times)]
        found = estimate(collect(stored(form, many, tmp_path)), PLAN)
        assert not found.whole
        assert found.documents == pytest.approx(len(many), rel=0.5)
        spent.append(sum(unpacked))
    assert spent[0] == spent[1] < 200_000 < sum(len(str(one)) for one in many)


@pytest.mark.parametrize("form", PACKED)
def test_nobody_but_neardup_prints(
    documents: list[dict[str, object]], tmp_path: Path, form: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Arrow complains on its own of a stream that is left open."""
    estimate(collect(stored(form, documents, tmp_path)), PLAN)
    assert capfd.readouterr() == ("", "")


def test_lines_of_quoted_texts_are_not_taken_for_records(tmp_path: Path) -> None:
    paragraph = "one, two\n"
    rows = [f'{i},"{paragraph * (20 + i % 7)}"\n' for i in range(40)]
    path = tmp_path / "docs.csv"
    path.write_text("id,text\n" + "".join(rows))
    (source,) = collect(path).sources
    assert isinstance(source, CsvSource)
    data = path.read_bytes()
    for start in range(100, 3000, 37):
        found = csv.scan(csv.aligned(data[start : start + 4000], source.header), ",")
        assert set(found.widths.tolist()) == {2}


@pytest.mark.parametrize("name", ["text", "x"])
def test_a_column_that_is_not_there(tmp_path: Path, name: str) -> None:
    path = tmp_path / "in.csv"
    path.write_text("id,body\n1,a\n")
    with pytest.raises(ColumnError, match=f"Column '{name}' is not in"):
        estimate(collect(path), resolve(Settings(text=name)))


def test_references_are_not_scaled(lines: Path) -> None:
    against = resolve(Settings(threshold=0.6, set={"min_words": 2}, against=(str(lines),)))
    found = estimate(collect(lines), against)
    assert found.documents == found.duplicates_low == 120


def test_evidence_beyond_the_memory_is_spooled(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    words = np.random.default_rng(1).integers(0, 10**9, 200_000)
    path.write_text(json.dumps({"text": " ".join(map(str, words))}) + "\n")
    assert estimate(collect(path), resolve(Settings(method="join", memory="1MB"))).spool > 500_000


def test_lines_longer_than_a_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE_BYTES", 64)
    path = tmp_path / "long.jsonl"
    path.write_text("".join(json.dumps({"text": f"{i} " * 300}) + "\n" for i in range(8)))
    blocks = list(JsonlSource(path, "long.jsonl").drawn_blocks(1000))
    assert len(set(blocks)) == len(blocks) > 1
    assert all(json.loads(block) for block in blocks)


def test_nothing_and_what_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_text("")
    (tmp_path / "none.csv").write_text("id,text\n")
    for path in tmp_path.iterdir():
        assert of(path).documents == 0
    assert estimate(collect([]), PLAN).documents == 0

    class Other(Source):
        file = "notes.db"

    with pytest.raises(UsageError, match=r"notes\.db: there is no estimate"):
        estimate(Collection([Other()]), PLAN)


@pytest.mark.parametrize("method", ["shingles", "rareshingles"])
def test_signatures_take_their_place_on_the_disk(tmp_path: Path, method: str) -> None:
    words = [" ".join(f"w{i}x{j}" for j in range(300)) for i in range(200)]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(f'{{"text": "{text}"}}\n' for text in words), "utf-8")
    with_, without = (
        estimate(collect(path), resolve(Settings(method=method, signatures=wanted))).disk
        for wanted in (True, False)
    )
    nd.dedup(path, method=method, signatures=True).save(tmp_path / "out")
    written = (tmp_path / "out" / "signatures.arrow").stat().st_size
    assert with_ - without == pytest.approx(written, rel=0.2)


def test_what_a_method_needs_is_counted_from_the_sample(lines: Path) -> None:
    plan = resolve(Settings(method="termvector", date="date", workers=1))
    found = estimate(collect(lines), plan)
    result = nd.dedup(lines, method="termvector", date="date")
    assert found.duplicates_low == found.duplicates_high == result.counts.duplicates


@pytest.mark.parametrize("form", ["parquet", "feather", "arrow"])
def test_what_is_broken_is_passed_over(
    documents: list[dict[str, object]], tmp_path: Path, form: str
) -> None:
    path = stored(form, documents, tmp_path)
    data = path.read_bytes()
    # A page of the first row group; offsets of the last record batch, and what describes it.
    place = 4 if form == "parquet" else data.rindex(b"d110d111") - 300
    path.write_bytes(data[:place] + b"\xff" * 300 + data[place + 300 :])
    counts = nd.dedup(path, method="shingles", threshold=0.6, set={"words": 2}).counts
    found = of(path)
    assert counts.kept > 0 < counts.rejected
    assert found.sample_documents == counts.documents - counts.rejected


def test_inputs_that_cannot_be_read(lines: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and no more")
    found = estimate(collect({"bad": tmp_path / "bad.parquet", "good": lines}), PLAN)
    assert found.documents == 120


def test_names_of_inputs_and_encodings(lines: Path, tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_bytes("text\nпривет мир опять\n".encode("koi8-r"))
    plan = resolve(Settings(keep="source:b,a", within="source", encoding="koi8-r"))
    given = collect({"a": lines, "b": tmp_path / "b.csv"}, "koi8-r")
    found = estimate(given, plan)
    assert (found.documents, found.rejected) == (121, 0)


def test_what_a_method_counts_first(lines: Path) -> None:
    settings = Settings(method="simhash", set={"weights": "idf"})
    found = estimate(collect(lines), resolve(settings))
    counts = nd.dedup(lines, method="simhash", weights="idf").counts
    assert (found.documents, found.duplicates_low) == (120, counts.duplicates)
