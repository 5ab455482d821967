"""Judged samples stand for the whole run: exact where all is judged, unbiased where it is not."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from labels.test_sampling import collection
from neardup.labels.judged_samples import JudgedPair, curve, found_by, judged_of, kind_table
from neardup.labels.label_store import Label, Pair
from neardup.labels.sampling import draw


def same(pair: Pair) -> bool:
    return not any(one.endswith("v2") for one in pair)


def settled_of(pairs: list[Pair]) -> dict[Pair, Label]:
    return {pair: Label(*pair, "duplicate" if same(pair) else "not", "ann") for pair in pairs}


@pytest.fixture(scope="module")
def run() -> nd.Result:
    return nd.find(collection(), method="shingles", threshold=0.5)


def all_pairs(run: nd.Result) -> list[Pair]:
    return [Pair.of(a, b) for a, b in zip(*(run.pairs[s].to_pylist() for s in "ab"), strict=True)]


def test_where_every_pair_is_judged_the_curve_is_exact(run: nd.Result) -> None:
    pairs = all_pairs(run)
    key = draw({"run": run}, len(pairs)).key
    found = found_by(run, pairs)
    judged = judged_of([key], "run", settled_of(pairs), found)
    assert len(judged) == len(pairs) == len(found)
    assert all(one.weight == 1 for one in judged)
    every = sum(map(same, pairs))
    for at in curve(judged, run.pairs["score"].to_numpy(), run.threshold):
        above = [pair for pair in pairs if found[pair].score >= at.threshold]
        right = sum(map(same, above))
        assert (at.pairs, at.judged) == (len(above), len(above))
        assert at.precision == pytest.approx(right / len(above))
        assert at.recall == pytest.approx(right / every)
        assert at.precision_interval is not None
        low, high = at.precision_interval
        assert low <= at.precision + 1e-12
        assert at.precision <= high + 1e-12


def test_weights_of_a_sample_add_up_to_the_run(run: nd.Result) -> None:
    pairs = all_pairs(run)
    key = draw({"run": run}, 12, strata=3, seed=2).key
    settled = settled_of(pairs)
    judged = judged_of([key], "run", settled, found_by(run, pairs))
    assert sum(one.weight for one in judged) == pytest.approx(len(pairs))
    undecided = {pair: Label(*pair, "undecided", "ann") for pair in pairs}
    assert judged_of([key], "run", undecided, found_by(run, pairs)) == []
    assert judged_of([key], "other", settled, found_by(run, pairs)) == []


def test_two_samples_are_unbiased_over_all_that_could_be_drawn(run: nd.Result) -> None:
    """A pair's weight is one over the chance that either sample has it."""
    pairs = all_pairs(run)
    settled, found = settled_of(pairs), found_by(run, pairs)
    keys = [draw({"run": run}, 30, strata=2, seed=seed).key for seed in range(12)]
    totals = [
        sum(one.weight for one in judged_of([a, b], "run", settled, found) if one.duplicate)
        for a, b in product(keys, keys)
        if a is not b
    ]
    assert np.mean(totals) == pytest.approx(sum(map(same, pairs)), rel=0.05)


@given(
    st.lists(
        st.builds(JudgedPair, st.floats(0.5, 1, width=32), st.booleans(), st.floats(1, 50)),
        max_size=20,
    )
)
def test_shares_stay_shares(judged: list[JudgedPair]) -> None:
    scores = np.array([one.score for one in judged], np.float32)
    for at in curve(judged, scores, 0.5):
        for share in (at.precision, at.recall, at.f1):
            assert share is None or 0 <= share <= 1 + 1e-9
        assert at.pairs >= at.judged - sum(abs(s - at.threshold) < 1e-3 for s in scores)


def test_kinds_are_counted_where_both_said_one(run: nd.Result) -> None:
    pairs = all_pairs(run)[:3]
    found = found_by(run, pairs)
    settled = {
        pairs[0]: Label(*pairs[0], "duplicate", "ann", kind="revision"),
        pairs[1]: Label(*pairs[1], "not", "ann", kind="revision"),
        pairs[2]: Label(*pairs[2], "duplicate", "ann"),
    }
    kind = found[pairs[0]].kind
    assert kind_table(settled, found) == ({"revision": {kind: 1}} if kind else {})
