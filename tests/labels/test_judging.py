"""Estimates from samples: right on average over all samples that could have been drawn."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.labels.intervals import wilson
from neardup.labels.judged_samples import estimates, stratified
from neardup.labels.label_store import Pair
from neardup.labels.sampling import Key, Stratum, Treatment

STRATA = st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=3)


def treatment(
    name: str, strata: list[list[str]], drawn: list[tuple[str, ...]], items: set[str]
) -> Treatment:
    made = [Stratum(0.5, 1, len(all_), some) for all_, some in zip(strata, drawn, strict=True)]
    returned = {i: n for n, all_ in enumerate(strata) for i in all_ if i in items}
    return Treatment(name, "exact", sum(map(len, strata)), True, tuple(made), returned)


def all_draws(strata: list[list[str]], sizes: list[int]) -> list[tuple[tuple[str, ...], ...]]:
    parts = [list(combinations(one, n)) for one, n in zip(strata, sizes, strict=True)]
    return list(product(*parts))


@given(STRATA, st.data())
def test_precision_is_unbiased(truth: list[list[bool]], data: st.DataObject) -> None:
    sizes = [data.draw(st.integers(1, len(one))) for one in truth]
    strata = [[f"{i}.{j}" for j in range(len(one))] for i, one in enumerate(truth)]
    said = {
        f"{i}.{j}": "duplicate" if yes else "not"
        for i, one in enumerate(truth)
        for j, yes in enumerate(one)
    }
    draws = all_draws(strata, sizes)
    found = []
    for drawn in draws:
        items = {item for some in drawn for item in some}
        share, covered = stratified(treatment("t", strata, list(drawn), items), said)
        assert covered == 1
        assert share.interval is not None
        assert share.interval.low <= share.value + 1e-9 <= share.interval.high + 2e-9  # type: ignore[operator]
        found.append(share.value)
    true = Fraction(sum(map(sum, truth)), sum(map(len, truth)))
    assert sum(found) / len(found) == pytest.approx(float(true))  # type: ignore[arg-type]


@given(st.data())
def test_the_weighted_pool_counts_all_true_pairs_on_average(data: st.DataObject) -> None:
    """Over every way in which two treatments could have drawn their samples."""
    universe = [f"p{i}" for i in range(6)]
    true = set(data.draw(st.lists(st.sampled_from(universe), min_size=1, unique=True)))
    two = []
    for _ in range(2):
        returned = data.draw(st.lists(st.sampled_from(universe), min_size=2, unique=True))
        cut = data.draw(st.integers(1, len(returned) - 1))
        strata = [returned[:cut], returned[cut:]]
        sizes = [data.draw(st.integers(1, len(one))) for one in strata]
        two.append((strata, sizes))
    settled = {Pair(p, "z"): "duplicate" if p in true else "not" for p in universe}
    sums = [0.0, 0.0, 0.0]
    draws = [all_draws(*one) for one in two]
    for both in product(*draws):
        items = {i for drawn in both for some in drawn for i in some}
        made = [treatment(str(n), two[n][0], list(drawn), items) for n, drawn in enumerate(both)]
        key = Key(0, tuple(made), {i: Pair(i, "z") for i in items})
        weighted = _pool_weights(key, settled)
        sums[2] += sum(weighted.values())
        for n in range(2):
            sums[n] += sum(w for i, w in weighted.items() if i in made[n].returned)
    count = len(draws[0]) * len(draws[1])
    sets = [{p for one in strata for p in one} & true for strata, _ in two]
    assert sums[0] / count == pytest.approx(len(sets[0]))
    assert sums[1] / count == pytest.approx(len(sets[1]))
    assert sums[2] / count == pytest.approx(len(sets[0] | sets[1]))


def _pool_weights(key: Key, settled: dict[Pair, str]) -> dict[str, float]:
    from neardup.labels.judged_samples import _judged_shares, chance

    said = {item: settled[pair] for item, pair in key.pairs.items()}
    judged = [_judged_shares(one, said) for one in key.treatments]
    return {
        item: 1 / chance(item, key.treatments, judged)
        for item, label in said.items()
        if label == "duplicate"
    }


def example(labels: dict[str, str]) -> list[dict[str, object]]:
    """Two treatments: t returned a…j and drew a, b, f, g; u returned a, b, x and drew b, x."""
    items = set("abfgx")
    t = treatment("t", [list("abcde"), list("fghij")], [("a", "b"), ("f", "g")], items)
    u = treatment("u", [list("abx")], [("b", "x")], items)
    key = Key(0, (t, u), {i: Pair(i, "z") for i in items})
    settled = {Pair(i, "z"): label for i, label in labels.items()}
    return [one.data() for one in estimates(key, settled)]


def test_the_numbers_by_hand() -> None:
    said = dict.fromkeys("abg", "duplicate") | {"f": "not", "x": "duplicate"}
    t, u = example(said)
    assert t["precision"]["value"] == pytest.approx(0.5 * 1 + 0.5 * 0.5)  # type: ignore[index]
    n = 1 / (2 * 0.25 * 0.6 / 2)
    assert t["precision"]["n"] == pytest.approx(n)  # type: ignore[index]
    expected = wilson(0.75 * n, n)
    assert t["precision"]["interval"] == pytest.approx(expected)  # type: ignore[index]
    assert t["pooled"]["value"] == 3 / 4  # type: ignore[index]  # of a, b, g, x
    assert u["pooled"]["value"] == 3 / 4  # type: ignore[index]
    # a, b: 1 − (1 − 2/5)(1 − 2/3); g: 2/5; x: 2/3
    a, g, x = 1 / (1 - 0.6 / 3), 1 / 0.4, 1 / (2 / 3)
    assert t["recall"]["value"] == pytest.approx((2 * a + g) / (2 * a + g + x))  # type: ignore[index]
    p, r = t["precision"]["value"], t["recall"]["value"]  # type: ignore[index]
    assert t["f1"] == pytest.approx(2 * p * r / (p + r))


def test_undecided_pairs_and_strata_without_a_label() -> None:
    t, u = example({"a": "duplicate", "b": "undecided"})
    assert (t["decided"], t["undecided"], t["drawn"]) == (1, 1, 4)
    assert t["precision"]["value"] == 1  # type: ignore[index]
    assert t["covered"] == 0.5
    assert u["precision"]["value"] is None  # type: ignore[index]
    assert u["f1"] is None
    t, u = example({})
    assert t["recall"]["value"] is None  # type: ignore[index]


def test_where_all_is_judged_nothing_is_left_to_chance() -> None:
    items = {"a", "b"}
    one = treatment("t", [["a", "b"]], [("a", "b")], items)
    key = Key(0, (one,), {i: Pair(i, "z") for i in items})
    (found,) = estimates(key, {Pair("a", "z"): "duplicate", Pair("b", "z"): "not"})
    assert found.precision.value == 0.5
    assert found.precision.interval == (0.5, 0.5)
