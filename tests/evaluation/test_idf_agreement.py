"""Agreement of idf tables: the checks of the paper's formula, and the twins."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.artefacts.idf import IdfCounter, IdfTable
from neardup.errors import SignatureError
from neardup.evaluation import stability
from neardup.evaluation.stability import Signatures, rank_correlation, spearman
from neardup.testing import batch
from neardup.text.text_options import Text
from reference import agreement as twin

WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=10).map(" ".join)
TEXTS = st.lists(WORDS, max_size=7)
SMALL = st.integers(0, 4)


def built(texts: list[str], filter_: str = "words") -> IdfTable:
    counter = IdfCounter(filter_, Text())
    counter.add(counter.count(batch(texts)))
    return counter.finish()


def rows(table: IdfTable) -> list[tuple[str, int]]:
    return list(zip(table.terms.to_pylist(), table.counts.tolist(), strict=True))


@pytest.mark.parametrize(
    ("a", "b", "coefficient"),
    [
        ([1, 2, 2, 3], [1, 1, 2, 3], 0.8333),
        ([3, 3, 3, 2, 1], [3, 2, 3, 1, 1], 0.88388),
        ([1, 2, 3], [10, 20, 30], 1),
        ([1, 2, 3], [3, 2, 1], -1),
    ],
)
def test_the_checks(a: list[int], b: list[int], coefficient: float) -> None:
    assert spearman(np.array(a), np.array(b)) == pytest.approx(coefficient, abs=5e-5)


@pytest.mark.parametrize(
    ("a", "b"), [([1, 1, 1], [1, 2, 3]), ([1, 2], [5, 5]), ([1], [1]), ([], [])]
)
def test_all_ties_are_undefined(a: list[int], b: list[int]) -> None:
    assert spearman(np.array(a), np.array(b)) is None


@given(st.lists(st.tuples(SMALL, SMALL), max_size=12))
def test_spearman_is_formula_2(pairs: list[tuple[int, int]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    expected = twin.spearman(a, b)
    got = spearman(np.array(a, np.int64), np.array(b, np.int64))
    assert got == (None if expected is None else pytest.approx(expected, abs=1e-12))


@given(TEXTS, TEXTS)
def test_only_common_terms_are_ranked(one: list[str], other: list[str]) -> None:
    a, b = built(one), built(other)
    first, second = dict(rows(a)), dict(rows(b))
    common = sorted(first.keys() & second.keys())
    expected = twin.spearman([first[t] for t in common], [second[t] for t in common])
    found = rank_correlation(a, b)
    assert found.common == len(common)
    close = None if expected is None else pytest.approx(expected, abs=1e-12)
    assert found.coefficient == close


@given(TEXTS, TEXTS, TEXTS, st.integers(1, 9), st.booleans())
def test_changes_equal_twin(
    one: list[str], other: list[str], texts: list[str], longest: int, tiny: bool
) -> None:
    a, b = built(one), built(other)
    with pytest.MonkeyPatch.context() as patch:
        if tiny:
            patch.setattr(stability, "_BLOCK", 1)
        found = Signatures(a, b, longest).changed(pa.array(texts, pa.large_string()))
    known = [bool(twin.signature(t, rows(a), 1) or twin.signature(t, rows(b), 1)) for t in texts]
    assert found.known.tolist() == known
    expected = [
        [twin.changed(text, rows(a), rows(b), n) for n in range(1, longest + 1)]
        for text, there in zip(texts, known, strict=True)
        if there
    ]
    assert found.as_set.tolist() == [[s for s, _ in row] for row in expected]
    assert found.as_list.tolist() == [[ranked for _, ranked in row] for row in expected]


def test_tables_of_unlike_terms_are_refused() -> None:
    with pytest.raises(SignatureError, match="different terms"):
        rank_correlation(built(["a"]), built(["a"], "alpha"))
    with pytest.raises(SignatureError, match="different terms"):
        Signatures(built(["a"]), built(["a"], "alpha"))
