"""Edit distance of short texts: every pair, none missed, and the numbers of the papers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.errors import SettingsError
from neardup.features.qgrams import positional_qgrams
from neardup.methods.editdistance import EditDistance
from neardup.testing import batch, prepare
from neardup.text.alignment import edit_distance
from neardup.text.words import normal_form

TITLES = st.lists(st.text("abc ", min_size=1, max_size=24), min_size=2, max_size=8, unique=True)
GOLDEN = ["0x2d04fb2e9980b9e1", "0x78413a91a5a8a106", "0x791f65b8cece8427"]


def test_the_positional_qgrams_that_montanari_and_puglisi_print() -> None:
    assert positional_qgrams("tom_smith", 2) == [
        *((1, "to"), (2, "om"), (3, "m_"), (4, "_s")),
        *((5, "sm"), (6, "mi"), (7, "it"), (8, "th")),
    ]


@given(TITLES, st.sampled_from([(0.5, 2), (0.5, 1), (0.8, 3), (0.9, 4), (1.0, 4)]))
def test_nothing_is_missed_and_nothing_added(texts: list[str], setting: tuple[float, int]) -> None:
    t, q = setting
    result = nd.find(texts, method=EditDistance(threshold=t, q=q))
    found = {(p["a"], p["b"]) for p in result.pairs.to_pylist()}
    forms = [normal_form(text) for text in texts]
    expected = set()
    for i, one in enumerate(forms):
        for j, other in enumerate(forms[i + 1 :], i + 1):
            longer = max(len(one), len(other))
            if edit_distance(one, other) <= (1 - Fraction(str(t))) * longer:
                expected.add((f"input:{i + 1}", f"input:{j + 1}"))
    assert found == expected


def test_titles_with_a_typing_error() -> None:
    titles = ["Finding similar files", "Finding simillar files", "Binding similar filters"]
    found = nd.find(titles, method="editdistance").pairs.to_pylist()
    assert [(pair["a"], pair["b"], round(pair["score"], 4)) for pair in found] == [
        ("input:1", "input:2", round(1 - 1 / 22, 4))
    ]


def test_a_limit_of_edits_refuses_and_says_so() -> None:
    texts = ["x" * 100, "x" * 94 + "yyyyyy"]
    assert nd.find(texts, method=EditDistance()).pairs.num_rows == 1
    assert nd.find(texts, method=EditDistance(distance=5)).pairs.num_rows == 0
    verdict = nd.compare(*texts, method=EditDistance(distance=5)).verdict
    assert "6 edits, at most 5 pass" in str(verdict)


def test_long_documents_are_compared_for_equality_only() -> None:
    method = EditDistance(max_chars=50)
    long = "word " * 20
    assert nd.dedup([long, long, long + "x"], method=method).counts.duplicates == 1
    assert len(prepare(method, [long]).keys[0]) == 1
    assert "50 characters" in method.remarks(0)[0]


def test_q_is_refused_where_strings_at_the_threshold_could_share_no_qgram() -> None:
    with pytest.raises(SettingsError, match="from 1 to 2"):
        EditDistance(threshold=0.5, q=3)


def test_golden_keys() -> None:
    keys = EditDistance(q=2).prepare(batch(["tom_smith"])).keys
    assert [hex(key) for key in sorted(keys[0].tolist())] == GOLDEN
