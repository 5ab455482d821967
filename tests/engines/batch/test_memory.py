"""A run whose memory is short answers as any other, and one that cannot hold its input says so."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import neardup as nd
from neardup import plan, schema
from neardup.engines.batch import memory as batch_memory
from neardup.errors import SettingsError, UsageError
from neardup.matching import candidates, evidence, key_store, shared_keys
from neardup.settings import check_least_memory
from reference.run import collection

METHODS = ("raregrams", "shingles", "simhash", "qgrams", "learned")


@pytest.mark.parametrize(
    ("method", "most", "ranges"),
    [*((m, 10**7, 16) for m in METHODS), ("raregrams", 150, 16), ("raregrams", 10**7, 10**6)],
)
def test_short_memory_changes_no_byte(tmp_path: Path, method: str, most: int, ranges: int) -> None:
    documents = collection(np.random.default_rng(7), 400)
    saved = []
    for name, memory in (("usual", "4GB"), ("short", "1MB")):
        with pytest.MonkeyPatch.context() as patch:
            if name == "short":
                patch.setattr(schema, "BLOCK_ROWS", 37)
                patch.setattr(key_store, "BLOCK_KEYS", 500)
                patch.setattr(key_store, "PART_KEYS", 300)
                patch.setattr(candidates, "BLOCK_PAIRS", 50)
                patch.setattr(shared_keys, "RANGE_MEMBERS", 100)
                patch.setattr(shared_keys, "MOST_RANGES", ranges)
                patch.setattr(evidence, "SMALL", 1000)
                patch.setattr(evidence, "SPOOLED_BLOCK", 3000)
            result = nd.find(documents, method=method, memory=memory, workers=2, max_pairs=most)
        assert result.counts.duplicates > 50
        result.save(tmp_path / name)
        files = ("decisions.parquet", "pairs.parquet", "duplicates.parquet")
        saved.append([(tmp_path / name / file).read_bytes() for file in files])
    assert saved[0] == saved[1]


@pytest.mark.parametrize("rows", [1, 5, 12])
def test_tables_made_in_blocks_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """Rejected documents are at the ends of blocks, alone in them, and in between."""
    texts = [one["text"] for one in collection(np.random.default_rng(11), 60)]
    lines = [json.dumps({"id": f"{i}", "text": text}) for i, text in enumerate(texts)]
    for i in (0, 4, 5, 6, 7, 8, 30, 59):
        lines[i] = "no JSON"
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    whole = nd.dedup(tmp_path / "a.jsonl", method="shingles")
    monkeypatch.setattr(schema, "BLOCK_ROWS", rows)
    parts = nd.dedup(tmp_path / "a.jsonl", method="shingles")
    assert whole.decisions.equals(parts.decisions)
    assert whole.clusters.equals(parts.clusters)
    assert (whole.counts, whole.counts.rejected) == (parts.counts, 8)


def test_less_than_a_process_needs_is_refused() -> None:
    check_least_memory("250MB")
    check_least_memory("lots")  # refused elsewhere, with all other problems
    with pytest.raises(SettingsError, match=r"needs at least 250 MB\. Hint: give --memory 250MB"):
        check_least_memory("100MB")


def test_documents_that_do_not_fit_are_refused_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plan, "DOCUMENT_BYTES", 10**6)
    texts = [one["text"] for one in collection(np.random.default_rng(8), 120)]
    with pytest.raises(UsageError) as refused:
        nd.dedup(texts, method="shingles", memory="250MB")
    assert str(refused.value) == (
        "120 or more documents need 295 MB of memory with shingles, and --memory is 250 MB. "
        "Hint: give --memory 0.3GB, or a part of the input."
    )
    monkeypatch.setattr(plan, "OWN_BYTES", 10**9)
    nd.dedup(texts, method="shingles")  # nobody gave a limit
    nd.dedup(texts, method="shingles", memory="1MB")  # a wish, which no process can keep


def test_references_need_no_memory_of_their_own(tmp_path: Path) -> None:
    documents = collection(np.random.default_rng(9), 300)
    nd.dedup(documents[:150], method="shingles").save(tmp_path / "run", overwrite=True)
    usual, short = (
        nd.dedup(documents, method="shingles", against=[tmp_path / "run"], memory=memory)
        for memory in ("4GB", "1MB")
    )
    assert usual.decisions.equals(short.decisions)
    assert usual.counts.duplicates > 100


class Allocator:
    """Stands for glibc."""

    def __init__(self) -> None:
        self.settings: dict[int, int] = {}

    def mallopt(self, name: int, value: int) -> int:
        self.settings[name] = value
        return 1

    def malloc_trim(self, _: int) -> int:
        return 1


def test_an_allocator_that_gives_memory_back_goes_on_doing_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allocator, given = Allocator(), batch_memory._TRIM_THRESHOLD
    monkeypatch.setattr(batch_memory, "_libc", lambda: allocator)
    monkeypatch.setattr(batch_memory, "be_frugal", cache(batch_memory.be_frugal.__wrapped__))
    batch_memory.keep_freed()
    assert allocator.settings[given] == batch_memory._KEPT
    batch_memory.be_frugal()
    frugal = dict(allocator.settings)
    batch_memory.keep_freed()
    assert allocator.settings == frugal
    assert frugal[given] < batch_memory._KEPT
