from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import ColumnError
from neardup.labels.gold import NEGATIVE, POSITIVE, UNKNOWN, Gold, from_groups, unranked
from neardup.labels.labelled_pairs import from_pairs, read_pairs

# True is 1 and False 0, as keys too.
MEANT: dict[object, int] = {"duplicate": 1, True: 1, "NOT": 0, False: 0}


IDS = ["a", "b", "c", "d", "e"]


def every_pair(count: int) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.triu_indices(count, 1)
    return a.astype(np.int64), b.astype(np.int64)


def check_positives(gold: Gold) -> None:
    """They are the pairs that are called positive, and as many as are counted."""
    a, b = every_pair(gold.documents)
    positive = gold.classes(a, b) == POSITIVE
    found = list(zip(*(side.tolist() for side in gold.positives()), strict=True))
    assert found == list(zip(a[positive].tolist(), b[positive].tolist(), strict=True))
    assert gold.positive_count() == len(found)
    if gold.same is not None:
        hard = [(i, j) for i, j in found if gold.same[i] != gold.same[j]]
        assert gold.positive_count(hard=True) == len(hard)
        assert gold.unit_positives(hard=True).sum() == len(hard)
    units = gold.units()
    assert all(units[i] == units[j] for i, j in found)
    counts = np.bincount([units[i] for i, _ in found], minlength=len(gold.unit_positives()))
    assert gold.unit_positives().tolist() == counts.tolist()
    for limit in (0, 1, 3, 100):
        few = list(zip(*(side.tolist() for side in gold.positives(limit)), strict=True))
        assert few == sorted(set(few) & set(found))
        assert len(few) == len(found) if limit >= len(found) else len(few) <= limit


def test_pairs_have_numbers() -> None:
    low, high = unranked(np.arange(5050))
    assert (low < high).all()
    assert len(set(zip(low.tolist(), high.tolist(), strict=True))) == 5050
    assert high.max() == 100
    far = 10**6 * (10**6 - 1) // 2
    assert [side.tolist() for side in unranked(np.array([far - 1, far]))] == [
        [10**6 - 2, 0],
        [10**6 - 1, 10**6],
    ]


@given(st.lists(st.tuples(st.sampled_from([None, "", "x", "y", "z"]), st.integers(0, 2))))
def test_groups_are_all_pairs_within(rows: list[tuple[str | None, int]]) -> None:
    values, same = [value for value, _ in rows], np.array([text for _, text in rows], np.int64)
    for complete in (True, False):
        gold = from_groups(values, complete=complete, same=same)
        a, b = every_pair(len(values))
        for i, j, found in zip(a, b, gold.classes(a, b), strict=True):
            one, other = values[i], values[j]
            if not one or not other:
                assert found == UNKNOWN
            elif one == other:
                assert found == POSITIVE
            else:
                assert found == (NEGATIVE if complete and same[i] != same[j] else UNKNOWN)
        check_positives(gold)


def test_numbers_are_groups_too() -> None:
    gold = from_groups(pa.array([3, 3, None, 4]))
    assert gold.classes(np.array([0, 0, 0]), np.array([1, 2, 3])).tolist() == [1, -1, 0]
    assert gold.labels(np.array([0, 0, 0]), np.array([1, 2, 3])).tolist() == [
        "same group",
        "",
        "other group",
    ]


def test_no_number_is_no_group() -> None:
    gold = from_groups(pa.array([float("nan"), float("nan"), 1.5, 1.5]))
    assert gold.group.tolist()[:2] == [-1, -1]
    assert gold.positive_count() == 1


def test_lists_are_no_groups() -> None:
    with pytest.raises(ColumnError, match="type list"):
        from_groups([["x"], ["y"]])


labelled = st.lists(
    st.fixed_dictionaries(
        {
            "a": st.sampled_from([*IDS, "nobody"]),
            "b": st.sampled_from([*IDS, None]),
            "label": st.sampled_from(["duplicate", True, 1, "NOT", 0.0, "undecided", None]),
        }
    ),
    max_size=12,
)


@given(labelled, st.booleans())
def test_pairs_are_what_their_labels_say(rows: list[dict[str, object]], complete: bool) -> None:
    same = np.array([0, 1, 1, 2, 3])
    gold = from_pairs(rows, IDS, complete=complete, same=same)
    said: dict[frozenset[int], set[int]] = {}
    strange = itself = 0
    for row in rows:
        if row["a"] not in IDS or row["b"] not in IDS:
            strange += 1
        elif row["a"] == row["b"]:
            itself += 1
        else:
            pair = frozenset((IDS.index(str(row["a"])), IDS.index(str(row["b"]))))
            meant = MEANT.get(row["label"])
            said.setdefault(pair, set()).update([] if meant is None else [meant])
    assert (gold.unused.unknown_ids, gold.unused.with_itself) == (strange, itself)
    assert gold.unused.contradicting == sum(len(votes) == 2 for votes in said.values())
    for i, j in combinations(range(len(IDS)), 2):
        votes = said.get(frozenset((i, j)))
        unlisted = NEGATIVE if complete and same[i] != same[j] else UNKNOWN
        expected = unlisted if votes is None else (votes.pop() if len(votes) == 1 else UNKNOWN)
        assert gold.classes(np.array([j]), np.array([i])).tolist() == [expected]
    check_positives(gold)


def test_labels_keep_their_names() -> None:
    rows = [
        {"a": "a", "b": "b", "label": "cut"},
        {"a": "c", "b": "b", "label": "heavy"},
        {"a": "d", "b": "a", "label": "non"},
    ]
    gold = from_pairs(rows, IDS, positive=["cut"], negative=["non"])
    assert gold.labels(np.array([0, 1, 0, 3]), np.array([1, 2, 3, 4])).tolist() == [
        "cut",
        "heavy",
        "non",
        "",
    ]
    assert gold.label_counts() == {"cut": 1, "heavy": 1, "non": 1}
    assert gold.unused.other_labels == {"heavy": 1}
    assert gold.clusters() is None


def test_a_missing_id_is_no_rejected_document() -> None:
    gold = from_pairs([{"a": None, "b": "b", "label": "yes"}], [None, "b"])
    assert gold.unused.unknown_ids == 1
    assert gold.positive_count() == 0


def test_complete_pairs_make_clusters() -> None:
    rows = [{"a": "a", "b": "b", "label": "yes"}, {"a": "b", "b": "d", "label": "yes"}]
    clusters = from_pairs(rows, IDS, complete=True).clusters()
    assert clusters is not None
    assert clusters[0] == clusters[1] == clusters[3]
    assert len(set(clusters.tolist())) == 3


def test_precision_is_known_where_people_found_every_pair_right() -> None:
    """A list of duplicates says nothing of precision; a sample that was judged does."""
    listed = [{"a": "x", "b": "y", "label": "duplicate"}]
    judged = [{**row, "assessor": "ann"} for row in listed]
    assert not from_pairs(read_pairs(listed), ["x", "y"]).negatives_known()
    assert from_pairs(read_pairs(judged), ["x", "y"]).negatives_known()
