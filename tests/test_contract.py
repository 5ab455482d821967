"""What every method promises, whoever wrote it: one test over the whole registry."""

from __future__ import annotations

import dataclasses
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from neardup import api as nd
from neardup.documents import Collection
from neardup.documents.lists import ListSource
from neardup.errors import SettingsError
from neardup.methods import registry
from neardup.methods.fractions import threshold_fraction
from neardup.methods.method import Method, Prepared
from neardup.schema import Ragged
from neardup.text.options import Text

LONG = " ".join(f"word{i} and more" for i in range(40))
HOSTILE = [
    "",
    " \n\t ",
    "a",
    "A.",
    "…!?",
    "😀",
    "😀😀 👩‍👩‍👧‍👦",
    "東京都は日本の首都である。人口は約千四百万人で、世界最大の都市圏を形成している。",
    "ประเทศไทยเป็นประเทศที่ตั้งอยู่ในเอเชียตะวันออกเฉียงใต้",
    "القاهرة هي عاصمة جمهورية مصر العربية وأكبر مدنها",
    "e\u0301\u0323 ff ﬁ Å Å",
    "nul\x00inside\x00the text",
    "a" * 5000,
    "x " * 5000,
    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18",
    LONG,
    LONG.replace("word7 ", "changed "),
    LONG.upper(),
    " ".join(reversed(LONG.split())),
    "\ufeff" + LONG,
]


# Every method as it comes, and the other ways some of them can work.
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in registry.names()),
    ("exact", {"form": "bytes"}),
    ("shingles", {"keys": "prefix", "words": 2, "threshold": 0.3}),
    ("shingles", {"measure": "containment", "min_words": 1}),
    ("shingles", {"text": {"digits": "drop", "stop_words": ["and"]}}),
]


@pytest.fixture(params=VARIANTS, ids=lambda variant: f"{variant[0]} {variant[1] or ''}".strip())
def method(request: pytest.FixtureRequest) -> Method:
    return registry.build(*request.param)


def batch(texts: list[str]) -> pa.RecordBatch:
    ids = pa.array([str(i) for i in range(len(texts))], pa.large_string())
    rows = pa.array(range(len(texts)), pa.int64())
    return pa.record_batch(
        {"row": rows, "id": ids, "text": pa.array(texts, pa.large_string())},
    )


def entries(prepared: Prepared) -> list[tuple[Any, ...]]:
    """Everything there is about each document."""
    return [
        (
            prepared.keys[i].tolist(),
            int(prepared.probes[i]),
            prepared.evidence[i].tolist(),
            prepared.digests[i].tolist(),
            int(prepared.text_digests[i]),
            int(prepared.normal_digests[i]),
            int(prepared.words[i]),
            bool(prepared.too_short[i]),
        )
        for i in range(len(prepared.keys))
    ]


def test_is_a_method(method: Method) -> None:
    assert isinstance(method, Method)
    assert method.name in registry.names()
    assert 0 <= method.miss_rate < 1
    assert isinstance(method.resolved(), dict)


def test_is_frozen(method: Method) -> None:
    field = dataclasses.fields(method)[0].name  # type: ignore[arg-type]
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(method, field, getattr(method, field))


def test_pickles_and_compares(method: Method) -> None:
    method.prepare(batch(["once"]))  # whatever it caches must not get in the way
    again = pickle.loads(pickle.dumps(method))
    assert again == method
    assert hash(again) == hash(method)
    assert entries(again.prepare(batch(HOSTILE))) == entries(method.prepare(batch(HOSTILE)))


def test_repr_round_trips(method: Method) -> None:
    scope = {type(method).__name__: type(method), "Text": Text}
    assert eval(repr(method), scope) == method


def test_rebuilds_from_its_parameters(method: Method) -> None:
    parameters = dataclasses.asdict(method)  # type: ignore[call-overload]
    assert registry.build(method.name, parameters) == method


def test_an_unknown_parameter_is_named(method: Method) -> None:
    with pytest.raises(SettingsError, match="thresholt"):
        registry.build(method.name, {"thresholt": 1.0})


def test_one_entry_a_document(method: Method) -> None:
    prepared = method.prepare(batch(HOSTILE))
    count = len(HOSTILE)
    assert len(prepared.keys) == len(prepared.evidence) == count
    assert prepared.digests.shape == (count, 2)
    for column in ("probes", "text_digests", "normal_digests", "words", "too_short"):
        assert len(getattr(prepared, column)) == count
    assert (prepared.probes <= prepared.keys.lengths).all()
    assert prepared.evidence.values.dtype == method.evidence_dtype
    assert prepared.keys.values.dtype == np.uint64


def test_no_documents(method: Method) -> None:
    assert entries(method.prepare(batch([]))) == []
    assert nd.dedup([], method=method).counts.documents == 0


def test_chunks_give_the_same_as_the_whole(method: Method) -> None:
    whole = batch(HOSTILE)
    expected = entries(method.prepare(whole))
    for size in (1, 3, 7):
        parts = [whole.slice(i, size) for i in range(0, len(HOSTILE), size)]
        assert [entry for part in parts for entry in entries(method.prepare(part))] == expected


def test_equal_digests_mean_equal_evidence(method: Method) -> None:
    prepared = method.prepare(batch(HOSTILE * 2))
    evidence: dict[tuple[int, ...], list[int]] = {}
    for i in range(len(prepared.keys)):
        same = evidence.setdefault(
            tuple(prepared.digests[i].tolist()), prepared.evidence[i].tolist()
        )
        assert same == prepared.evidence[i].tolist()


def test_scores_are_symmetric_similarities(method: Method) -> None:
    evidence = method.prepare(batch(HOSTILE)).evidence
    a, b = (grid.ravel() for grid in np.indices((len(HOSTILE), len(HOSTILE)), np.int64))
    one, other = method.score(evidence, a, b), method.score(evidence, b, a)
    assert np.array_equal(one.score, other.score)
    assert np.array_equal(one.passed, other.passed)
    assert ((one.score >= 0) & (one.score <= 1)).all()
    assert (one.score[one.passed] >= np.nextafter(method.threshold, 0)).all()
    assert (one.score[~one.passed] < method.threshold).all()
    assert one.passed[a == b].all()


def test_every_pair_that_passes_shares_a_key(method: Method) -> None:
    """Where the method says that it misses nothing; else at least what is equal."""
    prepared = method.prepare(batch(HOSTILE * 2))
    a, b = np.triu_indices(len(prepared.keys), 1)
    scores = method.score(prepared.evidence, a.astype(np.int64), b.astype(np.int64))
    certain = scores.passed if method.miss_rate == 0 else scores.score == 1
    assert certain.any()
    for i, j in zip(a[certain], b[certain], strict=True):
        mine, theirs = prepared.keys[i].tolist(), prepared.keys[j].tolist()
        probes = {*mine[: prepared.probes[i]]} & {*theirs}
        assert probes or {*theirs[: prepared.probes[j]]} & {*mine}


def test_identical_texts_are_always_found(method: Method) -> None:
    texts = HOSTILE + HOSTILE[::-1]
    result = nd.dedup(texts, method=method)
    decision = result.decisions["decision"].to_pylist()
    assert set(decision[len(HOSTILE) :]) == {"duplicate"}


def test_every_document_is_decided_exactly_once(method: Method) -> None:
    texts: list[Any] = [*HOSTILE, None, *HOSTILE, None]
    result = nd.dedup(texts, method=method)
    decisions = result.decisions
    assert decisions["row"].to_pylist() == list(range(1, len(texts) + 1))
    assert len(set(decisions["id"].to_pylist())) == len(texts)
    counts = result.counts
    assert counts.documents == len(texts) == counts.kept + counts.duplicates + counts.rejected
    assert [t is None for t in texts] == [
        d == "rejected" for d in decisions["decision"].to_pylist()
    ]
    kept = {row["id"] for row in decisions.to_pylist() if row["decision"] == "kept"}
    for row in decisions.to_pylist():
        assert (row["kept_id"] in kept) == (row["decision"] == "duplicate")
        assert row["reason"]
        if row["decision"] == "duplicate":
            assert method.threshold <= row["score"] <= 1
    assert (result.pairs["score"].to_numpy() >= method.threshold).all()


@pytest.mark.parametrize("rows", [1, 4, 1000])
def test_threads_and_chunks_change_nothing(method: Method, rows: int) -> None:
    texts = HOSTILE * 3
    one = nd.dedup(texts, method=method, workers=1)
    two = nd.dedup(Collection([ListSource(texts, chunk_rows=rows)]), method=method, workers=2)
    assert two.decisions.equals(one.decisions)
    assert two.pairs.equals(one.pairs)


def test_a_line_of_ten_megabytes(method: Method) -> None:
    rng = np.random.default_rng(1)
    line = " ".join(map(str, rng.integers(0, 10**8, 1_200_000)))
    assert len(line) > 10_000_000
    result = nd.dedup([line, "short", line], method=method)
    assert result.decisions["decision"].to_pylist() == ["kept", "kept", "duplicate"]


def test_texts_without_a_separator_of_ten_megabytes(method: Method) -> None:
    line = "a" * 10_000_000
    result = nd.dedup([line, line + "b", line], method=method)
    assert result.decisions["decision"].to_pylist() == ["kept", "kept", "duplicate"]


@pytest.mark.parametrize("written", [0.8, np.float64(0.8), "0.8", Fraction(4, 5)])
def test_a_threshold_is_the_fraction_that_was_written(written: Any) -> None:
    assert threshold_fraction(written) == Fraction(4, 5)


@pytest.mark.parametrize("written", [0, -0.1, 1.1, 0.1234567, float("nan"), float("inf"), "much"])
def test_a_threshold_that_is_none_is_refused(written: Any) -> None:
    with pytest.raises(SettingsError, match="threshold"):
        threshold_fraction(written)


def test_ragged_views_of_sliced_strings() -> None:
    strings = pa.array(["ab", "", "cde", "f"], pa.large_string())
    for start in range(5):
        ragged = Ragged.of_strings(strings.slice(start))
        texts = [bytes(ragged[i]).decode() for i in range(len(ragged))]
        assert texts == strings.slice(start).to_pylist()
