"""A run that counts while it reads decides as one that counts first, on the same table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup.engines.batch.intake import counts_while_reading
from neardup.matching.evidence import EvidenceStore
from neardup.methods.learned import Learned
from neardup.methods.raregrams import Raregrams
from neardup.plan import resolve
from neardup.schema import Ragged, offsets_of
from neardup.settings import settings_of
from neardup.testing import HOSTILE, batch, resolved
from reference.run import collection


def documents() -> list[dict[str, Any]]:
    """With rejected ones: empty rows, and an id that a file has twice."""
    texts = [*(one["text"] for one in collection(np.random.default_rng(3), 150)), *HOSTILE, None]
    ids = [*range(len(texts) - 1), 0]
    return [{"id": str(id_), "text": text} for id_, text in zip(ids, texts, strict=True)]


@pytest.mark.parametrize("workers", [1, 2])
def test_one_reading_equals_two(tmp_path: Path, workers: int) -> None:
    method = Raregrams(calibrate=False)
    once = nd.dedup(documents(), method=method, workers=workers)
    once.save(tmp_path / "once")
    table = str(tmp_path / "once" / "artefacts" / "frequencies.arrow")
    twice = nd.dedup(documents(), method=Raregrams(calibrate=False, frequencies=table))
    assert once.counts.duplicates > 20
    assert once.counts.rejected >= 1
    assert once.decisions.equals(twice.decisions)
    assert once.pairs.equals(twice.pairs)


def test_one_reading_of_learned_equals_two(monkeypatch: pytest.MonkeyPatch) -> None:
    once = nd.dedup(documents(), method="learned")
    monkeypatch.setattr(Learned, "weighs_last", False)
    twice = nd.dedup(documents(), method="learned")
    assert once.counts.duplicates > 20
    assert once.decisions.equals(twice.decisions)
    assert once.pairs.equals(twice.pairs)
    digests = [{n: a.digest for n, a in run.artefacts.items()} for run in (once, twice)]
    assert digests[0] == digests[1]


def test_the_table_is_that_of_a_pass_of_its_own() -> None:
    texts = [one["text"] for one in collection(np.random.default_rng(4), 60)]
    method = Raregrams(calibrate=False)
    counted = resolved(method.needs, batch(texts))["frequencies"]
    assert nd.dedup(texts, method=method).artefacts["frequencies"].digest == counted.digest


@pytest.mark.parametrize(
    ("parameters", "once"),
    [
        ({"method": "raregrams"}, True),
        ({"method": "rareshingles"}, False),
        ({"method": "learned"}, True),
        ({"method": "learned", "limit": 5}, False),
        ({"method": "raregrams", "limit": 5}, False),
        ({"method": "raregrams", "set": {"frequencies": "general"}}, False),
    ],
)
def test_which_runs_read_once(parameters: dict[str, Any], once: bool) -> None:
    assert counts_while_reading(resolve(settings_of(parameters))) == once


@pytest.mark.parametrize("limit", [0, 1 << 20])
def test_stored_evidence_is_rewritten_in_memory_and_in_its_file(limit: int) -> None:
    rng = np.random.default_rng(5)
    store = EvidenceStore(np.uint64, limit=limit)
    parts = [rng.integers(0, 9, rng.integers(0, 5)) for _ in range(12)]
    for part in parts:  # a block of documents each
        values = np.arange(part.sum(), dtype=np.uint64)
        store.append(Ragged(values, offsets_of(part)))
    before = store.take(np.arange(len(store.lengths)))
    ends = list(store.rewrite(lambda first, rows: rows.values + np.uint64(1000 * first), 2))
    after = store.take(np.arange(len(store.lengths)))
    of_document = np.repeat([first for first, _ in ends], [last - first for first, last in ends])
    firsts = np.repeat(of_document, store.lengths)
    assert [first for first, _ in ends[1:]] == [last for _, last in ends[:-1]]
    assert after.values.tolist() == (before.values + firsts.astype(np.uint64) * 1000).tolist()
    store.close()


def test_a_chunk_of_rejected_rows_alone_loses_no_document(tmp_path: Path) -> None:
    good = [
        {"id": str(i), "text": f"{'some words of one long text ' * 9} number {i}"}
        for i in range(20)
    ]
    file = tmp_path / "documents.parquet"
    missing = pa.table({"id": ["a", "b"], "text": pa.array([None, None], pa.string())})
    with pq.ParquetWriter(file, missing.schema) as writer:
        writer.write_table(missing)
        writer.write_table(pa.Table.from_pylist(good, missing.schema))
    counts = nd.dedup(file, method="raregrams").counts
    assert (counts.documents, counts.rejected) == (22, 2)
