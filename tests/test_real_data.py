"""Real collections: conservation, the rule, and pairs that others computed exactly."""

from __future__ import annotations

import json
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from neardup import api as nd
from neardup.artefacts.artefact import resolved
from neardup.methods import registry
from neardup.runs.result import Result
from neardup.testing import batch, least_score
from neardup.text.words import words

# So many documents of each set, which are about ten megabytes of the large ones.
SETS = {
    "bbc_news": None,
    "bill_pairs": None,
    "clough_stevenson": None,
    "laws_de": 500,
    "lee_news": None,
    "licences": 1500,
    "manpages_versions": 1500,
    "mccormick_articles": None,
    "newsgroups20": 4000,
    "ocr_pairs": None,
    "press_de": 2500,
    "procedure_codes": 10_000,
    "rfc_lineage": 150,
    "terms_versions": 300,
}


def rows(path: Path, count: int | None = None) -> list[dict[str, Any]]:
    """Of the first lines, or of all."""
    with pa.CompressedInputStream(pa.OSFile(str(path)), "zstd") as stream:
        return [json.loads(line) for line in islice(BufferedReader(stream), count)]


def names_of(result: Result) -> set[frozenset[str]]:
    return {frozenset((pair["a"], pair["b"])) for pair in result.pairs.to_pylist()}


def test_every_set_is_named(data: Path) -> None:
    assert {path.parent.name for path in data.glob("*/docs.jsonl.zst")} <= SETS.keys()


@pytest.mark.parametrize("measure", ["resemblance", "containment"])
@pytest.mark.parametrize("name", SETS)
def test_the_rule_holds(data: Path, name: str, measure: str) -> None:
    path, limit = data / name / "docs.jsonl.zst", SETS[name]
    if measure == "containment":
        limit = min(limit or 200, 200)  # every feature is a key there
    settings: dict[str, Any] = {"method": "shingles", "threshold": 0.8, "limit": limit}
    settings["set"] = {"measure": measure}
    result = nd.find(path, **settings)
    counts = result.counts
    assert counts.documents == counts.kept + counts.duplicates + counts.rejected
    assert 0 < counts.documents <= (limit or counts.documents)
    assert counts.rejected == 0
    decisions = result.decisions.to_pylist()
    kept = {row["id"] for row in decisions if row["decision"] == "kept"}
    place = {row["id"]: i for i, row in enumerate(decisions)}
    scores = {frozenset((pair["a"], pair["b"])): pair["score"] for pair in result.pairs.to_pylist()}
    assert result.info["pairs"] == "complete"
    assert all(score >= 0.8 for score in scores.values())
    for pair in scores:
        assert not pair <= kept, "two kept documents match"
    best: dict[str, float] = {}
    for pair, score in scores.items():
        for one in pair - kept:
            (other,) = pair - {one}
            if other in kept and place[other] < place[one]:
                best[one] = max(best.get(one, 0), score)
    for row in decisions:
        if row["decision"] == "duplicate":
            assert row["kept_id"] in kept
            assert place[row["kept_id"]] < place[row["id"]]
            assert row["score"] == scores[frozenset((row["id"], row["kept_id"]))]
            assert row["score"] == best[row["id"]]
    again = nd.dedup(path, **settings, workers=1)
    assert again.decisions.equals(result.decisions)


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 0.9])
@pytest.mark.parametrize("name", ["bbc_news", "mccormick_articles"])
def test_pairs_equal_the_exact_list(data: Path, name: str, threshold: float) -> None:
    """The list was made with ``\\w+`` of the lower-cased text, documents of 12 words or more."""
    options = {"words": 3, "min_words": 12, "keys": "prefix"}
    result = nd.find(
        data / name / "docs.jsonl.zst", method="shingles", threshold=threshold, set=options
    )
    silver = rows(data / name / "silver_jaccard.jsonl.zst")
    expected = {frozenset((p["a"], p["b"])): p["jaccard3"] for p in silver}
    found = {frozenset((p["a"], p["b"])): p["score"] for p in result.pairs.to_pylist()}
    assert found.keys() == {pair for pair, score in expected.items() if score >= threshold}
    for pair, score in found.items():
        assert score == pytest.approx(expected[pair], abs=1e-3)  # a few words differ


@pytest.mark.parametrize("threshold", [0.8, 0.9])
def test_bands_find_what_the_prefix_join_finds(data: Path, threshold: float) -> None:
    """Up to 100,000 pairs of real licences; a miss in a thousand at the threshold is promised."""
    path = data / "licences" / "docs.jsonl.zst"
    exact = nd.find(path, method="shingles", threshold=threshold, set={"keys": "prefix"})
    bands = nd.find(path, method="shingles", threshold=threshold, set={"keys": "bands"})
    assert bands.info["pairs"] == "complete"
    if exact.info["pairs"] == "complete":
        assert names_of(bands) <= names_of(exact)
    assert len(names_of(exact) - names_of(bands)) <= len(exact.pairs) / 1000
    one, other = (result.decisions["kept_id"].to_pylist() for result in (exact, bands))
    assert sum(a != b for a, b in zip(one, other, strict=True)) <= len(one) / 1000


def test_press_equals_the_twin_on_our_own_words(data: Path) -> None:
    """Soft hyphens and ß make other words than ``\\w+`` sees: the truth is computed here."""
    path = data / "press_de" / "docs.jsonl.zst"
    docs = rows(path, 600)
    sets = []
    for doc in docs:
        found = words(doc["text"])
        sets.append({tuple(found[i : i + 3]) for i in range(max(len(found) - 2, 1))})
    long_enough = [len(words(doc["text"])) >= 15 for doc in docs]
    expected = {}
    for i, a in enumerate(sets):
        for j in range(i):
            smaller, larger = sorted((len(a), len(sets[j])))
            if not (long_enough[i] and long_enough[j]) or smaller * 10 < larger * 6:
                continue
            shared = len(a & sets[j])
            if shared * 10 >= (smaller + larger - shared) * 6:
                expected[frozenset((docs[i]["id"], docs[j]["id"]))] = shared / (
                    smaller + larger - shared
                )
    options = {"words": 3, "keys": "prefix"}
    result = nd.find(path, method="shingles", threshold=0.6, limit=600, set=options)
    found = {frozenset((p["a"], p["b"])): p["score"] for p in result.pairs.to_pylist()}
    assert found.keys() >= expected.keys()
    for pair, score in expected.items():
        assert found[pair] == pytest.approx(score, abs=1e-6)
    extra = found.keys() - expected.keys()  # equal short ones
    where = {doc["id"]: i for i, doc in enumerate(docs)}
    assert all(not long_enough[where[one]] for pair in extra for one in pair)


@pytest.mark.parametrize("name", ["fingerprint", "imatch", "termvector"])
def test_keys_of_terms_bring_together_all_that_pass(data: Path, name: str) -> None:
    """Every pair of articles of one house is scored, with dates where the method reads them."""
    docs = rows(data / "press_de" / "docs.jsonl.zst")
    docs = [doc for doc in docs if doc["source"] in ("faznet", "FAZ_Politik")]
    settings = {"date": "date"} if name == "termvector" else {}
    method = registry.build(name, dict(settings))
    given = batch([doc["text"] for doc in docs])
    for column in method.columns:
        given = given.append_column(column, pa.array([doc[column] for doc in docs]))
    evidence = method.prepare(given, resolved(method.needs, given)).evidence
    a, b = (side.astype(np.int64) for side in np.triu_indices(len(docs), 1))
    scores = method.score(evidence, a, b)
    expected = {
        frozenset((docs[i]["id"], docs[j]["id"])): score
        for i, j, score in zip(
            a[scores.passed], b[scores.passed], scores.score[scores.passed], strict=True
        )
    }
    result = nd.find(docs, method=method, id="id")
    found = {frozenset((p["a"], p["b"])): p["score"] for p in result.pairs.to_pylist()}
    assert found == expected
    assert len(found) > 20
    one = nd.dedup(docs, method=method, id="id", workers=1).decisions
    assert one.equals(result.decisions)


def test_known_copies_are_found(data: Path) -> None:
    pairs = rows(data / "mccormick_articles" / "pairs.jsonl.zst")
    result = nd.find(data / "mccormick_articles" / "docs.jsonl.zst", method="shingles")
    assert names_of(result) == {frozenset((p["a"], p["b"])) for p in pairs}


@pytest.mark.parametrize("name", ["press_de", "licences", "manpages_versions"])
def test_a_new_dump_against_an_old_run_is_decided_as_both_together(
    data: Path, tmp_path: Path, name: str
) -> None:
    lines = [json.dumps(row) for row in rows(data / name / "docs.jsonl.zst", 4000)]
    cut = 2 * len(lines) // 3
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    old.write_text("\n".join(lines[:cut]) + "\n", "utf-8")
    new.write_text("\n".join(lines[cut:]) + "\n", "utf-8")
    full = nd.dedup([old, new], method="shingles").decisions.slice(cut).to_pylist()
    run = nd.dedup(old, method="shingles", signatures=True).save(tmp_path / "run")
    old.unlink()
    part = nd.dedup(new, method="shingles", against=run).decisions.to_pylist()
    assert any(row["ref"] for row in part)
    for one, other in zip(part, full, strict=True):
        kept_id = one["kept_id"].removeprefix("ref:") if one["kept_id"] else None
        assert (one["id"], one["decision"], kept_id) == (
            other["id"],
            other["decision"],
            other["kept_id"],
        )
        assert (one["score"], one["kind"]) == (other["score"], other["kind"])


@pytest.mark.parametrize("name", ["press_de", "procedure_codes"])
@pytest.mark.parametrize("method", registry.names())
def test_every_method_decides_every_document(data: Path, name: str, method: str) -> None:
    """`neardup dedup` of the whole sets is written down in docs/performance.md."""
    result = nd.dedup(rows(data / name / "docs.jsonl.zst", 500), method=method)
    counts = result.counts
    assert counts.documents == 500 == counts.kept + counts.duplicates
    scores = result.duplicates["score"].to_numpy()
    least = least_score(registry.build(method), result)
    assert ((scores >= least) & (scores <= 1)).all()
