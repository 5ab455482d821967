"""All measures of a sweep against a walk over all pairs."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest

from evaluation.collections import grouped
from neardup import api as nd
from neardup.evaluation.evaluation import Evaluation, evaluate
from neardup.evaluation.measurement import AtCut
from neardup.evaluation.metrics import BANDS
from neardup.features.measures import resemblance
from neardup.text.words import words

SWEEP = (0.3, 0.5, 0.7, 0.9)
DOCUMENTS = grouped()


def found_at(threshold: float) -> set[frozenset[str]]:
    result = nd.find(DOCUMENTS, method="shingles", threshold=threshold, words=3, keys="prefix")
    return {frozenset((p["a"], p["b"])) for p in result.pairs.to_pylist()}


def equal(pair: frozenset[str]) -> bool:
    texts = {document["id"]: document["text"] for document in DOCUMENTS}
    one, other = (words(texts[id]) for id in pair)
    return one == other


def check(at: AtCut, truth: dict[frozenset[str], bool], *, complete: bool) -> None:
    predicted = found_at(at.cut.threshold)
    assert at.predicted == len(predicted)
    for line, use in ((at.every, lambda _: True), (at.hard, lambda pair: not equal(pair))):
        pairs = {pair for pair in predicted if use(pair)}
        positives = {pair for pair, same in truth.items() if same and use(pair)}
        known = {pair for pair in pairs if pair in truth or (complete and not equal(pair))}
        counts = line.counts
        assert counts.tp == len(pairs & positives)
        assert counts.fp == len(known - positives)
        assert counts.fn == len(positives - pairs)
        assert counts.unlabelled == len(pairs - known)
    texts = {document["id"]: document["text"] for document in DOCUMENTS}
    alike = {
        pair: resemblance(*(texts[id] for id in pair), words=3)
        for pair, same in truth.items()
        if same
    }
    for band, low, high in zip(at.bands, BANDS, (*BANDS[1:-1], 2), strict=False):
        inside = {pair for pair, value in alike.items() if low <= value < high}
        assert (band.positives, band.found) == (len(inside), len(inside & predicted))


def swept(**gold: Any) -> Evaluation:
    return evaluate(DOCUMENTS, method="shingles words=3 keys=prefix", sweep=SWEEP, **gold)


def test_groups() -> None:
    made = swept(group="group")
    truth = {
        frozenset((a["id"], b["id"])): a["group"] == b["group"]
        for a, b in combinations(DOCUMENTS, 2)
    }
    for at in made.measured[0].at:
        check(at, truth, complete=True)
        assert at.kinds[0].label == "same group"
        assert at.kinds[0].equal + at.kinds[0].near == at.every.counts.tp
        assert at.kinds[0].missed == at.every.counts.fn
        assert at.kinds[0].equal == at.every.counts.tp - at.hard.counts.tp
    assert made.about["gold"]["positives"] == 12 * 6
    assert made.about["gold"]["hard_positives"] == 12 * 5
    lowest = made.measured[0].at[0]
    assert lowest.b_cubed is not None
    assert lowest.b_cubed.every is not None
    assert lowest.b_cubed.every.recall == lowest.every.recall == 1
    assert lowest.adjusted_rand == 1


@pytest.mark.parametrize("complete", [True, False])
def test_labelled_pairs(complete: bool) -> None:
    random = Random(5)
    every = list(combinations(DOCUMENTS, 2))
    labelled = [
        pair for pair in every if pair[0]["group"] == pair[1]["group"] and random.random() < 0.6
    ]
    labelled += random.sample(every, 60)
    rows = [
        {"a": b["id"], "b": a["id"], "label": "yes" if a["group"] == b["group"] else "no"}
        for a, b in labelled
    ]
    truth = {frozenset((row["a"], row["b"])): row["label"] == "yes" for row in rows}
    made = swept(pairs=rows, complete=complete)
    for at in made.measured[0].at:
        check(at, truth, complete=complete)
        assert (at.b_cubed is None) == (not complete)


def test_intervals_hold_their_values() -> None:
    for at in swept(group="group").measured[0].at:
        for line in (at.every, at.hard):
            for name in ("precision", "recall", "f1"):
                value, interval = getattr(line, name), getattr(line, f"{name}_interval")
                if value is None:
                    assert interval is None
                else:
                    assert interval.low <= value <= interval.high


def test_clusters_may_be_components() -> None:
    rule, chained = (swept(group="group", clusters=how) for how in ("rule", "components"))
    at = [made.measured[0].at[2].b_cubed for made in (rule, chained)]
    assert at[0] is not None
    assert at[1] is not None
    assert at[0].every is not None
    assert at[1].every is not None
    assert at[1].every.recall >= at[0].every.recall


def test_the_same_bytes_again() -> None:
    one, other = swept(group="group"), swept(group="group")
    assert one.data() == other.data()
    assert one.table.equals(other.table)
    assert one.table.num_rows == len(SWEEP)
    assert np.allclose(
        one.table["f1"].to_numpy(), [at.every.f1 for at in one.measured[0].at], rtol=0
    )
