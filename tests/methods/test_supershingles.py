"""``supershingles``: whole runs against all pairs, the papers' numbers, keys, format."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup import api as nd
from neardup.errors import SettingsError
from neardup.methods import minhash, registry
from neardup.methods.supershingles import Supershingles
from neardup.testing import batch
from neardup.text.words import buffers, words
from reference import minhash as minhash_twin
from reference import rule
from reference import run as run_twin
from reference import shingles as shingles_twin
from reference import sketches as twin
from repeats import examples

METHODS = [
    Supershingles(),
    Supershingles(words=2, size=4, min_words=1),  # 21 groups: single ones are keys
    Supershingles(words=1, size=12, family="classic"),
    Supershingles(words=2, size=14, threshold=0.5),  # 3 of 6
    Supershingles(words=2, size=14, threshold=0.1),  # 1 of 6
    Supershingles(words=2, permutations=20, size=10, threshold=1),  # 2 of 2
    Supershingles(variant="broder", words=2, size=4),
    Supershingles(variant="broder", words=1, permutations=20, size=3, threshold=0.3, min_words=0),
    Supershingles(variant="broder", words=2, permutations=16, size=16, family="classic"),
]


def supershingles(method: Supershingles, text: str) -> list[tuple[int, ...]]:
    found = _native.hash_words(*buffers(words(text))).tolist()
    hashes = shingles_twin.shingle_hashes(found, method.words)
    a, b = (values.tolist() for values in minhash.family(method.family, method.permutations))
    minima = twin.classic(hashes, a, b) if b else minhash_twin.minima(hashes, a)
    cut = twin.groups if method.variant == "henzinger" else twin.windows
    return cut(minima[: method.permutations], method.size)


def score(method: Supershingles, one: str, other: str) -> Fraction | None:
    """None below the threshold."""
    if min(len(words(one)), len(words(other))) < max(method.min_words, 1):
        same = words(one) == words(other) and (words(one) or one.split() == other.split())
        return Fraction(1) if same else None
    equal = twin.common(supershingles(method, one), supershingles(method, other))
    found = Fraction(equal, method.count)
    return found if found >= method.fraction else None


@pytest.mark.parametrize("method", METHODS, ids=repr)
@given(st.integers(0, 2**32), st.integers(0, 20))
@examples(5)
def test_a_run_is_the_rule_over_all_pairs(method: Supershingles, seed: int, count: int) -> None:
    documents = run_twin.collection(np.random.default_rng(seed), count)
    texts = [document["text"] for document in documents]
    pairs = {
        (i, j): found
        for i, j in combinations(range(count), 2)
        if (found := score(method, texts[i], texts[j])) is not None
    }
    decided = rule.decide(range(count), rule.from_scores(pairs))
    result = nd.find(documents, method=method)
    listed = {(p["a"], p["b"]): p["score"] for p in result.pairs.to_pylist()}
    assert listed == {(f"d{i}", f"d{j}"): float(found) for (i, j), found in pairs.items()}
    for i, row in enumerate(result.decisions.to_pylist()):
        best = decided[i]
        assert row["kept_id"] == (None if best is None else f"d{best[0]}")


def test_the_numbers_of_the_papers() -> None:
    """84 minima, 6 groups of 14, 2 equal; one window in common."""
    henzinger, broder = Supershingles(), Supershingles(variant="broder")
    assert (henzinger.count, henzinger.needed, henzinger.threshold) == (6, 2, 0.333333)
    assert (broder.count, broder.needed) == (71, 1)
    assert henzinger.reason == "2 of 6 supershingles equal"
    assert registry.build("supershingles", {"threshold": 0.5}).resolved()["needed"] == 3


def test_the_order_of_a_group_counts_and_that_of_a_sketch_does_not() -> None:
    minima = np.arange(84, dtype=np.uint32)[None, ::-1] * np.uint32(1000)
    turned = minima[:, ::-1].copy()
    henzinger, broder = Supershingles(), Supershingles(variant="broder")
    assert not np.isin(henzinger.supershingles(minima), henzinger.supershingles(turned)).any()
    assert np.array_equal(broder.supershingles(minima), broder.supershingles(turned))
    # the same fourteen values in another group are another supershingle
    rolled = henzinger.supershingles(np.roll(minima, 14, axis=1))
    assert not np.isin(henzinger.supershingles(minima), rolled).any()


@pytest.mark.parametrize(
    ("equal", "met"), [((), False), ((2,), False), ((0, 5), True), ((1, 3, 4), True)]
)
def test_pairs_of_groups_meet_only_where_two_are_equal(equal: tuple[int, ...], met: bool) -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2**63, (2, 6), np.int64).astype(np.uint64)
    rows[1, list(equal)] = rows[0, list(equal)]
    keys = Supershingles()._keys(rows)
    assert keys.shape == (2, 15)
    assert bool(np.isin(keys[0], keys[1]).any()) == met


def test_the_chance_to_meet_is_that_of_the_formula() -> None:
    """A group agrees with probability r¹⁴; two of six by the binomial."""
    r, size, pairs = 19 / 21, 40, 2000
    shared = round(2 * size * r / (1 + r))
    rng = np.random.default_rng(8)
    family, method = minhash.family("fast", 84)[0], Supershingles()
    rows = np.empty((2, pairs, 84), np.uint32)
    for i in range(pairs):
        features = rng.integers(0, 2**64, 2 * size - shared, np.uint64)
        rows[0, i] = _native.minhash(features[:size], family)[:84]
        rows[1, i] = _native.minhash(features[size - shared :], family)[:84]
    equal = method.supershingles(rows[0]) == method.supershingles(rows[1])
    p = (shared / (2 * size - shared)) ** 14
    expected = 1 - (1 - p) ** 6 - 6 * p * (1 - p) ** 5
    sigma = (expected * (1 - expected) / pairs) ** 0.5
    assert abs((equal.sum(axis=1) >= 2).mean() - expected) < 4 * sigma


def test_an_excerpt_is_not_found() -> None:
    text = [f"w{i}" for i in range(400)]
    whole, half = " ".join(text), " ".join(text[:200])
    for variant in ("henzinger", "broder"):
        result = nd.dedup([whole, half, whole + " end"], method=Supershingles(variant=variant))
        assert result.decisions["decision"].to_pylist() == ["kept", "kept", "duplicate"]


def test_a_higher_threshold_from_the_same_run() -> None:
    texts = [" ".join(f"w{i}" for i in range(k, 300)) for k in (0, 1, 3, 6)]
    result = nd.find(texts, method="supershingles")
    assert result.counts.duplicates > 0
    for threshold in (0.5, 0.8, 1.0):
        again = nd.find(texts, method=Supershingles(threshold=threshold))
        assert result.rethreshold(threshold).decisions.equals(again.decisions)


@pytest.mark.parametrize(
    "wrong",
    [
        {"variant": "manku"},
        {"size": 13},
        {"size": 84},
        {"size": 0},
        {"variant": "broder", "size": 85},
        {"permutations": 4},
        {"words": 0},
        {"family": "affine"},
        {"min_words": -1},
        {"threshold": 2},
    ],
)
def test_wrong_parameters_are_explained(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="Hint: "):
        Supershingles(**wrong)


# A change of any number below is a change of the format: see tests/methods/test_shingles.py.
GOLDEN_TEXT = " ".join(f"word{i}" for i in range(200))
GOLDEN = {
    "henzinger evidence": [1420852397504072252, 3629523275539235520],
    "henzinger keys": [9414962381565295318, 18274774164967559401],
    "henzinger digests": [8027697723502427024, 17139947919760142585],
    "broder evidence": [156165407026693291, 190098908653508404],
    "broder keys": [5278573605320385525, 18201345571139100438],
    "broder digests": [14450222000511874325, 14656441831072954865],
}


def golden() -> dict[str, list[int]]:
    made: dict[str, list[int]] = {}
    for variant in ("henzinger", "broder"):
        one = Supershingles(variant=variant).prepare(batch([GOLDEN_TEXT]))
        made[f"{variant} evidence"] = one.evidence[0][:2].tolist()
        made[f"{variant} keys"] = one.keys[0][:2].tolist()
        made[f"{variant} digests"] = one.digests[0].tolist()
    return made


def test_golden_vectors() -> None:
    assert golden() == GOLDEN
