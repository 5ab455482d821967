"""The method ``termvector``: the paper's numbers, whole runs against all pairs, its format."""

from __future__ import annotations

import json
import sqlite3
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup import api as nd
from neardup.artefacts.artefact import resolved
from neardup.engines.index.index import Index
from neardup.errors import ColumnError, SettingsError
from neardup.features.terms import Vector, pack, unpack
from neardup.methods.meeting import Rarity
from neardup.methods.set_measures import NO_COUNTS
from neardup.methods.termvector import DAY_ZERO, TermVector, vector_of
from neardup.schema import Ragged
from neardup.testing import batch
from reference import term_methods as twin
from reference import terms as terms_twin

WORDS = [f"{a}{b}term" for a in "abcd" for b in "xyz"] + ["7", "ab"]
DAY = date(2003, 11, 3)


def vectors(*given_: tuple[int, int, range]) -> Ragged:
    rows = [[day, length, *terms] for day, length, terms in given_]
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return Ragged(np.array([n for row in rows for n in row], np.uint32), offsets)


def score_of(a: tuple[int, int, range], b: tuple[int, int, range]) -> tuple[bool, float]:
    one, two = np.array([0], np.int64), np.array([1], np.int64)
    scores = TermVector().score(vectors(a, b), one, two)
    return bool(scores.passed[0]), float(scores.score[0])


def test_forty_eight_of_sixty() -> None:
    assert score_of((0, 100, range(60)), (0, 100, range(12, 72))) == (True, 0.8)
    passed, score = score_of((0, 100, range(60)), (0, 100, range(13, 73)))
    assert not passed
    assert score < 0.8


def test_lengths() -> None:
    terms = range(60)
    assert score_of((0, 100, terms), (0, 125, terms))[0]
    assert score_of((0, 100, terms), (0, 126, terms)) == (False, 0.0)


@pytest.mark.parametrize(("apart", "passed"), [(0, True), (42, True), (43, False), (-43, False)])
def test_days(apart: int, passed: bool) -> None:
    day, terms = DAY_ZERO + 8707, range(60)
    assert score_of((day, 100, terms), (day + apart, 100, terms))[0] == passed
    assert score_of((0, 100, terms), (day, 100, terms))[0]  # unknown: the test is skipped


def test_short_documents() -> None:
    """Equal ones of 40 terms match; unlike ones of 20 do not, whatever 60 − 20 gives."""
    assert score_of((0, 50, range(40)), (0, 50, range(40))) == (True, 1.0)
    assert not score_of((0, 50, range(20)), (0, 50, range(100, 120)))[0]
    assert not score_of((0, 50, range(20)), (0, 50, range(12, 32)))[0]
    assert score_of((0, 50, range(20)), (0, 50, range(4, 24))) == (True, 56 / 60)
    assert not score_of((0, 50, range(20)), (0, 50, range(5, 25)))[0]


DOCUMENT = st.tuples(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=16).map(" ".join),
    st.one_of(st.none(), st.integers(0, 9)),
)


@given(
    st.lists(DOCUMENT, min_size=2, max_size=9),
    st.integers(3, 8),
    st.sampled_from([0.3, 0.5, 0.8, 1.0]),
    st.sampled_from([0.3, 0.8, 1.0]),
    st.integers(0, 4),
    st.integers(1, 2),
)
def test_a_run_equals_all_pairs(
    documents: list[tuple[str, int | None]],
    size: int,
    threshold: float,
    length_ratio: float,
    max_days: int,
    min_count: int,
) -> None:
    """Terms, lengths and dates together: what the keys bring together is all there is."""
    texts = [text for text, _ in documents]
    days = [None if day is None else DAY + timedelta(day) for _, day in documents]
    whole = twin.Collection(texts, "alpha")
    made = []
    for text, day in zip(texts, days, strict=True):
        terms = whole.terms(text, lambda rank: whole.table[rank][1] >= min_count)
        words = terms_twin.tokens(text, "alpha")
        made.append({"terms": {r for r, _ in terms[:size]}, "tokens": len(words), "day": day})

    def score(i: int, j: int) -> float | None:
        one, other = made[i], made[j]
        if min(len(one["terms"]), len(other["terms"])) < 3:
            same = terms_twin.tokens(texts[i], "words") == terms_twin.tokens(texts[j], "words")
            return 1.0 if same else None
        ratios = Fraction(str(threshold)), Fraction(str(length_ratio))
        found = twin.vector_score(one, other, size, *ratios, max_days)
        return None if found is None else float(found)

    method = TermVector(
        size=size,
        threshold=threshold,
        length_ratio=length_ratio,
        max_days=max_days,
        min_count=min_count,
        min_words=0,
        date="day",
    )
    rows = [
        {"id": str(i), "text": text, "day": day and day.isoformat()}
        for i, (text, day) in enumerate(zip(texts, days, strict=True))
    ]
    result = nd.find(rows, method=method)
    pairs = {
        tuple(sorted((int(p["a"]), int(p["b"])))): p["score"] for p in result.pairs.to_pylist()
    }
    assert pairs == twin.all_pairs(len(texts), score)


def test_keys_are_pairs_of_the_rarest() -> None:
    text = " ".join(f"{a}{b}cd" for a in "abcdefghij" for b in "klmnopqrst")
    method = TermVector()
    given_ = batch([text])
    made = method.prepare(given_, resolved(method.needs, given_))
    assert len(made.evidence[0]) == 62
    assert len(made.keys[0]) == made.probes[0] == 91  # any two of 60 − 48 + 2
    single = TermVector(threshold=0.5).prepare(given_, resolved(method.needs, given_))
    assert len(single.keys[0]) == 31  # 60 − 30 + 1
    shares = [method.rare_keys(made.evidence, Rarity(NO_COUNTS, i, 3))[0] for i in range(3)]
    assert sorted(k for one in shares for k in one.values.tolist()) == sorted(made.keys[0].tolist())


def test_packed_form() -> None:
    day = twin.days_since_1980(DAY)
    assert day == 8707
    vector = Vector(day, 100, tuple(range(60)))
    assert len(pack(vector)) == 184
    assert unpack(pack(vector)) == vector
    assert unpack(pack(Vector(None, 70_000, (2**24 - 1,)))) == Vector(None, 65_535, (2**24 - 1,))
    assert unpack(pack(Vector(-5, 1, ()))).day == 0
    assert unpack(pack(Vector(10**6, 1, ()))).day == 65_534
    with pytest.raises(SettingsError, match="three bytes"):
        pack(Vector(None, 1, (2**24,)))


@given(
    st.one_of(st.none(), st.integers(0, 65_534)),
    st.integers(0, 65_535),
    st.lists(st.integers(0, 2**24 - 1), max_size=60),
)
def test_packing_loses_nothing(day: int | None, length: int, terms: list[int]) -> None:
    vector = Vector(day, length, tuple(terms))
    assert unpack(pack(vector)) == vector
    assert len(pack(vector)) == 4 + 3 * len(terms)


def story(name: str, words: int = 30) -> str:
    return " ".join(f"{name}{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(words))


def test_the_option_date_is_the_parameter(tmp_path: Path) -> None:
    rows = [
        {"text": story("news"), "published": "2003-11-03"},
        {"text": story("news"), "published": "20031215"},  # 42 days later
        {"text": story("news"), "published": "2003-12-16T08:00:00Z"},
        {"text": story("other"), "published": "soon"},
        {"text": story("else", 16), "published": None},
    ]
    file = tmp_path / "news.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    result = nd.dedup(file, method="termvector", date="published")
    assert result.info["settings"]["parameters"]["date"] == "published"
    decisions = result.decisions["decision"].to_pylist()
    assert decisions == ["kept", "duplicate", "kept", "kept", "kept"]
    reasons = result.decisions["reason"].to_pylist()
    assert reasons[1:] == [
        "common terms >= 0.8",
        "unique",
        "unique (undated)",
        "unique (unreliable, undated)",
    ]
    assert result.info["flags"] == {"unreliable": 1, "undated": 2}


def test_a_column_without_dates_is_a_sentence() -> None:
    rows = [{"text": story("news"), "d": "Monday"}, {"text": story("other"), "d": None}]
    with pytest.raises(SettingsError, match=r"'Monday'.*Hint: expected ISO 8601"):
        nd.dedup(rows, method="termvector", date="d")
    table = pa.table({"text": [story("news")], "d": [[1, 2]]})
    with pytest.raises(ColumnError, match="Hint: expected"):
        nd.dedup(table, method="termvector", date="d")
    with pytest.raises(ColumnError, match="'when'"):
        nd.dedup(rows, method="termvector", date="when")


def test_documents_of_numbers_are_flagged() -> None:
    numbers = " ".join(str(i * 1234567) for i in range(100))
    result = nd.dedup([f"{story('cotton')} {numbers}", story("other")], method="termvector")
    assert result.decisions["reason"].to_pylist() == ["unique (mostly_numbers)", "unique"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        ("12 34 ab", True),
        ("12 34 abcd", False),
        ("١٢٣ ab", True),
        ("12 größ", False),
        ("123 東京", True),
        ("… !", False),
    ],
)
def test_mostly_numbers(text: str, expected: bool) -> None:
    texts = Ragged.of_texts(["x", text])
    assert _native.mostly_numbers(texts.values, texts.offsets).tolist() == [0, expected]


@pytest.mark.parametrize(
    "wrong",
    [
        {"size": 2},
        {"size": 1001},
        {"threshold": 0},
        {"length_ratio": 0},
        {"length_ratio": 1.1},
        {"max_days": -1},
        {"min_count": 0},
        {"min_words": -1},
        {"text": {"stem": "english"}},
    ],
)
def test_wrong_parameters_are_explained(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=r"Hint: |expected"):
        nd.dedup([], method="termvector", set=wrong)


def test_golden_vectors() -> None:
    """A change of these numbers is a change of the format."""
    method = TermVector(date="day", min_words=1)
    given_ = batch(["Größe und café, naïve Москва", "und café"]).append_column(
        "day", pa.array([DAY, None])
    )
    made = method.prepare(given_, resolved(method.needs, given_))
    assert made.evidence[0].tolist() == [DAY_ZERO + 8707, 5, 0, 1, 2, 3, 4]
    assert vector_of(made.evidence[0]) == Vector(8707, 5, (0, 1, 2, 3, 4))
    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = [twin.scramble((a << 32 | b) ^ 0xD1B54A32D192ED03) for a, b in pairs]
    assert made.keys[0].tolist() == expected


def test_an_index_stores_184_bytes_and_answers_alike(tmp_path: Path) -> None:
    rows = [
        {"id": f"{name}{place}", "text": story(name, 70 - place), "published": f"2003-11-{day:02}"}
        for name in ("news", "other", "else")
        for place, day in enumerate((1, 9, 30))
    ]
    rows.append({"id": "short", "text": "two words", "published": None})
    table = tmp_path / "table.idf"
    texts = [row["text"] for row in rows]
    resolved(TermVector().needs, batch(texts))["idf"].save(table)
    method = TermVector(date="published", packed=True, idf=str(table))
    store = tmp_path / "news.db"
    with Index.open(store, method=method) as index:
        index.add_many(rows)
        first = index.decisions().to_pylist()
    with sqlite3.connect(store) as db:
        sizes = dict(db.execute("SELECT id, length(signature) FROM documents"))
    assert sizes["news0"] == 184 + 28
    with Index.open(store) as index:  # keys and digests are made again
        assert index.decisions().to_pylist() == first
        copy = index.check({"text": story("news", 70), "published": "2003-11-02"})
        assert copy is not None
        assert copy.kind == "identical"
    batch_run = nd.dedup(rows, method=method).decisions.to_pylist()
    kept = [(row["id"], row["decision"], row["kept_id"]) for row in batch_run]
    assert kept == [(row["id"], row["decision"], row["kept_id"]) for row in first]
