"""The method ``fingerprint``: the paper's numbers, whole runs against all pairs, its format."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup import api as nd
from neardup.artefacts.artefact import resolved
from neardup.errors import SettingsError
from neardup.methods.fingerprint import Fingerprint
from neardup.testing import batch
from reference import term_methods as twin
from reference import terms as terms_twin

OFFSETS = [79, 0, 21, 123, 163, 13]  # prevarication, hostage, conspicuous, intransigence …
WORDS = [f"{a}{b}term" for a in "abc" for b in "xyz"] + ["7", "ab"]


def fingerprints(ranks: list[int], first: list[int], size: int, bin_: int) -> list[int]:
    offsets = np.array([0, len(ranks)], np.int64)
    columns = (np.array(ranks, np.uint32), np.array(first, np.uint32))
    made: list[int] = _native.fingerprints(*columns, offsets, size, bin_).tolist()
    return made


@pytest.mark.parametrize(
    ("bin_", "expected"),
    [
        (0, OFFSETS),
        (10, [80, 0, 30, 130, 170, 20]),
        (25, [100, 0, 25, 125, 175, 25]),
    ],
)
def test_the_printed_offsets_in_bins(bin_: int, expected: list[int]) -> None:
    ranks = [3, 5, 8, 13, 21, 34]
    numbers = [n for pair in zip(ranks, expected, strict=True) for n in pair]
    for shift in (0, 1, 1000):  # only relative positions count
        first = [offset + shift for offset in OFFSETS]
        assert fingerprints(ranks, first, 6, bin_) == list(twin.sha1_numbers(numbers))
        more = fingerprints([*ranks, 55], [*first, 0], 6, bin_)
        assert more == list(twin.sha1_numbers(numbers))  # what is less rare does not count
    assert fingerprints(ranks[:5], OFFSETS[:5], 6, bin_) == [0, 0]


@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=20).map(" ".join), min_size=2, max_size=8),
    st.data(),
    st.integers(1, 4),
    st.sampled_from([0.6, 0.8, 1.0]),
    st.sampled_from([None, 1, 3, 10]),
    st.sampled_from([0.0, 0.05, 0.2, 0.5]),
)
def test_a_run_equals_all_pairs(
    texts: list[str],
    data: st.DataObject,
    size: int,
    idf_max: float,
    bin_: int | None,
    tolerance: float,
) -> None:
    tails = st.lists(st.sampled_from(["ab", "axterm", "7"]), max_size=4).map(" ".join)
    texts += [f"{text} {data.draw(tails)}" for text in texts[:3]]
    whole = twin.Collection(texts, "alpha")
    found = [whole.terms(text, lambda r: whole.idf(r) <= idf_max) for text in texts]
    keys = [twin.fingerprint(terms, size, bin_) for terms in found]
    tokens = [terms_twin.tokens(text, "alpha") for text in texts]

    def score(i: int, j: int) -> float | None:
        if keys[i] is None or keys[j] is None:
            return 1.0 if keys[i] == keys[j] and tokens[i] == tokens[j] else None
        shorter, longer = sorted((len(tokens[i]), len(tokens[j])))
        near = Fraction(shorter, longer) >= 1 - Fraction(str(tolerance))
        return shorter / longer if keys[i] == keys[j] and near else None

    method = Fingerprint(size=size, idf_max=idf_max, bin=bin_, length_tolerance=tolerance)
    result = nd.find([{"id": str(i), "text": t} for i, t in enumerate(texts)], method=method)
    pairs = {
        tuple(sorted((int(p["a"]), int(p["b"])))): p["score"] for p in result.pairs.to_pylist()
    }
    assert pairs == twin.all_pairs(len(texts), score)


def story(*more: str) -> str:
    return " ".join([*(f"{chr(97 + i)}word" for i in range(20)), *more])


def test_lengths_within_the_tolerance() -> None:
    """20 and 21 words: 20/21 = .952; 20 and 22: .909."""
    texts = [story(), story("of"), story("of", "to"), *["something else entirely"] * 4]
    result = nd.find(texts, method="fingerprint")
    scores = [pair["score"] for pair in result.pairs.to_pylist()]
    assert sorted(scores)[:2] == pytest.approx([20 / 21, 21 / 22])
    near = nd.find(texts, method=Fingerprint(length_tolerance=0.1))
    assert len(near.pairs) == len(result.pairs) + 1


def test_small_insertions_and_bins() -> None:
    words = story().split()
    texts = [story(), " ".join([*words[:3], "of", *words[3:]]), *["something else"] * 3]
    assert nd.dedup(texts, method="fingerprint").counts.duplicates == 2
    binned = nd.dedup(texts, method=Fingerprint(bin=25))
    assert binned.counts.duplicates == 3


def test_documents_of_numbers_are_flagged() -> None:
    numbers = " ".join(str(i * 1234567) for i in range(30))
    texts = [f"{story()} {numbers}", f"{story()} {numbers} cotton", story(), "other words", "more"]
    result = nd.dedup(texts, method="fingerprint")
    assert "mostly_numbers" in result.decisions["reason"][0].as_py()
    assert "mostly_numbers" not in result.decisions["reason"][2].as_py()
    assert result.info["flags"]["mostly_numbers"] == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"size": 0},
        {"idf_max": 0},
        {"idf_max": 1.5},
        {"bin": 0},
        {"length_tolerance": 1},
        {"length_tolerance": -0.1},
        {"length_tolerance": 0.0123456789},
        {"terms": "none"},
    ],
)
def test_wrong_parameters_are_explained(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=r"Hint: |expected"):
        Fingerprint(**wrong)


def test_no_term_with_such_an_idf_is_a_sentence() -> None:
    texts = [f"word{chr(97 + i)}only" for i in range(20)]
    with pytest.raises(SettingsError, match=r"idf up to 0\.8.*Hint: widen"):
        nd.dedup(texts, method="fingerprint")


GOLDEN = [3194634489728376483, 1773840277960458783, 11]


def test_golden_vectors() -> None:
    """A change of these numbers is a change of the format."""
    text = "Größe und café: the first naïve test of Москва and Россия"
    method = Fingerprint(idf_max=1.0)
    given_ = batch([text])
    made = method.prepare(given_, resolved(method.needs, given_))
    assert made.evidence[0].tolist() == GOLDEN
    assert made.keys[0].tolist() == GOLDEN[:1]
