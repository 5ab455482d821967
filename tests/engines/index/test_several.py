"""An index of several methods: one is enough, and a match says which it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import neardup as nd
from engines.index.test_equality import COLUMNS, families, fed
from neardup.errors import SettingsError, SignatureError

METHODS = ["exact", "shingles words=2 threshold=0.6", "simhash distance=6"]


def test_decides_as_a_run_of_them_combined() -> None:
    documents = families(4, 120)
    batch = nd.dedup(documents, method="combined", methods=METHODS, rule="union")
    with nd.Index.open("memory:", method=METHODS) as index:
        found = fed(index, documents, 4).decisions().select(COLUMNS)
    assert found.to_pylist() == batch.decisions.select(COLUMNS).to_pylist()


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgresql"])
def test_a_match_names_the_methods_that_find_it(kind: str, new_url: Callable[[str], str]) -> None:
    """Those that alone would, also after it is opened again."""
    documents = families(5, 60)
    texts = {one["id"]: one["text"] for one in documents}
    url = new_url(kind)
    with nd.Index.open(url, method=METHODS) as index:
        told = dict(zip(texts, index.add_many(documents), strict=True))
        stored = {entry.id: entry.by for entry in index}
    matches = {id_: match for id_, match in told.items() if match is not None}
    assert len({match.by for match in matches.values()}) > 2
    for id_, match in matches.items():
        alone = [m for m in METHODS if is_duplicate(texts[id_], texts[match.of], m)]
        assert match.by == tuple(alone)
    assert stored == {id_: match and match.by for id_, match in told.items()}
    if kind != "memory":
        with nd.Index.open(url, method=METHODS) as index:
            assert index.check(documents[0]).by == tuple(METHODS)  # type: ignore[union-attr]


def is_duplicate(one: str, other: str, written: str) -> bool:
    with nd.Index.open("memory:", method=[written]) as index:
        index.add(one)
        return index.add(other) is not None


def test_equal_texts_that_are_too_short_for_all() -> None:
    with nd.Index.open("memory:", method=METHODS[1:]) as index:
        index.add({"id": "a", "text": "one two"})
        match = index.check("One, two!")
    assert match is not None
    assert match[:5] == ("a", 1.0, "equal", "normalised", tuple(METHODS[1:]))


@pytest.mark.parametrize(
    ("methods", "said"),
    [
        ([], "no method in the list"),
        (["exact", "nonsense"], "nonsense"),
        (["exact", 7], "expected a list of methods"),
    ],
)
def test_what_makes_no_index(methods: list[Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        nd.Index.open("memory:", method=methods)


def test_each_method_begins_with_general_tables() -> None:
    """Or with none, as the first does."""
    with nd.Index.open("memory:", method=["exact", "keywords", "rareshingles"]) as index:
        made = index.described()
    named = {"2-idf", "3-frequencies", "3-vocabulary"}
    assert (made["signature"]["artefacts"].keys(), made["tables"]["general"]) == (named, True)


def test_other_methods_are_refused(new_url: Callable[[str], str]) -> None:
    url = new_url("sqlite")
    nd.Index.open(url, method=METHODS).close()
    with pytest.raises(SignatureError, match="they differ in methods"):
        nd.Index.open(url, method=METHODS[:2])
