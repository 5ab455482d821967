"""A Result and the questions it answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import api as nd
from neardup.errors import SettingsError
from neardup.runs.result import Result
from neardup.schema import CLUSTERS, DECISIONS, PAIRS
from reference import run as twin
from repeats import examples

OPTIONS = {"words": 2, "min_words": 5, "keys": "prefix"}


def documents(seed: int, count: int = 40) -> list[dict[str, Any]]:
    return twin.collection(np.random.default_rng(seed), count)


@given(
    st.integers(0, 2**32),
    st.sampled_from([0.5, 0.6, 0.75, 0.9, 1.0]),
    st.sampled_from(["rule", "components"]),
    st.sampled_from(["first", "longest", "n:desc"]),
    st.sampled_from([None, "source"]),
)
@examples(25)
def test_a_higher_threshold_is_a_new_run(
    seed: int, threshold: float, clusters: str, keep: str, within: str | None
) -> None:
    docs = documents(seed)
    same: dict[str, Any] = {"clusters": clusters, "keep": keep, "within": within, "set": OPTIONS}
    same["method"] = "shingles"
    made = nd.find(docs, threshold=0.5, **same).rethreshold(threshold)
    expected = nd.find(docs, threshold=threshold, **same)
    assert made.decisions.to_pylist() == expected.decisions.to_pylist()
    columns = ["a", "b", "score"]
    assert made.pairs.select(columns).equals(expected.pairs.select(columns))
    for one, other in zip(made.pairs.to_pylist(), expected.pairs.to_pylist(), strict=True):
        assert None in (one["kind"], other["kind"]) or one == other
    assert made.info["kinds"] == expected.info["kinds"]
    assert made.threshold == threshold
    assert made.kept == expected.kept


def test_rethreshold_with_rejected_documents_of_the_same_id() -> None:
    """An id that was first on a rejected line belongs to the document that has it."""
    text = " ".join(f"w{i}" for i in range(30))
    rows = [{"id": "x", "text": None}, {"id": "x", "text": text}, {"id": "y", "text": text}]
    rows.append({"id": "y", "text": "again"})
    result = nd.dedup(rows)
    made = result.rethreshold(0.9)
    columns = ["id", "row", "decision", "kept_id", "cluster"]
    assert made.decisions.select(columns).equals(result.decisions.select(columns))
    assert made.decisions["decision"].to_pylist() == ["rejected", "kept", "duplicate", "rejected"]


def test_rethreshold_refuses_what_it_cannot_know() -> None:
    docs = documents(1)
    with pytest.raises(SettingsError, match="cannot be answered"):
        nd.find(docs, method="shingles", threshold=0.8).rethreshold(0.7)
    with pytest.raises(SettingsError, match="threshold is 2"):
        nd.find(docs, method="shingles", threshold=0.8).rethreshold(2)
    partial = nd.find(docs, method="shingles", threshold=0.5, max_pairs=1, set=OPTIONS)
    assert partial.info["pairs"] == "partial"
    with pytest.raises(SettingsError, match="max_pairs"):
        partial.rethreshold(0.9)


@given(st.integers(0, 2**32), st.integers(1, 30))
@examples(12)
def test_partial_pairs_still_name_what_each_was_set_aside_for(seed: int, limit: int) -> None:
    docs = documents(seed)
    result = nd.find(docs, method="shingles", threshold=0.5, max_pairs=limit, set=OPTIONS)
    everything = nd.find(docs, method="shingles", threshold=0.5, set=OPTIONS)
    pairs = {frozenset((p["a"], p["b"])): p["score"] for p in result.pairs.to_pylist()}
    assert len(pairs) == len(result.pairs)
    for row in result.duplicates.to_pylist():
        assert pairs[frozenset((row["id"], row["kept_id"]))] == row["score"]
    assert set(pairs) <= {frozenset((p["a"], p["b"])) for p in everything.pairs.to_pylist()}
    assert (result.info["pairs"] == "complete") == (len(pairs) == len(everything.pairs))


def test_schemas_and_clusters() -> None:
    result = nd.find(documents(3), method="shingles", threshold=0.5, set=OPTIONS)
    assert result.decisions.schema == DECISIONS
    assert result.pairs.schema == PAIRS
    assert result.clusters.schema == CLUSTERS
    by_cluster: dict[int, list[dict[str, Any]]] = {}
    for row in result.decisions.to_pylist():
        if row["cluster"] is not None:
            by_cluster.setdefault(row["cluster"], []).append(row)
    assert len(by_cluster) == len(result.clusters) > 3
    for cluster in result.clusters.to_pylist():
        rows = by_cluster[cluster["cluster"]]
        assert [row["id"] for row in rows] == cluster["members"]
        assert len(rows) == cluster["size"]
        kept = [row["id"] for row in rows if row["decision"] == "kept"]
        assert kept == [cluster["kept_id"]]
        assert cluster["weakest"] == min(r["score"] for r in rows if r["score"] is not None)
        assert {row["kept_id"] for row in rows} == {None, cluster["kept_id"]}
    firsts = [rows[0]["row"] for _, rows in sorted(by_cluster.items())]
    assert firsts == sorted(firsts)


def test_weakest_are_the_lowest_scores() -> None:
    result = nd.dedup(documents(4), method="shingles", threshold=0.5, set=OPTIONS)
    scores = sorted(result.duplicates["score"].to_pylist())
    assert result.weakest(5)["score"].to_pylist() == scores[:5]
    assert len(result.weakest(10**6)) == len(scores)
    assert len(nd.dedup(["alone"]).weakest()) == 0


def test_kept_comes_back_in_the_type_that_came_in() -> None:
    import pandas as pd
    import polars as pl

    docs = documents(5)
    kept = nd.dedup(docs).kept
    assert all(any(item is doc for doc in docs) for item in kept)
    names = [item["id"] for item in kept]
    for frame in (pd.DataFrame(docs), pl.DataFrame(docs), pa.Table.from_pylist(docs)):
        again = nd.dedup(frame).kept
        assert type(again) is type(frame)
        assert (
            list(again["id"].to_pylist() if isinstance(again, pa.Table) else again["id"]) == names
        )
    texts = [doc["text"] for doc in docs]
    assert nd.dedup(texts).kept == [item["text"] for item in kept]


def test_a_new_threshold_names_the_same_document_as_a_new_run() -> None:
    """Two matches closer than 32-bit scores can tell apart."""
    words = [f"w{i}" for i in range(8192)]
    texts = [words[1:], [*words, "more"], words]
    options: dict[str, Any] = {"words": 1, "keys": "prefix"}
    docs = [" ".join(text) for text in texts]
    fresh = nd.find(docs, method="shingles", threshold=0.999876, set=options)
    again = nd.find(docs, method="shingles", threshold=0.5, set=options).rethreshold(0.999876)
    assert fresh.duplicates["kept_id"].to_pylist() == ["input:2"]
    assert again.decisions.equals(fresh.decisions)
    for part in ("counts", "settings"):
        assert again.info[part] == fresh.info[part]


def test_repr_says_what_happened() -> None:
    text = repr(nd.dedup(["a b", "a b", "c"], method="shingles", threshold=0.75))
    assert text == ("<Result of shingles ≥ 0.75: 3 documents = 2 kept + 1 duplicate + 0 rejected>")


def test_loaded_results_do_not_know_documents_in_memory(tmp_path: Any) -> None:
    from neardup.errors import DataError

    loaded = Result.load(nd.dedup(["a b", "a b"]).save(tmp_path))
    with pytest.raises(DataError, match="in memory"):
        _ = loaded.kept


def test_a_method_without_a_threshold_says_so() -> None:
    result = nd.dedup(["one two three " * 9, "one two three " * 9], method="simhash")
    with pytest.raises(SettingsError, match="simhash has no threshold to change"):
        result.rethreshold(0.99)
