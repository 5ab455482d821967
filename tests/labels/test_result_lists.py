"""Sets that people mark in result lists come back from the labels of their pairs."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from labels.test_sampling import collection
from neardup.errors import InputError
from neardup.labels.agreement import disputed_lists, list_agreements, run_agreement, verdicts
from neardup.labels.label_store import Labels, LabelStore
from neardup.labels.result_lists import Listed, ResultList, add_lists, load_lists, read_lists


def made(name: str, count: int) -> ResultList:
    results = tuple(Listed(f"{name}{i}", f"text {i}") for i in range(count))
    return ResultList(name, f"query {name}", results)


def said(one: ResultList, sets: tuple[int, ...], who: str) -> Labels:
    return Labels({(x.pair, who): x for x in one.labels(sets, who, arbiter=False)})


def both(*some: Labels) -> Labels:
    return Labels({key: label for labels in some for key, label in labels.current.items()})


def partition(sets: tuple[int, ...]) -> set[tuple[int, int]]:
    """The pairs in one set: what does not depend on how sets are numbered."""
    numbered = combinations(range(len(sets)), 2)
    return {(i, j) for i, j in numbered if sets[i] == sets[j] != 0}


@given(st.lists(st.integers(0, 4), min_size=2, max_size=9).map(tuple))
def test_sets_come_back(sets: tuple[int, ...]) -> None:
    one = made("q", len(sets))
    found = one.sets_of(said(one, sets, "ann"), "ann")
    assert found is not None
    assert partition(found) == partition(sets)
    assert one.sets_of(said(one, sets, "ann"), "bob") is None


def test_half_a_list_is_not_judged(tmp_path: Path) -> None:
    one = made("q", 4)
    store = LabelStore(tmp_path / "labels.jsonl")
    rows = one.labels((1, 1, 0, 0), "ann", arbiter=False, seconds=12.5)
    store.add_all(rows[:-1])
    assert one.sets_of(store.labels(), "ann") is None
    assert store.add_all(rows, together=True) == 1
    assert one.sets_of(store.labels(), "ann") == (1, 1, 0, 0)
    assert sum(label.seconds or 0 for label in store.labels()) == 12.5


def test_agreement_counts_equal_sets_and_lists() -> None:
    lists = [made("p", 5), made("q", 5), made("r", 5)]
    ann = [(1, 1, 0, 2, 2), (1, 1, 1, 0, 0), (0, 0, 0, 0, 0)]
    bob = [(2, 2, 0, 1, 1), (1, 1, 0, 0, 0), (0, 0, 0, 0, 0)]
    labels = both(
        *(said(one, sets, "ann") for one, sets in zip(lists, ann, strict=True)),
        *(said(one, sets, "bob") for one, sets in zip(lists, bob, strict=True)),
    )
    (found,) = list_agreements(lists, labels)
    assert (found["lists"], found["equal_lists"]) == (3, 2)
    assert found["sets"]["gold_sets"] == 3
    assert (found["sets"]["agreement"], found["sets"]["partial"]) == (2, 1)
    assert 0 < found["kappa"] < 1
    assert found["kappa_interval"][0] < found["kappa"] < found["kappa_interval"][1]
    assert disputed_lists(lists, labels) == [lists[1]]
    assert list_agreements(lists[:1], said(lists[0], ann[0], "ann")) == []


def written(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_lists_are_read_cut_and_added_once(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"query": q, "id": f"{q}{i}", "text": f"text {i} of {q}", "title": None}
        for i in range(25)
        for q in ("pier", "fête")
    ]
    file = written(tmp_path / "lists.jsonl", rows)
    lists = read_lists(file)
    assert [(one.query, len(one.results), one.practice) for one in lists] == [
        ("pier", 20, True),
        ("fête", 20, False),
    ]
    assert [one.id for one in lists[0].results] == [f"pier{i}" for i in range(20)]
    place = tmp_path / "run" / "judging" / "lists.jsonl"
    assert add_lists(place, lists) == 2
    assert add_lists(place, read_lists(file)) == 0
    assert load_lists(place) == lists
    assert len(read_lists(file, top=3)[0].results) == 3


def test_known_sets_make_a_list_for_practice(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"query": "a", "id": f"a{i}", "text": "x", "set": known}
        for i, known in enumerate(["k", None, "k", "alone"])
    ]
    rows += [{"query": "b", "id": f"b{i}", "text": "y"} for i in range(2)]
    known, counted = read_lists(written(tmp_path / "l.jsonl", rows))
    assert (known.practice, known.known_sets()) == (True, (1, 0, 1, 0))
    assert not counted.practice


def test_without_known_sets_neardup_says_what_it_finds() -> None:
    text = "the old ferry pier at the harbour will be rebuilt in stone after the council voted"
    results = tuple(
        Listed(str(i), words) for i, words in enumerate([text, "another thing altogether", text])
    )
    assert ResultList("q", "q", results, practice=True).known_sets() == (1, 0, 1)


def test_what_is_no_list_is_said(tmp_path: Path) -> None:
    twice: list[dict[str, object]] = [{"query": "a", "id": "x", "text": "t"}] * 2
    with pytest.raises(InputError, match="'x' is twice in the list of 'a'"):
        read_lists(written(tmp_path / "l.jsonl", twice))
    with pytest.raises(InputError, match="has no list of two results"):
        read_lists(written(tmp_path / "m.jsonl", twice[:1]))
    broken = tmp_path / "n.jsonl"
    broken.write_text("{}\n")
    with pytest.raises(InputError, match="holds no result lists"):
        load_lists(broken)


def test_a_run_is_compared_with_the_sets_of_people() -> None:
    docs = collection()[:9]  # three versions of three documents
    run = nd.find(docs, method="shingles", threshold=0.3)
    results = tuple(Listed(doc["id"], doc["text"]) for doc in docs)
    one, other = ResultList("q", "q", results), made("elsewhere", 3)
    exact, split = (1, 1, 1, 2, 2, 2, 3, 3, 3), (1, 1, 0, 2, 2, 2, 0, 0, 0)
    for sets, found, partial, over in ((exact, 3, 0, 0), (split, 1, 1, 1)):
        labels = both(said(one, sets, "ann"), said(other, (1, 1, 0), "ann"))
        agreed = run_agreement([one, other], verdicts(labels).settled, run)
        assert agreed is not None
        assert agreed["lists"] == 1  # the run has no document of the other list
        counts = agreed["sets"]
        assert (counts["agreement"], counts["partial"]) == (found, partial)
        assert counts["over_identified"] == over
    assert run_agreement([one], {}, run) is None
