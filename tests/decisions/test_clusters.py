from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.decisions.clusters import average_clusters, components
from neardup.decisions.kinds import by_digests
from neardup.decisions.rule import rule_clusters
from neardup.matching.evidence import Pairs
from reference import rule as twin


@given(st.integers(0, 16), st.data())
def test_components_equal_twin(count: int, data: st.DataObject) -> None:
    node = st.integers(0, max(count - 1, 0))
    pairs = data.draw(st.lists(st.tuples(node, node), max_size=20)) if count else []
    a, b = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    made = components(count, a, b)
    expected = [-1] * count
    for number, part in enumerate(twin.components(count, pairs)):
        for member in part:
            expected[member] = number
    assert made.tolist() == expected


def test_a_long_chain_is_one_component() -> None:
    count = 5000
    order = np.random.default_rng(1).permutation(count)
    assert set(components(count, order[:-1], order[1:]).tolist()) == {0}


@given(st.lists(st.integers(-1, 6), min_size=7, max_size=12))
def test_clusters_of_the_rule(wished: list[int]) -> None:
    """Clusters are a kept document and its duplicates, numbered by their first member."""
    kept = [i for i, of in enumerate(wished) if of < 0]
    kept_of = [of if of in kept else -1 for of in wished]
    made = rule_clusters(np.array(kept_of, np.int64)).tolist()
    members: dict[int, list[int]] = {}
    for i, of in enumerate(kept_of):
        members.setdefault(i if of < 0 else of, []).append(i)
    several = sorted((m for m in members.values() if len(m) > 1), key=min)
    expected = [-1] * len(wished)
    for number, part in enumerate(several):
        for member in part:
            expected[member] = number
    assert made == expected


def test_kinds() -> None:
    text, normal = np.array([1, 1, 2, 3], np.uint64), np.array([9, 9, 9, 8], np.uint64)
    a, b = np.array([0, 0, 0, 1, -1]), np.array([1, 2, 3, -1, 1])
    made = by_digests(a, b, text, normal).columns()["kind"].to_pylist()
    assert made == ["identical", "normalised", None, None, None]
    assert len(by_digests(a[:0], b[:0], text[:0], normal[:0])) == 0


def test_average_link_makes_no_chains() -> None:
    """Five documents, each of which matches only the next one, are two clusters and a rest."""
    a = np.arange(4)
    chain = Pairs(a, a + 1, np.array([0.9, 0.6, 0.9, 0.6]))
    assert set(components(5, chain.a, chain.b).tolist()) == {0}
    assert average_clusters(np.arange(5), chain, 0.5).tolist() == [0, 0, 1, 1, -1]


def test_average_link_keeps_what_matches_throughout_together() -> None:
    a, b = np.triu_indices(6, 1)
    every = Pairs(a, b, np.full(len(a), 0.7))
    assert average_clusters(np.arange(6), every, 0.7).tolist() == [0] * 6


@given(
    st.integers(1, 7),
    st.lists(st.integers(0, 6), max_size=7),
    st.data(),
)
def test_copies_count_as_if_all_their_pairs_were_listed(
    count: int, copies: list[int], data: st.DataObject
) -> None:
    """Documents 0 to ``count`` − 1 are leaders, each of the ``copies`` is of one of them."""
    leader = np.concatenate([np.arange(count), np.array(copies, np.int64) % count])
    every = [(x, y) for y in range(count) for x in range(y)]
    scores = {pair: data.draw(st.sampled_from([0, 32, 40, 48, 56])) / 64 for pair in every}
    listed = [(x, y, score) for (x, y), score in scores.items() if score]
    expanded = [
        (x, y, 1.0 if leader[x] == leader[y] else scores[tuple(sorted((leader[x], leader[y])))])
        for y in range(len(leader))
        for x in range(y)
    ]
    everyone = np.arange(len(leader))
    alone = average_clusters(leader, _pairs(listed), 0.5)
    together = average_clusters(everyone, _pairs([p for p in expanded if p[2]]), 0.5)
    assert alone.tolist() == together.tolist()


def _pairs(rows: list[tuple[int, int, float]]) -> Pairs:
    a, b, score = (np.array([row[i] for row in rows]) for i in range(3))
    return Pairs(a.astype(np.int64), b.astype(np.int64), score.astype(np.float64))
