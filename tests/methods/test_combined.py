"""Combined methods: agreement is the intersection and union the union of what the parts find."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.errors import SettingsError
from neardup.methods.combined import Combined, packed, unpacked
from neardup.methods.registry import read_method, write_method
from neardup.methods.shingles import Shingles
from neardup.methods.simhash import SimHash
from neardup.schema import Ragged, offsets_of
from neardup.text.text_options import Text

TEXT = st.lists(st.sampled_from([*"abcde", "größe", "日本"]), max_size=14).map(" ".join)
PARTS = (
    "simhash distance=8 min_words=2",
    'shingles words=2 threshold=0.4 keys="prefix" min_words=3',
)


def pairs(texts: list[str], method: Any) -> set[frozenset[str]]:
    found = nd.find(texts, method=method).pairs.select(["a", "b"]).to_pylist()
    return {frozenset((pair["a"], pair["b"])) for pair in found}


@given(st.lists(TEXT, max_size=9), st.sampled_from([PARTS, PARTS[::-1], ("exact", *PARTS)]))
def test_agreement_and_union_of_the_parts(texts: list[str], parts: tuple[str, ...]) -> None:
    alone = [pairs(texts, read_method(part)) for part in parts]
    assert pairs(texts, Combined(parts, rule="agreement")) == set.intersection(*alone)
    assert pairs(texts, Combined(parts, rule="union")) == set.union(*alone)


def test_every_part_has_its_own_artefact() -> None:
    texts = [f"word{i} other{i} and the rest of the text number {i}" for i in range(20)] * 2
    parts = ("simhash weights=idf min_words=1", "simhash weights=idf min_words=1 text.case=keep")
    result = nd.dedup(texts, method=Combined(parts))
    assert result.counts.duplicates == 20
    assert [*result.info["artefacts"]] == ["1-idf", "2-idf"]


@st.composite
def rows(draw: st.DrawFn, count: int, dtype: Any) -> Ragged:
    lengths = draw(st.lists(st.integers(0, 5), min_size=count, max_size=count))
    values = np.arange(sum(lengths)).astype(dtype)
    return Ragged(values, offsets_of(np.array(lengths, np.int64)))


@given(st.data(), st.integers(0, 5))
def test_parts_come_back_as_they_were(data: st.DataObject, count: int) -> None:
    types = [
        np.dtype(t) for t in data.draw(st.lists(st.sampled_from("BIQ"), min_size=1, max_size=4))
    ]
    parts = [data.draw(rows(count, dtype)) for dtype in types]
    for before, after in zip(parts, unpacked(packed(parts), types), strict=True):
        assert [before[i].tolist() for i in range(count)] == [
            after[i].tolist() for i in range(count)
        ]


@pytest.mark.parametrize(
    "method",
    [
        Shingles(),
        Shingles(words=3, threshold=0.5, text=Text(digits="mask", stop_words=("the", "a b"))),
        SimHash(fields={"title": 4}),  # type: ignore[arg-type]
        Combined((SimHash(), Shingles(words=2)), rule="union"),  # type: ignore[arg-type]
    ],
)
def test_a_method_is_what_was_written(method: Any) -> None:
    assert read_method(write_method(method)) == method


@pytest.mark.parametrize(
    ("methods", "said"),
    [
        (["simhash"], "two or more"),
        ("simhash", "expected a list"),
        (["simhash", "nosuch"], "no method 'nosuch'"),
        (["simhash", "shingles words"], "KEY=VALUE"),
        (["simhash", "shingles 'words"], "is no method"),
    ],
)
def test_wrong_parts_are_sentences(methods: Any, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Combined(methods)


def test_the_weakest_agrees_and_the_strongest_unites() -> None:
    texts = [" ".join(f"w{i}" for i in range(100)), " ".join(f"w{i}" for i in range(3, 103))]
    both = ("shingles words=1 threshold=0.9", "shingles words=5 threshold=0.5")
    one, other = (nd.compare(*texts, method=read_method(m)) for m in both)
    assert one.verdict is not None
    assert other.verdict is not None
    scaled = [
        0.5 + (v.score - v.threshold) / (1 - v.threshold) / 2 for v in (one.verdict, other.verdict)
    ]
    for rule, expected in (("agreement", min(scaled)), ("union", max(scaled))):
        verdict = nd.compare(*texts, method=Combined(both, rule=rule)).verdict
        assert verdict is not None
        assert verdict.score == pytest.approx(expected)
        assert verdict.duplicate


def test_parts_refuse_what_they_would_refuse_alone() -> None:
    """Before any work begins, not in the middle of it."""
    documents = [{"text": f"one two three {i}", "day": "no day"} for i in range(30)]
    dated = Combined(("exact", "termvector date=day"))
    with pytest.raises(SettingsError, match="No value of the date column 'day' is a date"):
        nd.dedup(documents, method=dated)
    narrow = Combined(("exact", "imatch idf_min=0.98 idf_max=0.99"))
    with pytest.raises(SettingsError, match="imatch: none of the"):
        nd.dedup(documents, method=narrow)


def test_a_threshold_that_follows_is_not_asked_for() -> None:
    with pytest.raises(SettingsError, match="Hint: its threshold follows from others; it has meth"):
        nd.dedup(["a", "b"], method="combined", threshold=0.7)
