"""A new index with new tables is what it would be had all arrived there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neardup as nd
from neardup.engines.index import refresh as module
from neardup.engines.index.refresh import refresh
from neardup.errors import IndexStoreError, SettingsError
from reference.run import collection

START = 1_700_000_000.0
RARE: dict[str, Any] = {"method": "rareshingles", "texts": True, "window": "90m"}


def texts(seed: int, count: int) -> list[dict[str, str]]:
    made = collection(np.random.default_rng(seed), count)
    return [{"id": one["id"], "text": one["text"]} for one in made]


def test_new_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Removals, new versions and expiry that happen meanwhile are taken along."""
    monkeypatch.setattr(module, "BATCH", 7)
    documents = [
        {"id": d["id"], "text": d["text"]} for d in collection(np.random.default_rng(2), 160)
    ]
    first, second = (nd.dedup(some, method="rareshingles") for some in (documents[:30], documents))
    now = [START]
    with nd.Index.open(tmp_path / "old.db", clock=lambda: now[0], artefacts=first, **RARE) as old:
        old.add_many(documents[:90])
        busy = iter([True])
        follow = old.store.changes

        def changes(since: int, *, duplicates: bool) -> Any:
            yield from list(follow(since, duplicates=duplicates))
            if next(busy, False):  # while the first round is read
                now[0] += 3600
                old.add_many(documents[90:130])
                old.remove(documents[0]["id"])
                old.remove(documents[100]["id"])
                old.update({**documents[140], "id": documents[3]["id"]})
                now[0] += 3600
                old.add_many(documents[141:])

        monkeypatch.setattr(old.store, "changes", changes)
        told = refresh(old, tmp_path / "new.db", second)
        before = [entry.id for entry in old]
    with nd.Index.open(tmp_path / "new.db") as new:
        after = list(new)
        digests = new.described()["signature"]["artefacts"]
    assert {entry.id for entry in after} == set(before)
    assert digests == {n: a.digest for n, a in second.artefacts.items()}
    assert told.documents == len(before)
    assert told.same + told.now_kept + told.now_duplicate + told.of_another == told.documents


def test_the_same_tables_change_nothing(tmp_path: Path) -> None:
    documents = [
        {"id": d["id"], "text": d["text"]} for d in collection(np.random.default_rng(4), 80)
    ]
    tables = nd.dedup(documents, method="rareshingles")
    with nd.Index.open(tmp_path / "old.db", artefacts=tables, **RARE) as old:
        old.add_many(documents)
        old.remove(documents[0]["id"])
        told = refresh(old, "memory:", tables)
    assert told == (79, 79, 0, 0, 0)


def test_groups_and_methods_go_along(tmp_path: Path) -> None:
    documents = [{**one, "lang": "ab"[number % 2]} for number, one in enumerate(texts(6, 60))]
    asked: dict[str, Any] = {"method": ["exact", "shingles words=2 threshold=0.5"]}
    with nd.Index.open(tmp_path / "old.db", **asked, within="lang", texts=True) as old:
        old.add_many(documents)
        told = refresh(old, tmp_path / "new.db", None)
        entries = list(old)
    assert told == (60, 60, 0, 0, 0)
    with nd.Index.open(tmp_path / "new.db", **asked, within="lang") as new:
        assert list(new) == entries


def test_what_cannot_be_signed_again(tmp_path: Path) -> None:
    dated = {"method": "simhash", "fields": {"title": 2}, "texts": True}
    for settings, said in (({"method": "shingles"}, "no texts"), (dated, "also reads 'title'")):
        with (
            nd.Index.open("memory:", **settings) as old,
            pytest.raises(SettingsError, match=said),
        ):
            refresh(old, tmp_path / "new.db", None)
    assert not (tmp_path / "new.db").exists()


def test_more_happens_than_the_log_remembers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOG", 20)
    with nd.Index.open(tmp_path / "old.db", method="shingles", texts=True) as old:
        old.add_many(texts(7, 5))
        follow = old.store.changes

        def changes(since: int, *, duplicates: bool) -> Any:
            yield from follow(since, duplicates=duplicates)
            old.add_many([{**one, "id": f"later {one['id']}"} for one in texts(8, 30)])

        monkeypatch.setattr(old.store, "changes", changes)
        with pytest.raises(IndexStoreError, match="than its log remembers"):
            refresh(old, tmp_path / "new.db", None)


def test_a_new_version_between_two_looks_is_taken_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = texts(5, 60)
    tables = nd.dedup(documents, method="rareshingles")
    with nd.Index.open(tmp_path / "old.db", artefacts=tables, **RARE) as old:
        old.add_many(documents[:50])
        events = iter([documents[50], {**documents[51], "id": documents[0]["id"]}])
        follow = old.store.changes

        def changes(since: int, *, duplicates: bool) -> Any:
            if event := next(events, None):  # after the counters were read
                old.update(event)
            return follow(since, duplicates=duplicates)

        monkeypatch.setattr(old.store, "changes", changes)
        refresh(old, tmp_path / "new.db", tables)
        with nd.Index.open(tmp_path / "new.db") as new:
            assert {entry.id: entry.text for entry in new} == {e.id: e.text for e in old}
