"""Kappa on known numbers and against exact fractions; whose word counts."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.labels.agreement import agreements, cohen_kappa, kappa_interval, verdicts
from neardup.labels.label_store import Label, Labels, Pair

NAMES = st.sampled_from(["duplicate", "not", "undecided"])


def kappa_twin(a: list[str], b: list[str]) -> float | None:
    """From the confusion table, in fractions."""
    names = sorted({*a, *b})
    table = [
        [sum((x, y) == (p, q) for x, y in zip(a, b, strict=True)) for q in names] for p in names
    ]
    n = sum(map(sum, table))
    if not n:
        return None
    observed = Fraction(sum(table[i][i] for i in range(len(names))), n)
    rows, columns = [sum(row) for row in table], [sum(c) for c in zip(*table, strict=True)]
    expected = sum(Fraction(r * c, n * n) for r, c in zip(rows, columns, strict=True))
    return None if expected == 1 else float((observed - expected) / (1 - expected))


@given(st.lists(st.tuples(NAMES, NAMES), max_size=40))
def test_kappa_is_the_definition(both: list[tuple[str, str]]) -> None:
    a, b = [x for x, _ in both], [y for _, y in both]
    assert cohen_kappa(a, b) == pytest.approx(kappa_twin(a, b))
    try:
        from sklearn.metrics import cohen_kappa_score
    except ImportError:
        return
    if kappa_twin(a, b) is not None:
        assert cohen_kappa(a, b) == pytest.approx(cohen_kappa_score(a, b))


@pytest.mark.parametrize(
    ("table", "kappa"),
    [
        ((20, 5, 10, 15), 0.4),  # 50 proposals, two readers: the usual textbook example
        ((45, 15, 25, 15), 0.1304),  # equal agreement, unlike shares …
        ((25, 35, 5, 35), 0.2593),  # … other kappa
        ((5, 0, 0, 5), 1.0),
        ((0, 5, 5, 0), -1.0),
        ((9, 0, 0, 0), None),  # both always say yes: chance agrees too
    ],
)
def test_kappa_of_known_tables(table: tuple[int, ...], kappa: float | None) -> None:
    yy, yn, ny, nn = table
    a = ["y"] * (yy + yn) + ["n"] * (ny + nn)
    b = ["y"] * yy + ["n"] * yn + ["y"] * ny + ["n"] * nn
    found = cohen_kappa(a, b)
    assert (found is None) if kappa is None else found == pytest.approx(kappa, abs=5e-5)


def labels(*rows: tuple[str, str, str] | tuple[str, str, str, bool]) -> Labels:
    made = [Label(r[0], "z", r[1], r[2], arbiter=len(r) > 3) for r in rows]
    return Labels({(one.pair, one.assessor): one for one in made})


def test_the_arbiter_ends_a_disagreement_and_undecided_is_one() -> None:
    said = labels(
        *[("a", "duplicate", "ann"), ("a", "duplicate", "bob")],
        *[("b", "duplicate", "ann"), ("b", "not", "bob")],
        *[("c", "duplicate", "ann"), ("c", "undecided", "bob")],
        *[("d", "duplicate", "ann"), ("d", "not", "bob"), ("d", "not", "cy", True)],
        *[("e", "not", "ann"), ("e", "not", "bob"), ("e", "duplicate", "cy", True)],
        ("f", "undecided", "ann"),
    )
    word = verdicts(said)
    settled = {pair.a: label.label for pair, label in word.settled.items()}
    assert settled == {"a": "duplicate", "d": "not", "e": "duplicate", "f": "undecided"}
    assert word.disputed == [Pair("b", "z"), Pair("c", "z")]


def test_agreement_is_of_pairs_that_both_judged_and_leaves_arbiters_out() -> None:
    said = labels(
        *[("a", "duplicate", "ann"), ("a", "duplicate", "bob")],
        *[("b", "not", "ann"), ("b", "not", "bob")],
        *[("c", "undecided", "ann"), ("c", "not", "bob")],
        *[("d", "not", "ann"), ("d", "not", "cy", True)],
    )
    (one,) = agreements(said)
    assert one.assessors == ("ann", "bob")
    assert (one.pairs, one.equal, one.decided) == (3, 2, 2)
    assert one.kappa == pytest.approx(kappa_twin(["d", "n", "u"], ["d", "n", "n"]))
    assert one.kappa_decided == 1
    assert one.table == {
        "duplicate": {"duplicate": 1},
        "not": {"not": 1},
        "undecided": {"not": 1},
    }
    assert agreements(labels(("a", "not", "ann"))) == []


def test_kinds_come_along() -> None:
    plain, kinded = Label("a", "b", "not", "ann"), Label("a", "b", "not", "bob", kind="other")
    said = Labels({(one.pair, one.assessor): one for one in (plain, kinded)})
    assert verdicts(said).settled[Pair("a", "b")].kind == "other"


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("xyz")), max_size=30))
def test_the_interval_of_kappa_holds_it_and_is_never_surer_than_its_pairs(
    both: list[tuple[str, str]],
) -> None:
    a, b = [x for x, _ in both], [y for _, y in both]
    kappa, interval = cohen_kappa(a, b), kappa_interval(a, b)
    assert (kappa is None) == (interval is None)
    if kappa is not None and interval is not None:
        assert interval.low - 1e-9 <= kappa <= interval.high + 1e-9
        assert interval.low < interval.high  # also where all were judged alike
        narrower = kappa_interval(a * 4, b * 4)
        assert narrower is not None
        assert narrower.high - narrower.low < interval.high - interval.low
