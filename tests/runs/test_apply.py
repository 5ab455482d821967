"""A policy on a run: as its slow twin does it, as a new run in that order would decide."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import api as nd
from neardup.errors import DataError, SettingsError
from neardup.methods import registry
from neardup.runs.application import action_counts
from neardup.schema import KINDS
from reference import policy as twin
from reference import rule
from reference import run as runs
from repeats import examples

CRITERIA = ["longest", "shortest", "newest", "oldest", "n:asc", "n:desc", "source:b,a"]
CRITERIA += ["complete:author,tags", "complete:date,source,author"]
ACTIONS = ["keep", "link", "merge", "drop", "review"]


def about(criterion: str) -> str:
    same = {"shortest": "longest", "oldest": "newest", "n:desc": "n:asc"}
    return same.get(criterion, criterion)


ORDERS = st.builds(
    lambda some, last: [*some, *last],
    st.lists(st.sampled_from(CRITERIA), max_size=3, unique_by=about),
    st.sampled_from([[], ["first"], ["last"]]),
)
POLICIES = st.fixed_dictionaries(
    {"order": ORDERS},
    optional={
        "default": st.sampled_from(ACTIONS),
        "actions": st.dictionaries(st.sampled_from(KINDS), st.sampled_from(ACTIONS)),
        "contains": st.sampled_from(ACTIONS),
        "needs": st.dictionaries(
            st.sampled_from(ACTIONS[:-1]),
            st.sampled_from([{"score": 0.8}, {"score": 1.0}, {"confidence": 0.5}]),
            max_size=2,
        ),
        "fields": st.sampled_from([["author"], ["tags", "date"], ["where"]]),
    },
)
EMPTY: list[Any] = [None, "", " \t", [], {}]


def documents(seed: int, count: int = 30) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    made = runs.collection(rng, count)
    for i, document in enumerate(made):
        document["author"] = [*EMPTY, f"author {i}", "Zoë"][rng.integers(7)]
        if rng.integers(2):
            document["tags"] = [*EMPTY[:3], [i], ["news", i]][rng.integers(5)]
        if rng.integers(2):
            url, page = [[*EMPTY, f"url {i}"][rng.integers(6)] for _ in range(2)]
            document["where"] = [None, {}, {"url": url}, {"url": url, "in": {"page": page}}][i % 4]
    made[0].setdefault("tags", None)
    made[1] |= {"author": "someone", "tags": ["x"], "date": "2024-01-01"}
    return made


SETTINGS = runs.Settings(words=2, min_words=5)
NATIVE: dict[str, Any] = {
    "method": "shingles",
    "threshold": 0.8,
    "set": {"words": 2, "min_words": 5, "keys": "prefix"},
    "date": "date",
}


@given(st.integers(0, 2**32), POLICIES)
@examples(30)
def test_a_policy_is_what_its_twin_says(seed: int, policy: dict[str, Any]) -> None:
    docs = documents(seed)
    made = nd.find(docs, **NATIVE).apply(policy)
    rows = made.actions.to_pylist()
    kinds = {
        (row["id"], row["kept_id"]): twin.Told(row["kind"], row["direction"], row["confidence"])
        for row in made.result.decisions.to_pylist()
    }
    match = rule.from_scores(runs.Run(docs, SETTINGS).pairs)
    done, stay = twin.apply(
        docs, policy, match, lambda i, j: kinds.get((docs[i]["id"], docs[j]["id"]), twin.Told())
    )
    for row, expected in zip(rows, done, strict=True):
        kept = None if expected.kept is None else docs[expected.kept]["id"]
        fills = {one["field"]: one["from"] for one in row["fills"] or []}
        assert (row["kept_id"], row["action"]) == (kept, expected.action), row
        assert fills == {name: docs[i]["id"] for name, i in expected.fills.items()}, row
        assert all(f"{name} from {given}" in row["reason"] for name, given in fills.items())
    assert made.documents == stay
    apart = [*made.dropped, *made.merged]
    assert sorted(d["id"] for d in [*stay, *apart]) == sorted(d["id"] for d in docs)
    assert all(d in docs for d in apart)
    assert sum(made.counts.values()) == 2 * len(docs) == 2 * made.counts["documents"]
    assert action_counts(made.actions) == made.counts


@given(st.integers(0, 2**32), ORDERS, ORDERS, st.sampled_from(["rule", "components"]))
@examples(12)
def test_another_order_decides_as_a_new_run(
    seed: int, first: list[str], then: list[str], clusters: str
) -> None:
    docs = [{"id": "bad", "text": None}, *documents(seed), {"id": "d3", "text": "twice"}]
    for document in docs:
        for name in ("author", "tags", "date", "source", "n"):
            document.setdefault(name, None)
    for method in (NATIVE, {"date": "date"}):
        given: dict[str, Any] = {**method, "clusters": clusters}
        made = nd.find(docs, keep="; ".join(first) or "first", **given).apply({"order": then})
        expected = nd.find(docs, keep="; ".join(then) or "first", **given)
        assert made.result.decisions.to_pylist() == expected.decisions.to_pylist()
        assert np.array_equal(made.result.rank, expected.rank)


@pytest.mark.parametrize("method", registry.METHODS)
def test_another_order_with_any_method(method: str) -> None:
    docs = runs.collection(np.random.default_rng(5), 100)
    given: dict[str, Any] = {"method": method, "date": "date"}
    found = nd.find(docs, **given)
    for keep in ("last", "longest; last"):
        made = found.apply({"order": keep.split("; ")}).result
        assert made.decisions.equals(nd.find(docs, keep=keep, **given).decisions)


def test_the_reason_names_the_criterion_that_decided() -> None:
    text = " ".join(f"w{i}" for i in range(30))
    docs = [
        {"id": "old", "text": text, "source": "a", "date": "2001-01-01"},
        {"id": "new", "text": text, "source": "a", "date": "2002-01-01"},
        {"id": "same", "text": text, "source": "a", "date": "2002-01-01"},
        {"id": "other", "text": text, "source": "b", "date": "2003-01-01"},
        {"id": "alone", "text": " ".join(f"v{i}" for i in range(30)), "source": "a", "date": None},
    ]
    made = nd.dedup(docs, date="date").apply({"order": ["source:a", "newest"], "default": "drop"})
    told = {row["id"]: row["reason"] for row in made.actions.to_pylist()}
    first = "dropped: identical copy, score 1.0000, of new, which comes first by "
    assert told["old"] == first + "newest."
    assert told["same"] == first + "position in the input."
    assert told["other"] == first + "source:a."
    assert told["new"] == "kept: it stands for 3 copies."
    assert told["alone"] == "kept: it matches no kept document before it."


def test_what_is_not_sure_enough_goes_to_review() -> None:
    text = [f"w{i}" for i in range(40)]
    docs = [" ".join([*text, "x", "y"]), " ".join(text)]
    policy = {"default": "drop", "needs": {"drop": {"score": 0.99, "confidence": 1.0}}}
    made = nd.dedup(docs, method="shingles").apply(policy)
    assert made.counts["review"] == 1
    reason = made.actions["reason"][1].as_py()
    assert reason.startswith("for review instead of drop (score 0.9")
    assert re.search(r"0.99 is asked; confidence 0.\d+, 1 is asked\)", reason)
    assert made.documents == docs


def test_a_copy_that_says_more_is_not_dropped() -> None:
    """The kept one is an excerpt of it, so dropping it would lose a text."""
    text = [f"w{i}" for i in range(40)]
    docs = [" ".join(text), " ".join([*text, "and", "more"]), " ".join(text[:38])]
    result = nd.dedup(docs, method="shingles")
    made = result.apply({"default": "drop"})
    assert made.actions["action"].to_pylist() == ["keep", "review", "drop"]
    more = made.actions["reason"][1].as_py()
    assert more.startswith("for review instead of drop (it says more than what is kept): excerpt, ")
    assert made.documents == docs[:2]
    assert result.apply({"default": "drop", "contains": "drop"}).documents == docs[:1]


TEXT = "the court of appeal dismissed the claim of the tenant on the ninth of may"


def test_a_merge_fills_fields_inside_objects(tmp_path: Path) -> None:
    court = '{"id":1,"meta":{"body":"?", "docket" : null,"n":1.50, "in":{}},"own":"x"}'
    court = court.replace("?", TEXT)
    copies = [
        {"id": 2, "meta": {"body": TEXT, "docket": "12/24", "in": {"page": 3}}, "own": {"y": 1}},
        {"id": 3, "meta": {"body": TEXT, "docket": "late", "in": {"page": 9, "of": 10}}},
    ]
    path = tmp_path / "decisions.jsonl"
    path.write_text("\n".join([court, *map(json.dumps, copies)]))
    result = nd.dedup(path, text="meta.body", **{**NATIVE, "date": None})
    policy: dict[str, Any] = {"default": "merge"}
    applied = result.apply(policy)
    applied.write(tmp_path / "made")
    filled = '"docket" : "12/24","n":1.50, "in":{"page": 3, "of": 10}}'
    expected = court.replace('"docket" : null,"n":1.50, "in":{}}', filled)
    assert (tmp_path / "made/documents.jsonl").read_text().rstrip() == expected
    assert (
        "meta.docket from 2, meta.in from 2, meta.in.of from 3."
        in applied.actions["reason"][0].as_py()
    )
    some = result.apply({**policy, "fields": ["meta.in.page"]}).documents
    assert some["meta"].to_pylist() == [json.loads(court)["meta"] | {"in": {"page": 3}}]


def test_a_merge_fills_fields_of_structures() -> None:
    rows = [{"id": i, "text": TEXT, "meta": {"a": a, "b": i}} for i, a in enumerate(["", "x", "y"])]
    for documents in (pa.Table.from_pylist(rows), rows):
        filled = (
            nd.dedup(documents, **{**NATIVE, "date": None}).apply({"default": "merge"}).documents
        )
        as_rows = filled.to_pylist() if isinstance(filled, pa.Table) else filled
        assert as_rows == [rows[0] | {"meta": {"a": "x", "b": 0}}]


def test_the_policy_of_the_run_counts_where_none_is_given() -> None:
    docs = documents(3)
    policy = {"order": ["newest"], "date": "date", "default": "drop", "contains": "drop"}
    result = nd.dedup(docs, policy=policy, **{**NATIVE, "date": None})
    assert result.decisions.equals(nd.dedup(docs, keep="newest", **NATIVE).decisions)
    assert result.actions.equals(result.apply().actions)
    assert result.apply().documents == result.kept
    # A policy without an order has that of the run.
    assert result.apply({"default": "drop", "contains": "drop"}).documents == result.kept
    with pytest.raises(SettingsError, match="without a policy, and none is given"):
        _ = nd.dedup(docs, **NATIVE).actions


def test_partial_pairs_are_never_taken_for_all() -> None:
    docs = documents(5, 60)
    part = nd.find(docs, max_pairs=3, **NATIVE)
    assert not part.pairs_complete
    same = part.apply({"default": "drop", "contains": "drop"})
    assert same.result.decisions.equals(part.decisions)
    with pytest.raises(SettingsError, match=r"listed only some of its pairs.*neardup find"):
        part.apply({"order": ["last"]})


def test_references_are_never_changed(tmp_path: Path) -> None:
    text = " ".join(f"w{i}" for i in range(30))
    path = tmp_path / "ref.jsonl"
    path.write_text(f'{{"id": "r", "text": "{text}", "author": ""}}\n')
    docs = [{"id": "a", "text": text, "author": "x"}, {"id": "b", "text": "other", "author": "y"}]
    result = nd.dedup(docs, against=[path])
    made = result.apply({"default": "merge"})
    assert made.actions["action"].to_pylist() == ["link", "keep"]
    assert made.actions["reason"][0].as_py().endswith("of ref:r, which is a reference.")
    assert result.apply({"order": ["last"]}).result.decisions.equals(result.decisions)


@given(st.integers(0, 2**32), ORDERS, st.sampled_from(["rule", "components"]))
@examples(15)
def test_another_order_against_references(seed: int, then: list[str], clusters: str) -> None:
    docs = documents(seed, 50)
    for document in docs:
        for name in ("author", "tags"):
            document.setdefault(name, None)
    given: dict[str, Any] = {**NATIVE, "clusters": clusters}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ref.jsonl"
        path.write_text("".join(json.dumps(document) + "\n" for document in docs[:20]))
        made = nd.find(docs[20:], against=[path], **given).apply({"order": then})
        expected = nd.find(docs[20:], against=[path], keep="; ".join(then) or "first", **given)
    assert made.result.decisions.to_pylist() == expected.decisions.to_pylist()


def test_ids_that_look_like_references_are_not_guessed_at(tmp_path: Path) -> None:
    path = tmp_path / "ref.jsonl"
    text = " ".join(f"w{i}" for i in range(30))
    path.write_text(json.dumps({"id": "x", "text": text}))
    docs = [{"id": "ref:x", "text": text}, {"id": "b", "text": text}]
    with pytest.raises(SettingsError, match="look like those of its references"):
        nd.find(docs, against=[path]).apply({"order": ["last"]})


def test_a_result_without_its_documents_says_so(tmp_path: Path) -> None:
    folder = nd.dedup(documents(1), **NATIVE).save(tmp_path / "out")
    with pytest.raises(DataError, match="in memory"):
        nd.Result.load(folder).apply({"default": "drop"})


@pytest.mark.parametrize("docs", [[], ["one"], [None, None]])
def test_almost_nothing(docs: list[Any]) -> None:
    made = nd.dedup(docs).apply({"order": ["longest"], "default": "drop", "contains": "drop"})
    assert made.counts["documents"] == len(docs)
    assert made.documents == [d for d in docs if d]
    assert isinstance(made.links, pa.Table)
