"""Samples are blind, seeded, spread over scores, and fair."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.errors import InputError, SettingsError
from neardup.labels.label_store import Pair
from neardup.labels.samples import read_judged, read_key
from neardup.labels.sampling import Sample, allocate, cut_strata, draw, key_path
from planting.test_plant import documents


def collection() -> list[dict[str, str]]:
    """Thirty documents, each with two revisions: pairs of many scores."""
    made = []
    for i, doc in enumerate(documents(30)):
        words = doc["text"].split()
        for version in range(3):
            period = 40 + 4 * i
            edited = [w if (k + i) % period >= version else "e" for k, w in enumerate(words)]
            made.append({"id": f"{doc['id']}v{version}", "text": " ".join(edited)})
    return made


@pytest.fixture(scope="module")
def runs() -> dict[str, nd.Result]:
    docs = collection()
    return {
        "low": nd.find(docs, method="shingles", threshold=0.5),
        "high": nd.find(docs, method="shingles", threshold=0.8),
        "bits": nd.find(docs, method="simhash", distance=8),
    }


@pytest.fixture(scope="module")
def sample(runs: dict[str, nd.Result]) -> Sample:
    return draw(runs, 12, strata=3, seed=4)


def test_what_an_assessor_sees_tells_nothing(sample: Sample, tmp_path: Path) -> None:
    path = tmp_path / "sample.jsonl"
    key = sample.save(path)
    assert key == key_path(path) == tmp_path / "sample.key.json"
    texts = {doc["id"]: doc["text"] for doc in collection()}
    rows = [json.loads(line) for line in path.read_text("utf-8").strip().split("\n")]
    for row in rows:
        assert list(row) == ["item", "a", "b", "text_a", "text_b", "label", "kind", "note"]
        assert (texts[row["a"]], texts[row["b"]]) == (row["text_a"], row["text_b"])
        assert row["label"] is row["kind"] is row["note"] is None
    assert len({row["item"] for row in rows}) == len(rows)
    sides = Counter(row["a"] < row["b"] for row in rows)
    assert min(sides[True], sides[False]) > len(rows) / 5
    returned = [set(t.returned) for t in sample.key.treatments]
    first = {row["item"] for row in rows[: len(rows) // 2]}
    assert all(first & some for some in returned if len(some) > 6)  # not one run after the other
    assert read_key(path) == sample.key


def test_the_key_knows_where_each_pair_came_from(
    runs: dict[str, nd.Result], sample: Sample
) -> None:
    names = {item.item: item.pair for item in sample.items}
    assert names == sample.key.pairs
    for one in sample.key.treatments:
        pairs = runs[one.name].pairs.to_pylist()
        score = {Pair.of(p["a"], p["b"]): p["score"] for p in pairs}
        assert one.pairs == len(score) == sum(stratum.pairs for stratum in one.strata)
        assert sum(len(stratum.items) for stratum in one.strata) == min(12, len(score))
        assert set(one.returned) == {i for i, pair in names.items() if pair in score}
        for number, stratum in enumerate(one.strata):
            inside = [s for s in score.values() if stratum.low <= s <= stratum.high]
            assert len(inside) == stratum.pairs
            for item in stratum.items:
                assert one.returned[item] == number
                assert stratum.low <= score[names[item]] <= stratum.high


def test_one_seed_one_sample_another_seed_another(
    runs: dict[str, nd.Result], sample: Sample, tmp_path: Path
) -> None:
    again = draw(dict(runs), 12, strata=3, seed=4)
    for name, one in (("a", sample), ("b", again)):
        one.save(tmp_path / f"{name}.jsonl")
    for end in (".jsonl", ".key.json"):
        assert (tmp_path / f"a{end}").read_bytes() == (tmp_path / f"b{end}").read_bytes()
    other = draw(runs, 12, strata=3, seed=5)
    assert {item.pair for item in other.items} != {item.pair for item in sample.items}


def test_every_pair_of_a_stratum_is_drawn_equally_often(runs: dict[str, nd.Result]) -> None:
    one = {"low": runs["low"]}
    times = Counter(item.pair for seed in range(150) for item in draw(one, 9, seed=seed).items)
    strata = draw(one, 9).key.treatments[0].strata
    score = {Pair.of(p["a"], p["b"]): p["score"] for p in runs["low"].pairs.to_pylist()}
    for stratum in strata:
        pairs = [p for p, s in score.items() if stratum.low <= s <= stratum.high]
        expected = 150 * len(stratum.items) / stratum.pairs
        counts = np.array([times[p] for p in pairs])
        assert counts.mean() == pytest.approx(expected)
        assert abs(counts - expected).max() < 5 * np.sqrt(expected + 1)


@given(
    st.lists(st.sampled_from([0.5, 0.6, 0.7, 0.8, 1.0]), min_size=1, max_size=40), st.integers(1, 6)
)
def test_strata_have_all_pairs_once_and_equal_scores_together(
    scores: list[float], strata: int
) -> None:
    score = np.sort(np.array(scores))
    ends = cut_strata(score, strata)
    assert ends == sorted({0, *ends, len(score)})
    assert 2 <= len(ends) <= strata + 1
    for end in ends[1:-1]:
        assert score[end - 1] < score[end]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(1, 40))
def test_shares_are_equal_as_far_as_strata_reach(sizes: list[int], wanted: int) -> None:
    shares = allocate(sizes, wanted)
    assert sum(shares) == min(wanted, sum(sizes))
    for share, size in zip(shares, sizes, strict=True):
        assert share <= size
        assert share == size or share >= max(shares) - 1


def test_runs_that_cannot_be_sampled(runs: dict[str, nd.Result]) -> None:
    none = nd.find(["one text"], method="shingles")
    with pytest.raises(InputError, match="There is no pair to judge in none"):
        draw({"none": none})
    empty, _ = draw({"none": none, "low": runs["low"]}, 5).key.treatments
    assert (empty.pairs, empty.strata, empty.returned) == (0, (), {})
    with pytest.raises(SettingsError, match="n is 0"):
        draw(runs, 0)


def test_judged_rows_are_taken_or_refused_whole(sample: Sample, tmp_path: Path) -> None:
    pairs = sample.key.pairs
    items = list(pairs)
    path = tmp_path / "judged.jsonl"
    good = [
        {"item": items[0], "label": " Yes "},
        {"item": items[1], "label": "not", "kind": "revision", "note": "x\u2028y"},
        {"a": pairs[items[2]].b, "b": pairs[items[2]].a, "label": "?"},
        {"item": items[3], "label": None},
        {"item": items[4], "label": ""},
    ]
    path.write_text("\n".join(json.dumps(r, ensure_ascii=False) for r in good) + "\n\n", "utf-8")
    found = read_judged(path, pairs, "ann", sample="s")
    assert [label.label for label in found.labels] == ["duplicate", "not", "undecided"]
    assert found.labels[1].kind == "revision"
    assert found.open == 2
    bad = [
        *good,
        {"item": "nobody", "label": "not"},
        {"item": items[0], "label": "perhaps"},
        {"a": "p", "b": "q", "label": "not"},
        {"item": items[0], "label": "not", "kind": "twin"},
    ]
    path.write_text("\n".join(map(json.dumps, bad)))
    with pytest.raises(InputError, match=r"line 6: the item 'nobody'.*line 7.*perhaps.*1 more"):
        read_judged(path, pairs, "ann")
    path.write_text("not json\n")
    with pytest.raises(InputError, match="line 1 is no JSON"):
        read_judged(path, pairs, "ann")
    with pytest.raises(InputError, match="has no key"):
        read_key(tmp_path / "elsewhere.jsonl")
