"""The estimate before a run: exact where all is read, scaled where not, and nothing is written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup.documents import Columns, collect
from neardup.documents.jsonl import JsonlSource
from neardup.dryrun import sample as sampling
from neardup.dryrun.estimate import Estimate, estimate
from neardup.dryrun.sample import Sample
from neardup.errors import UsageError
from neardup.plan import Settings, resolve
from reference import run as twin

PLAN = resolve(Settings(threshold=0.6, set={"words": 2}, workers=1))


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
    """Pieces of 1 KB, so that a small file has a sample."""
    monkeypatch.setattr(sampling, "CHUNK_BYTES", 1024)
    monkeypatch.setattr(sampling, "LEAST_BYTES", 4096)
    monkeypatch.setattr(sampling, "LEAST_DOCUMENTS", 1)


def of(path: Path, **options: object) -> Estimate:
    return estimate(collect(path), PLAN, **options)  # type: ignore[arg-type]


def test_a_small_input_is_read_whole(lines: Path) -> None:
    found = of(lines)
    result = nd.dedup(lines, threshold=0.6, set={"words": 2})
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
    starts = [chunk.first_row for chunk in Sample(collect(lines).sources).chunks(Columns())]  # type: ignore[attr-defined]
    assert len(starts) >= 4
    assert starts[-1] > lines.stat().st_size / 2


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


def test_parquet_and_compressed(documents: list[dict[str, object]], tmp_path: Path) -> None:
    table = pa.Table.from_pylist(documents)
    pq.write_table(table, tmp_path / "docs.parquet")
    packed = tmp_path / "docs.jsonl.gz"
    packed.write_bytes(gzip.compress("".join(json.dumps(d) + "\n" for d in documents).encode()))
    for path in (tmp_path / "docs.parquet", packed):
        assert of(path).documents == 120
        assert of(path).whole


def test_evidence_beyond_the_memory_is_spooled(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    words = np.random.default_rng(1).integers(0, 10**9, 200_000)
    path.write_text(json.dumps({"text": " ".join(map(str, words))}) + "\n")
    assert estimate(collect(path), resolve(Settings(memory="1MB"))).spool > 500_000


def test_lines_longer_than_the_space_between_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "CHUNK_BYTES", 64)
    path = tmp_path / "long.jsonl"
    path.write_text("".join(json.dumps({"text": f"{i} " * 300}) + "\n" for i in range(8)))
    source = JsonlSource(path, "long.jsonl")
    pieces = list(sampling._spaced(source, Columns(), 1000))
    assert len({chunk.first_row for chunk, _ in pieces}) == len(pieces)
    assert sum(len(chunk.data) for chunk, _ in pieces) <= path.stat().st_size


def test_nothing_and_things_in_memory(tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_text("")
    assert of(tmp_path / "none.jsonl").documents == 0
    with pytest.raises(UsageError, match="reads JSON Lines and Parquet"):
        estimate(collect(["a", "b"]), PLAN)


def test_signatures_take_their_place_on_the_disk(tmp_path: Path) -> None:
    words = [" ".join(f"w{i}x{j}" for j in range(300)) for i in range(200)]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(f'{{"text": "{text}"}}\n' for text in words), "utf-8")
    with_, without = (
        estimate(collect(path), resolve(Settings(signatures=wanted))).disk
        for wanted in (True, False)
    )
    nd.dedup(path, signatures=True).save(tmp_path / "out")
    written = (tmp_path / "out" / "signatures.arrow").stat().st_size
    assert with_ - without == pytest.approx(written, rel=0.2)


def test_what_a_method_needs_is_counted_from_the_sample(lines: Path) -> None:
    plan = resolve(Settings(method="termvector", date="date", workers=1))
    found = estimate(collect(lines), plan)
    result = nd.dedup(lines, method="termvector", date="date")
    assert found.duplicates_low == found.duplicates_high == result.counts.duplicates
