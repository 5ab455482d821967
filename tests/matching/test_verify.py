"""Scores do not depend on blocks, threads or the order of pairs."""

from __future__ import annotations

from contextlib import closing
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.matching import evidence
from neardup.matching.evidence import EvidenceStore, Pairs, Verifier
from neardup.methods.base import Scores
from neardup.methods.shingles import Shingles
from neardup.schema import Ragged, offsets_of
from reference import shingles as twin

SETS = st.lists(
    st.lists(st.integers(0, 30), unique=True, min_size=1, max_size=20).map(sorted),
    min_size=1,
    max_size=12,
)


@given(SETS, st.sampled_from([1, 100, 1 << 20]), st.sampled_from([1, 3]), st.data())
def test_blocks_and_threads_change_nothing(
    sets: list[list[int]], block: int, workers: int, data: st.DataObject
) -> None:
    measure = data.draw(st.sampled_from(["resemblance", "containment"]))
    limit = data.draw(st.sampled_from([0, 10**6]))
    index = st.integers(0, len(sets) - 1)
    pairs = data.draw(st.lists(st.tuples(index, index), max_size=30))
    a, b = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    values = np.array([v for one in sets for v in one], np.uint32)
    with (
        closing(EvidenceStore(np.uint32, limit=limit)) as store,
        pytest.MonkeyPatch.context() as patch,
    ):
        store.append(Ragged(values, offsets_of(np.array([len(one) for one in sets]))))
        patch.setattr(evidence, "BLOCK_BYTES", block)
        verifier = Verifier(Shingles(threshold=0.5, measure=measure).score, store, workers=workers)
        made = verifier.scores(a, b)
    expected = [twin.MEASURES[measure](set(sets[i]), set(sets[j])) for i, j in pairs]
    assert made.score.tolist() == [float(score) for score in expected]
    assert made.passed.tolist() == [score * 2 >= 1 for score in expected]
    assert verifier.scored == len(pairs)


def test_progress_counts_every_pair() -> None:
    class Equal:
        name: ClassVar[str] = "equal"

        def score(self, evidence: Ragged, a: Any, b: Any) -> Scores:  # noqa: ARG002
            return Scores(a == b, (a == b).astype(float))

    store = EvidenceStore(np.uint32, limit=10**6)
    store.append(Ragged(np.arange(10, dtype=np.uint32), np.arange(11)))
    seen: list[int] = []
    Verifier(Equal().score, store, progress=seen.append).scores(np.arange(10), np.arange(10))
    assert sum(seen) == 10


PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda p: p[0] != p[1]))


@given(PAIRS)
def test_distinct_pairs(pairs: list[tuple[int, int]]) -> None:
    a, b = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    score = np.minimum(a, b) * 10.0 + np.maximum(a, b)
    made = Pairs(a, b, score).distinct()
    expected = sorted({(min(p), max(p)) for p in pairs})
    assert list(zip(made.a.tolist(), made.b.tolist(), strict=True)) == expected
    assert made.score.tolist() == [i * 10.0 + j for i, j in expected]
