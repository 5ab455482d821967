"""Unique words in order, against a twin that finds common subsequences the slow way."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import zoo
from neardup import _native
from neardup import api as nd
from neardup.matching import rare
from neardup.methods.uniquewords import UniqueWords
from neardup.testing import prepare

WORDS = st.lists(st.sampled_from([f"w{i}" for i in range(14)]), min_size=1, max_size=20)
GOLDEN = ["0x45b81c900000009", "0x8b9e39200000008", "0x9373e3200000004"]


def unique(words: list[str]) -> list[str]:
    counts = Counter(words)
    return [word for word in words if counts[word] == 1]


def common(a: list[str], b: list[str]) -> int:
    rows = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            longest = max(rows[i][j + 1], rows[i + 1][j])
            rows[i + 1][j + 1] = rows[i][j] + 1 if x == y else longest
    return rows[-1][-1]


@given(WORDS, WORDS)
def test_the_alignment_is_a_longest_common_subsequence(a: list[str], b: list[str]) -> None:
    evidence = prepare(UniqueWords(min_unique=5), [" ".join(a), " ".join(b)]).evidence
    if min(len(unique(a)), len(unique(b))) >= 5:
        pair = np.array([0]), np.array([1]), np.array([0])
        (length,) = _native.overlaps_in_order(evidence.values, evidence.offsets, *pair)
        assert length == common(unique(a), unique(b))


@given(st.lists(WORDS, min_size=2, max_size=7), st.sampled_from(["containment", "max"]))
def test_nothing_is_missed_and_nothing_added(texts: list[list[str]], measure: str) -> None:
    long = [words for words in texts if len(unique(words)) >= 5]
    method = UniqueWords(threshold=0.6, measure=measure, min_unique=5)
    result = nd.find([" ".join(words) for words in long], method=method)
    expected = {}
    for i, one in enumerate(map(unique, long)):
        for j in range(i + 1, len(long)):
            other = unique(long[j])
            size = (min if measure == "containment" else max)(len(one), len(other))
            share = Fraction(common(one, other), size)
            if share >= Fraction(3, 5):
                expected[f"input:{i + 1}", f"input:{j + 1}"] = round(float(share), 6)
    found = {(p["a"], p["b"]): round(p["score"], 6) for p in result.pairs.to_pylist()}
    assert found == expected


@pytest.mark.parametrize("measure", ["containment", "max"])
def test_the_pairs_are_the_same_where_counting_is_given_up(
    monkeypatch: pytest.MonkeyPatch, measure: str
) -> None:
    texts = zoo.texts("families", 300)
    method = UniqueWords(measure=measure)
    counted = nd.find(texts, method=method).pairs
    monkeypatch.setattr(rare, "MOST_COUNTED", 0)
    walked = nd.find(texts, method=method).pairs
    assert counted.num_rows > 300
    assert counted.sort_by([("a", "ascending"), ("b", "ascending")]).equals(
        walked.sort_by([("a", "ascending"), ("b", "ascending")])
    )


def test_a_chapter_is_found_in_its_book_and_the_same_words_in_other_order_are_not() -> None:
    book = [f"word{i}" for i in range(300)]
    chapter = book[100:160]
    method = UniqueWords()
    found = nd.find([" ".join(book), " ".join(chapter), " ".join(chapter[::-1])], method=method)
    assert [(p["a"], p["b"], p["score"]) for p in found.pairs.to_pylist()] == [
        ("input:1", "input:2", 1.0)
    ]


def test_errors_of_scanning_only_take_words_away() -> None:
    words = [f"word{i}" for i in range(200)]
    read = [word if i % 3 else f"w0rd{i}x" for i, word in enumerate(words)]
    (pair,) = nd.find([" ".join(words), " ".join(read)], method=UniqueWords()).pairs.to_pylist()
    assert pair["score"] == 133 / 200


def test_golden_evidence() -> None:
    evidence = prepare(UniqueWords(), [" ".join(f"word{i}" for i in range(20))]).evidence
    assert [hex(entry) for entry in evidence[0][:3].tolist()] == GOLDEN
