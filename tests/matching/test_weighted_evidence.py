"""Evidence in two parts is read back as it was weighed, from memory and from its files alike."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from neardup import _native
from neardup.matching import weighted_evidence
from neardup.matching.weighted_evidence import WeightedEvidenceStore
from neardup.schema import Ragged, offsets_of

LEAST_WEIGHT, LARGEST_WEIGHT = 6, (1 << 16) + 3  # beside 1, that of short documents


def profiles(count: int, seed: int) -> list[tuple[list[int], list[int]]]:
    """Features with their heads, and the same weighed; every third is a short document."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(count):
        features = [0, *rng.integers(0, 1 << 32, rng.integers(0, 9)).tolist(), (1 << 32) - 1]
        if i % 3:
            weights = rng.integers(LEAST_WEIGHT, LARGEST_WEIGHT + 1, len(features)).tolist()
            weighed = [f << 32 | w for f, w in zip(features, weights, strict=True)]
            rows.append(([len(features), 0, *features], [len(features), 0, *weighed]))
        else:
            rows.append((features, [feature << 32 | 1 for feature in features]))
    return rows


def ragged(rows: list[list[int]], dtype: type) -> Ragged:
    values = [value for row in rows for value in row]
    return Ragged(np.array(values, dtype), offsets_of(np.array([len(row) for row in rows])))


@pytest.mark.parametrize(("limit", "in_memory"), [(0, False), (4_000, False), (1 << 20, True)])
@pytest.mark.parametrize("workers", [1, 2])
def test_it_gives_back_what_was_weighed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: int, in_memory: bool, workers: int
) -> None:
    monkeypatch.setattr(weighted_evidence, "BLOCK", 64)
    rows = profiles(100, seed=limit)
    weighed = [row for _, row in rows]
    with closing(WeightedEvidenceStore(limit=limit, folder=tmp_path)) as store:
        for first in range(0, 100, 9):
            store.append(ragged([row for row, _ in rows[first : first + 9]], np.uint32))

        def weigh(first: int, features: Ragged) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
            return ragged(weighed[first : first + len(features)], np.uint64).values

        ends = list(store.rewrite(weigh, workers))
        assert [0, *(last for _, last in ends)] == [*(first for first, _ in ends), 100]
        chosen = np.array([0, 3, 4, 50, 51, 99])
        taken = store.take(chosen)
        assert taken.values.dtype == store.dtype == np.uint64
        assert [taken[i].tolist() for i in range(6)] == [weighed[i] for i in chosen.tolist()]
        size = 6 * sum(map(len, weighed))
        assert store.size == size == (store.held if in_memory else store.held + store.spooled)
        assert in_memory == (store.spooled == 0)
        assert store.whole is None


@pytest.mark.parametrize("weight", [2, 5, LARGEST_WEIGHT + 1])
def test_a_weight_that_does_not_fit_is_noticed(weight: int) -> None:
    features = np.array([7], np.uint32)
    values = np.array([7 << 32 | weight], np.uint64)
    assert not _native.divide(values, features, np.empty(1, np.uint16))
