"""The rule and its followers against a walk of the order over all pairs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.decisions import rule
from neardup.decisions.rule import best_match, decide, decide_all
from neardup.matching.candidates import Groups, leaders, pairs_within
from neardup.matching.evidence import Pairs
from neardup.schema import Array, Ragged, offsets_of
from reference import matching as groups_twin
from reference import rule as twin
from repeats import examples


@given(st.integers(0, 14), st.data())
def test_greedy_equals_twin(count: int, data: st.DataObject) -> None:
    pair = st.tuples(st.integers(0, count), st.integers(0, count))
    edges = [tuple(sorted(e)) for e in data.draw(st.lists(pair)) if e[0] != e[1]]
    kept = np.ones(count + 1, np.uint8)
    edges.sort(key=lambda e: e[1])
    later = np.array([e[1] for e in edges], np.int64)
    earlier = np.array([e[0] for e in edges], np.int64)
    _native.greedy(later, earlier, kept)
    expected = twin.decide(range(count + 1), twin.from_scores(dict.fromkeys(edges, 1)))
    assert kept.tolist() == [expected[i] is None for i in range(count + 1)]


class World:
    """Documents that share keys in groups, and the score of every pair that would pass."""

    def __init__(self, groups: list[dict[int, bool]], scores: dict[tuple[int, int], Any]) -> None:
        self.groups = [g for g in groups if len(g) > 1 and any(g.values())]
        meet = groups_twin.group_pairs(self.groups)
        self.scores = {pair: score for pair, score in scores.items() if pair in meet}
        self.asked = 0

    def native(self) -> Groups:
        members = [sorted(group) for group in self.groups]
        looks = [group[m] for group in self.groups for m in sorted(group)]
        values = np.array([m for group in members for m in group], np.int64)
        ragged = Ragged(values, offsets_of(np.array([len(g) for g in members], np.int64)))
        return Groups(ragged, np.array(looks, np.uint8))

    def verify(self, a: Array, b: Array) -> Pairs:
        self.asked += len(a)
        meet = groups_twin.group_pairs(self.groups)
        for i, j in zip(a.tolist(), b.tolist(), strict=True):
            assert (min(i, j), max(i, j)) in meet, "a pair was scored that shares no key"
        found = [self.scores.get((min(i, j), max(i, j))) for i, j in zip(a, b, strict=True)]
        passed = np.array([score is not None for score in found], bool)
        score = np.array([float(s) for s in found if s is not None])
        return Pairs(a[passed], b[passed], score)


@st.composite
def worlds(draw: st.DrawFn, count: int) -> World:
    document = st.integers(0, max(count - 1, 0))
    group = st.dictionaries(document, st.booleans(), max_size=count)
    groups = draw(st.lists(group, max_size=5))
    if draw(st.booleans()):
        groups.append(dict.fromkeys(range(count), True))
    density = draw(st.sampled_from([0.1, 0.4, 0.8]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    choices = [Fraction(1, 2), Fraction(2, 3), Fraction(3, 4)]
    scores = {
        (i, j): choices[rng.integers(3)]
        for i in range(count)
        for j in range(i + 1, count)
        if rng.random() < density
    }
    return World(groups, scores)


def blocks(first: int, last: int) -> Any:
    patch = pytest.MonkeyPatch()
    patch.setattr(rule, "FIRST_BLOCK", first)
    patch.setattr(rule, "LAST_BLOCK", last)
    return patch


@given(st.data(), st.integers(0, 24), st.sampled_from([0, 5, 40, 10**9]), st.integers(1, 6))
@examples(100)
def test_decide_equals_twin(data: st.DataObject, count: int, budget: int, first: int) -> None:
    world = data.draw(worlds(count))
    a, b, hot = pairs_within(world.native(), budget)
    patch = blocks(first, 2 * first)
    try:
        verdict = decide(count, world.verify(a, b), hot, world.verify)
    finally:
        patch.undo()
    expected = twin.decide(range(count), twin.from_scores(world.scores))
    assert verdict.kept.tolist() == [expected[i] is None for i in range(count)]
    assert verdict.kept_of.tolist() == [(expected[i] or (-1,))[0] for i in range(count)]
    assert verdict.score.tolist() == [float((expected[i] or (0, 0))[1]) for i in range(count)]
    seen = set(zip(verdict.pairs.a.tolist(), verdict.pairs.b.tolist(), strict=True))
    if len(hot) == 0:
        assert seen == set(world.scores)
    assert seen <= set(world.scores)


def test_a_hot_group_costs_its_size_times_its_kept_members() -> None:
    """5,000 documents in one group, 3 stars around which all others lie: never 12.5 M pairs."""
    count, stars = 5000, 3
    asked = 0

    def verify(a: Array, b: Array) -> Pairs:
        nonlocal asked
        asked += len(a)
        passed = (a % stars == b % stars) & ((a < stars) | (b < stars))
        return Pairs(a[passed], b[passed], np.full(int(passed.sum()), 0.9))

    hot = Groups(Ragged(np.arange(count), np.array([0, count])), np.ones(count, np.uint8))
    verdict = decide(count, Pairs.none(), hot, verify)
    assert verdict.kept.nonzero()[0].tolist() == [0, 1, 2]
    assert verdict.kept_of[stars:].tolist() == [i % stars for i in range(stars, count)]
    assert asked <= count * stars + rule.FIRST_BLOCK**2


@pytest.mark.parametrize("budget", [0, 3, 10**9])
@pytest.mark.parametrize("seed", range(12))
def test_copies_are_decided_as_if_never_collapsed(seed: int, budget: int) -> None:
    """Random graphs of 3 to 12 distinct texts, up to 40 copies of them in random order."""
    rng = np.random.default_rng(seed)
    choices = [Fraction(1, 2), Fraction(2, 3), Fraction(3, 4)]
    for _ in range(40):
        kinds, count = int(rng.integers(3, 12)), int(rng.integers(1, 40))
        density = rng.choice([0.2, 0.4, 0.7])
        scores = {
            (i, j): choices[rng.integers(3)]
            for i in range(kinds)
            for j in range(i + 1, kinds)
            if rng.random() < density
        }
        groups = [
            {c: bool(rng.random() < 0.7) for c in range(kinds) if rng.random() < share}
            for share in rng.choice([0.3, 0.6, 1.0], 3)
        ]
        classes = rng.integers(0, kinds, count).tolist()
        rank = rng.permutation(count).tolist()
        _check_copies(classes, rank, World(groups, scores), budget, int(rng.integers(1, 4)))


def _check_copies(
    classes: list[int], rank: list[int], by_class: World, budget: int, first: int
) -> None:
    count = len(classes)
    digests = np.array([(c, c) for c in classes], np.uint64)
    ranks = np.array(rank, np.int64)
    leader = leaders(digests, ranks)
    order = np.flatnonzero(leader == np.arange(count))
    order = order[np.argsort(ranks[order], kind="stable")]
    place = {classes[document]: i for i, document in enumerate(order.tolist())}
    groups = [{place[c]: looks for c, looks in g.items() if c in place} for g in by_class.groups]
    scores = {
        (min(place[i], place[j]), max(place[i], place[j])): score
        for (i, j), score in by_class.scores.items()
        if i in place and j in place
    }
    world = World(groups, scores)
    by_class = World(
        [{c: g[p] for c, p in place.items() if p in g} for g in world.groups], by_class.scores
    )
    a, b, hot = pairs_within(world.native(), budget)
    patch = blocks(first, 2 * first)
    try:
        cold = world.verify(a, b)
        followed = np.isin(order, leader[leader != np.arange(count)])
        verdict = decide(len(order), cold, hot, world.verify, followed)
    finally:
        patch.undo()
    kept_of, score = np.full(count, -1, np.int64), np.zeros(count)
    aside = verdict.kept_of >= 0
    kept_of[order[aside]] = order[verdict.kept_of[aside]]
    score[order] = verdict.score
    made = decide_all(leader, ranks, kept_of, score, verdict.pairs.mapped(order))

    def match(a: int, b: int) -> Any:
        one, other = classes[a], classes[b]
        if one == other:
            return Fraction(1)
        return by_class.scores.get((min(one, other), max(one, other)))

    expected = twin.decide(sorted(range(count), key=lambda d: rank[d]), match)
    assert made.kept_of.tolist() == [(expected[i] or (-1,))[0] for i in range(count)]
    assert made.score.tolist() == [float((expected[i] or (0, 0))[1]) for i in range(count)]


def test_a_late_copy_meets_what_was_kept_after_its_leader() -> None:
    """K0, L, K, L again: the second L is nearer to K, which its leader came before."""
    half, more = Fraction(1, 2), Fraction(3, 4)
    world = World([dict.fromkeys(range(3), True)], {(0, 1): half, (1, 2): more})
    for budget in (0, 10**9):
        for first in (1, 2, 3):
            _check_copies([0, 1, 2, 1], [0, 1, 2, 3], world, budget, first)


@given(st.integers(0, 9), st.data())
def test_arrivals_one_by_one_are_decided_as_all_at_once(count: int, data: st.DataObject) -> None:
    pairs = [(i, j) for j in range(count) for i in range(j)]
    some = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    scores = {pair: data.draw(st.sampled_from([0.5, 0.75, 1.0])) for pair in some}
    a, b = (np.array([pair[side] for pair in some], np.int64) for side in (0, 1))
    given_pairs = Pairs(a, b, np.array(list(scores.values())))
    nothing = Groups(Ragged(np.empty(0, np.int64), np.zeros(1, np.int64)), np.empty(0, np.uint8))
    verdict = decide(count, given_pairs, nothing, lambda *_: Pairs.none())
    kept: list[int] = []
    for new in range(count):
        place = best_match([scores.get((before, new)) for before in kept])
        assert verdict.kept_of[new] == (-1 if place is None else kept[place])
        if place is None:
            kept.append(new)
