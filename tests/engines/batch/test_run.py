"""Whole runs against all pairs in exact fractions, and against themselves run another way.

``keys="prefix"`` promises completeness, so there everything must be equal; bands may miss, but must
never invent.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import api as nd
from neardup import plan
from neardup.decisions import rule
from neardup.decisions.kinds import kind_of
from neardup.documents import Collection
from neardup.documents.lists import ListSource
from neardup.matching import candidates, evidence, key_store, rare
from neardup.runs.result import Result
from reference import run as twin
from repeats import examples

POLICIES = ["first", "last", "longest", "shortest", "newest", "oldest"]
POLICIES += ["n:asc", "n:desc", "source:b,a"]
THRESHOLDS = [Fraction(t, 20) for t in (6, 8, 10, 12, 14, 15, 16, 18, 20)]

SETTINGS = st.builds(
    twin.Settings,
    words=st.integers(1, 6),
    threshold=st.sampled_from(THRESHOLDS),
    measure=st.sampled_from(["resemblance", "containment"]),
    min_words=st.sampled_from([0, 1, 5, 15]),
    keep=st.sampled_from(POLICIES),
    within=st.sampled_from([None, None, "source"]),
)


def native(wanted: twin.Settings, *, keys: str = "prefix") -> dict[str, Any]:
    return {
        "method": "shingles",
        "threshold": float(wanted.threshold),
        "set": {
            "words": wanted.words,
            "measure": wanted.measure,
            "min_words": wanted.min_words,
            "keys": keys,
        },
        "keep": wanted.keep,
        "within": wanted.within,
        "date": "date",
    }


def chunked(documents: list[twin.Document], rows: int) -> Collection:
    return Collection([ListSource(documents, chunk_rows=rows)])


@contextmanager
def everything_hot(budget: int = 0, slots: int = 1 << 22) -> Iterator[None]:
    """Groups are hot at once, blocks are tiny, keys and evidence are on disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "USUAL_PAIRS", 0)
        patch.setattr(plan, "FEWEST_PAIRS", budget)
        patch.setattr(rule, "FIRST_BLOCK", 2)
        patch.setattr(rule, "LAST_BLOCK", 5)
        patch.setattr(rare, "MOST_COUNT_SLOTS", slots)
        patch.setattr(rare, "FEWEST_COUNT_SLOTS", 1)
        patch.setattr(rare, "BLOCK_FEATURES", 50)
        patch.setattr(rare, "PART_KEYS", 40)
        patch.setattr(evidence, "BLOCK_BYTES", 300)
        patch.setattr(key_store, "BLOCK_KEYS", 60)
        patch.setattr(key_store, "PART_KEYS", 40)
        patch.setattr(candidates, "BLOCK_PAIRS", 3)
        patch.setattr(plan.Plan, "evidence_limit", property(lambda _: 100))
        patch.setattr(plan.Plan, "spare", lambda _, documents: 100 - documents)
        yield


def decisions(result: Result) -> list[tuple[Any, ...]]:
    columns = ["id", "decision", "kept_id", "score", "kind", "reason", "cluster"]
    return [tuple(row.values()) for row in result.decisions.select(columns).to_pylist()]


def check_decisions(result: Result, documents: list[twin.Document], expected: twin.Run) -> None:
    rows = result.decisions.to_pylist()
    assert [row["id"] for row in rows] == [d["id"] for d in documents]
    for i, row in enumerate(rows):
        best = expected.decided[i]
        assert (row["decision"] == "kept") == (best is None), row
        if best is None:
            assert row["kept_id"] is row["score"] is row["kind"] is None
            assert row["direction"] is row["confidence"] is None
            continue
        assert row["kept_id"] == documents[best[0]]["id"], row
        assert row["score"] == float(best[1])
        said = tuple(row[name] for name in ("kind", "direction", "confidence"))
        assert said == kind_of(documents[i]["text"], documents[best[0]]["text"])


def pair_scores(result: Result) -> dict[tuple[str, str], float]:
    return {(p["a"], p["b"]): p["score"] for p in result.pairs.to_pylist()}


@given(st.integers(0, 2**32), st.integers(0, 40), SETTINGS)
@examples(40)
def test_a_run_equals_all_pairs(seed: int, count: int, wanted: twin.Settings) -> None:
    documents = twin.collection(np.random.default_rng(seed), count)
    expected = twin.Run(documents, wanted)
    result = nd.find(documents or [], workers=1, **native(wanted))
    check_decisions(result, documents, expected)
    assert pair_scores(result) == {
        (documents[i]["id"], documents[j]["id"]): float(score)
        for (i, j), score in expected.pairs.items()
    }
    assert result.info["pairs"] == "complete"
    assert decisions(nd.dedup(documents, workers=1, **native(wanted))) == decisions(result)


@given(
    st.integers(0, 2**32),
    st.integers(2, 60),
    SETTINGS,
    st.sampled_from([0, 10]),
    st.sampled_from([4, 1 << 22]),
)
@examples(40)
def test_hot_groups_change_nothing(
    seed: int, count: int, wanted: twin.Settings, budget: int, slots: int
) -> None:
    documents = twin.collection(np.random.default_rng(seed), count)
    expected = twin.Run(documents, wanted)
    with everything_hot(budget, slots):
        result = nd.dedup(documents, workers=1, max_pairs=7, **native(wanted))
    check_decisions(result, documents, expected)
    ids = {document["id"]: i for i, document in enumerate(documents)}
    for (a, b), score in pair_scores(result).items():
        assert score == float(expected.pairs[ids[a], ids[b]])


@given(st.integers(0, 2**32), SETTINGS, st.sampled_from([1, 3, 1000]), st.sampled_from([1, 2]))
@examples(25)
def test_chunks_threads_and_limits_change_nothing(
    seed: int, wanted: twin.Settings, rows: int, workers: int
) -> None:
    documents = twin.collection(np.random.default_rng(seed), 30)
    written = native(wanted, keys="auto")
    first = nd.dedup(documents, workers=1, **written)
    other = nd.dedup(chunked(documents, rows), workers=workers, **written)
    assert other.decisions.equals(first.decisions)
    assert other.pairs.equals(first.pairs)
    few = nd.dedup(chunked(documents, rows), workers=workers, max_pairs=1, **written)
    assert few.decisions.equals(first.decisions)


@given(st.integers(0, 2**32), SETTINGS, st.booleans())
@examples(30)
def test_bands_never_invent_a_pair(seed: int, wanted: twin.Settings, hot_ones: bool) -> None:
    documents = twin.collection(np.random.default_rng(seed), 40)
    wanted = dataclasses.replace(
        wanted, threshold=max(wanted.threshold, Fraction(7, 10)), measure="resemblance"
    )
    expected = twin.Run(documents, wanted)
    if hot_ones:
        with everything_hot():
            result = nd.find(documents, workers=1, **native(wanted, keys="bands"))
    else:
        result = nd.find(documents, workers=1, **native(wanted, keys="bands"))
    assert result.info["settings"]["resolved"]["scheme"] == "bands"
    truth = {
        (documents[i]["id"], documents[j]["id"]): float(score)
        for (i, j), score in expected.pairs.items()
    }
    found = pair_scores(result)
    assert found.items() <= truth.items()
    equal = {pair for pair, score in truth.items() if score == 1}
    if not hot_ones:
        assert equal <= found.keys()
    for row in result.duplicates.to_pylist():
        a, b = sorted((row["id"], row["kept_id"]), key=lambda name: int(name[1:]))
        assert truth[a, b] == row["score"]


def test_bands_miss_next_to_nothing() -> None:
    """Over many pairs at and above the threshold: the promised miss rate, with room for chance."""
    truth, found = 0, 0
    wanted = twin.Settings(words=3, threshold=Fraction(7, 10), min_words=5)
    for seed in range(40):
        documents = twin.collection(np.random.default_rng(seed), 40)
        truth += len(twin.Run(documents, wanted).pairs)
        found += len(nd.find(documents, workers=1, **native(wanted, keys="bands")).pairs)
    assert truth > 1500
    assert truth - found <= 5


@pytest.mark.parametrize("keys", ["bands", "prefix"])
@pytest.mark.parametrize("measure", ["resemblance", "containment"])
def test_a_pair_exactly_at_the_threshold_passes(keys: str, measure: str) -> None:
    if keys == "bands" and measure == "containment":
        keys = "auto"
    shared = [f"w{i}" for i in range(80)]
    one, other = " ".join(shared + ["x"] * 0), " ".join(shared + [f"y{i}" for i in range(20)])
    if measure == "containment":
        one = " ".join(shared + [f"z{i}" for i in range(20)])
    options = {"words": 1, "measure": measure, "keys": keys}
    result = nd.dedup([one, other], method="shingles", threshold=0.8, set=options)
    assert result.counts.duplicates == 1
    assert result.duplicates["score"].to_pylist() == [0.8]
    above = nd.dedup([one, other], method="shingles", threshold=0.800001, set=options)
    assert above.counts.duplicates == 0


def test_the_known_family() -> None:
    """No chaining: B matches A and C, A and C do not match; B goes, C stays."""
    a = [f"w{i}" for i in range(100)]
    b = a[:90] + [f"x{i}" for i in range(10)]
    c = b[10:] + [f"y{i}" for i in range(10)]
    texts = [" ".join(t) for t in (a, b, c)]
    for keys in ("bands", "prefix"):
        how: dict[str, Any] = {"method": "shingles", "threshold": 0.8}
        how["set"] = {"words": 1, "keys": keys}
        result = nd.dedup(texts, **how)
        assert result.decisions["decision"].to_pylist() == ["kept", "duplicate", "kept"]
        assert result.decisions["kept_id"].to_pylist() == [None, "input:1", None]
        both = nd.find(texts, clusters="components", **how)
        assert both.clusters["size"].to_pylist() == [3]
        assert both.clusters["kept_id"].to_pylist() == ["input:1"]


@given(st.integers(0, 2**32), SETTINGS)
@examples(30)
def test_components_are_the_transitive_closure(seed: int, wanted: twin.Settings) -> None:
    from reference.rule import components

    documents = twin.collection(np.random.default_rng(seed), 30)
    expected = components(len(documents), list(twin.Run(documents, wanted).pairs))
    for run_it in (nd.dedup, nd.find):
        result = run_it(documents, workers=1, clusters="components", **native(wanted))
        members = [[int(m[1:]) for m in row] for row in result.clusters["members"].to_pylist()]
        assert members == [sorted(part) for part in expected]
        assert result.clusters["size"].to_pylist() == [len(part) for part in expected]


def test_twenty_thousand_copies_and_as_many_variants_stay_linear() -> None:
    """One hot group of near-variants: each is compared with the few that are kept."""
    rng = np.random.default_rng(6)
    base = [f"w{i}" for i in range(120)]
    copies = [" ".join(base)] * 20_000
    variants = []
    for i in range(20_000):
        text = list(base)
        for place in rng.integers(0, 120, 2):
            text[place] = f"v{i}x{place}"
        variants.append(" ".join(text))
    texts = copies + variants
    result = nd.dedup(pa.table({"text": texts}), method="shingles", threshold=0.8)
    assert result.counts.kept == 1
    assert result.info["candidates"] <= 12 * len(texts)  # at most 16 a distinct text, and the walk


def test_a_template_does_not_cost_its_square() -> None:
    """5,000 documents share 70 % of their words and yet are pairwise below the threshold."""
    rng = np.random.default_rng(7)
    template = [f"t{i}" for i in range(140)]
    texts = [" ".join(template + [f"d{i}w{j}" for j in rng.permutation(60)]) for i in range(5000)]
    result = nd.dedup(pa.table({"text": texts}), method="shingles", threshold=0.8, set={"words": 1})
    assert result.counts.duplicates == 0
    assert result.info["candidates"] <= 40 * len(texts)  # of 12.5 M pairs


def test_pairs_of_a_template_are_still_found() -> None:
    """Every tenth document has a near-copy, and all share the template."""
    template = [f"t{i}" for i in range(140)]
    own = [[f"d{i}w{j}" for j in range(60)] for i in range(3000)]
    for i in range(0, 3000, 10):
        own[i + 5] = own[i][:50] + own[i + 5][:10]
    texts = [" ".join(template + words) for words in own]
    result = nd.dedup(
        pa.table({"text": texts}),
        method="shingles",
        threshold=0.8,
        set={"words": 1, "keys": "prefix"},
    )
    expected = {f"input:{i + 6}": f"input:{i + 1}" for i in range(0, 3000, 10)}
    aside = result.duplicates.select(["id", "kept_id"]).to_pylist()
    assert {row["id"]: row["kept_id"] for row in aside} == expected
    assert result.info["candidates"] <= 60 * len(texts)


def test_short_documents_never_meet_long_ones_by_accident() -> None:
    """What stands for a short document is four numbers of 32 bits, and long ones have many such.

    200,000 of them against 300,000 features: about 14 pairs agree in one by chance, a quarter of
    the short document. Nothing here has a word in common with anything.
    """
    long = [" ".join(f"l{i}w{j}" for j in range(100)) for i in range(3000)]
    short = [f"s{i}" for i in range(50_000)]
    options = {"measure": "containment", "words": 1}
    result = nd.dedup(
        pa.table({"text": long + short}), method="shingles", threshold=0.25, set=options
    )
    assert result.counts.duplicates == 0


@given(st.integers(0, 2**32), SETTINGS)
@examples(40)
def test_hot_bands_decide_as_cool_ones(seed: int, wanted: twin.Settings) -> None:
    """Re-keyed groups lose no pair. They may find one that bands missed, once in thousands."""
    documents = twin.collection(np.random.default_rng(seed), 50)
    wanted = dataclasses.replace(
        wanted, threshold=max(wanted.threshold, Fraction(1, 2)), measure="resemblance"
    )
    cool = nd.dedup(documents, workers=1, **native(wanted, keys="bands"))
    with everything_hot():
        hot = nd.dedup(documents, workers=1, **native(wanted, keys="bands"))
    assert decisions(hot) == decisions(cool)
