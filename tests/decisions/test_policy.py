"""Policies as written: what is wrong is said, all of it, with what was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from neardup.decisions.policy import parse_policy, read_policy
from neardup.errors import ColumnError, NeardupError, SettingsError

BAD: list[tuple[dict[str, Any], list[str]]] = [
    ({"ordr": ["first"]}, ["has 'ordr'", "did you mean 'order'?"]),
    ({"order": ["newst"]}, ["order is 'newst'", "expected first, last"]),
    ({"order": 3}, ["order is 3"]),
    ({"order": [3]}, ["order is [3]"]),
    ({"order": ["newest"]}, ["order 'newest' needs to know which column is the date"]),
    ({"order": ["newest", "oldest"], "date": "d"}, ["'oldest' contradicts 'newest'"]),
    ({"order": ["n:asc", "longest", "n:desc"]}, ["'n:desc' contradicts 'n:asc'"]),
    ({"order": ["first", "last"]}, ["'last' contradicts 'first'"]),
    ({"order": ["longest", "longest"]}, ["'longest' is listed twice"]),
    ({"order": ["last", "longest"]}, ["'longest' comes after a criterion that leaves no ties"]),
    ({"order": ["source:a,,b"]}, ["has an empty name"]),
    ({"order": ["complete:a,a"]}, ["has a name twice"]),
    ({"order": [""]}, ["order is ''"]),
    ({"actions": {"identicle": "drop"}}, ["has 'identicle'", "did you mean 'identical'?"]),
    ({"actions": {"identical": "dorp"}}, ["of identical is 'dorp'", "did you mean 'drop'?"]),
    ({"actions": {"identical": None}}, ["of identical is None", "keep, link, merge"]),
    ({"actions": ["drop"]}, ["actions is ['drop']"]),
    ({"default": "delete"}, ["default is 'delete'", "actions are keep, link, merge"]),
    ({"default": ["drop"]}, ["default is ['drop']"]),
    ({"needs": {"drop": 0.9}}, ["needs is"]),
    ({"needs": {"dropp": {}}}, ["did you mean 'drop'?"]),
    ({"needs": {"review": {}}}, ["needs has 'review'"]),
    ({"needs": {"drop": {"scor": 1}}}, ["did you mean 'score'?"]),
    ({"needs": {"drop": {"score": 2}}}, ["score is 2", "from 0 to 1"]),
    ({"needs": {"drop": {"score": True}}}, ["score is True"]),
    ({"needs": {"drop": {"score": float("nan")}}}, ["score is nan"]),
    ({"fields": "author"}, ["fields is 'author'"]),
    ({"fields": []}, ["fields is []"]),
    ({"date": 3}, ["date is 3"]),
    (
        {"order": ["best", "first", "last"], "default": "x", "actions": {"y": "z"}, "no": 1},
        ["6 settings are wrong", "'best'", "contradicts", "'x'", "'y'", "'z'", "'no'"],
    ),
]


@pytest.mark.parametrize(("written", "sentences"), BAD, ids=lambda value: str(value)[:40])
def test_bad_policies(written: dict[str, Any], sentences: list[str]) -> None:
    with pytest.raises(SettingsError) as caught:
        nd.dedup(["a", "b"], policy=written)
    for sentence in sentences:
        assert sentence in str(caught.value)


def test_a_file_says_the_same_as_a_dict(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(
        'order = ["source:a,b", "newest"]\ndate = "day"\ndefault = "drop"\nfields = ["author"]\n'
        '[actions]\nidentical = "merge"\n[needs]\nmerge = {score = 1}\n',
        "utf-8",
    )
    policy = read_policy(path)
    assert policy.action("identical") == "merge"
    assert policy.action("revision") == policy.action(None) == "drop"
    assert parse_policy(policy.describe(), "again") == policy
    path.write_text("order = [")
    with pytest.raises(SettingsError, match="not valid TOML"):
        read_policy(path)
    with pytest.raises(SettingsError, match="cannot be read"):
        read_policy(tmp_path / "nowhere.toml")


def test_one_order() -> None:
    assert read_policy({}, keep="longest; last").order.criteria[1].written == "last"
    with pytest.raises(SettingsError, match="has an order, and keep is 'longest'"):
        nd.dedup(["a"], policy={"order": ["first"]}, keep="longest")
    with pytest.raises(SettingsError, match="separated by ';'"):
        nd.dedup(["a"], keep="longest,newest")


DOCS = [{"id": "a", "text": "one", "author": "x"}, {"id": "b", "text": "two", "author": "y"}]


@pytest.mark.parametrize(
    ("policy", "sentences"),
    [
        ({"order": ["autor:asc", "yaer:desc"]}, ["'autor' is not in", "'author'?", "'yaer'"]),
        ({"order": ["text:asc"], "fields": ["id"]}, ["text column", "would fill 'id'"]),
        ({"fields": ["autor"]}, ["Column 'autor' is in none of the inputs"]),
    ],
)
def test_columns_that_are_not_there(policy: dict[str, Any], sentences: list[str]) -> None:
    for act in (lambda: nd.dedup(DOCS, policy=policy), lambda: nd.find(DOCS).apply(policy)):
        with pytest.raises((ColumnError, SettingsError)) as caught:
            act()
        assert all(sentence in str(caught.value) for sentence in sentences), caught.value


def test_a_column_that_a_later_file_lacks_is_told_before_work(tmp_path: Path) -> None:
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    paths[0].write_text('{"text": "one", "n": 1}\n')
    paths[1].write_text('{"text": "two", "m": 1}\n')
    with pytest.raises(NeardupError, match=r"'n' is not in .*b\.jsonl"):
        nd.dedup(paths, keep="n:asc")
