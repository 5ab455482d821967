"""An index that no collection was counted for begins with general tables, whatever its method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from engines.index.test_equality import check_as_batch, families, fed, real
from neardup.artefacts.frequencies import UNKNOWN_OF
from neardup.engines.index.index_artefacts import ENOUGH, Tables, hint
from neardup.engines.index.refresh import refresh
from neardup.errors import SettingsError, SignatureError
from neardup.methods import registry

GENERAL: dict[str, Any] = {"frequencies": "general", "threshold": 0.5}
SHINGLES = {"method": "rareshingles", "vocabulary": "general", **GENERAL}
FILES = {
    "fingerprint": ("idf",),
    "imatch": ("idf",),
    "keywords": ("idf",),
    "termvector": ("idf",),
}


def test_the_default_needs_nothing(tmp_path: Path) -> None:
    """Also when it is opened again, by someone who names nothing either."""
    documents = families(1, 60)
    with nd.Index.open(tmp_path / "new.db") as index:
        answers = index.add_many(documents[:40])
    with nd.Index.open(tmp_path / "new.db") as index:
        answers += index.add_many(documents[40:])
        made = index.described()
    assert made["method"] == registry.DEFAULT
    assert made["tables"]["general"]
    assert 10 < sum(match is not None for match in answers) < 50


@pytest.mark.parametrize("method", registry.names())
def test_every_method_begins_without_a_collection(method: str) -> None:
    documents = families(2, 30)
    with nd.Index.open("memory:", method=method) as index:
        index.add_many(documents)
        assert index.check(documents[0]["text"]) is not None


def test_decides_as_a_run_with_the_same_tables(tmp_path: Path) -> None:
    documents = families(3, 150)
    batch = nd.dedup(documents, keep="first", **GENERAL)
    with nd.Index.open(tmp_path / "index.db") as index:
        online = fed(index, documents, 4).decisions()
    columns = ["id", "decision", "reason", "kept_id", "score", "kind"]
    expected = batch.decisions.select(columns)
    assert online.select(columns).to_pylist() == expected.to_pylist()
    assert batch.counts.duplicates > 20


@pytest.mark.parametrize("method", sorted(FILES))
def test_methods_on_terms_decide_as_a_run_does(method: str) -> None:
    documents = families(4, 100)
    settings = {"method": method, **dict.fromkeys(FILES[method], "general")}
    batch = nd.dedup(documents, keep="first", **settings)
    check_as_batch(batch, documents, settings, "memory:", 5)
    with nd.Index.open("memory:", method=method) as index:
        digests = index.described()["signature"]["artefacts"]
    assert digests == {name: one.digest for name, one in batch.artefacts.items()}


@pytest.mark.parametrize("settings", [GENERAL, SHINGLES])
@pytest.mark.parametrize("name", ["press_de", "licences"])
def test_on_real_documents(data: Path, name: str, settings: dict[str, Any]) -> None:
    documents = real(data, name, 400)
    batch = nd.dedup(documents, keep="first", **settings)
    check_as_batch(batch, documents, settings, "memory:", 6)


def test_refresh_counts_the_collection(tmp_path: Path) -> None:
    """Afterwards the index is what it would be had it been built from these documents."""
    documents = families(5, 120)
    counted = nd.dedup(documents, keep="first")
    with nd.Index.open(tmp_path / "old.db") as old:
        old.add_many(documents)
        general = old.described()
        refresh(old, tmp_path / "new.db", counted)
    with nd.Index.open(tmp_path / "new.db") as new:
        made, decisions = new.described(), new.decisions()
    assert Tables.in_use(general) == Tables(True, UNKNOWN_OF, general["tables"]["frozen"])
    assert str(Tables.in_use(made)).startswith("counted from 120 documents, frozen on 20")
    assert made["signature"]["artefacts"].keys() == counted.artefacts.keys()
    columns = ["id", "decision", "reason", "kept_id", "score"]
    expected = counted.decisions.select(columns)
    assert decisions.select(columns).to_pylist() == expected.to_pylist()


def test_a_threshold_that_is_named_holds() -> None:
    with nd.Index.open("memory:", threshold=0.7) as index:
        assert index.method.threshold == 0.7
    with nd.Index.open("memory:") as index:
        assert index.method.threshold == 0.5


def test_texts_are_there_to_be_counted_unless_they_shall_not() -> None:
    for texts, stored in ((None, True), (True, True), (False, False)):
        with nd.Index.open("memory:", texts=texts) as index:
            assert index.described()["texts"] is stored
    with nd.Index.open("memory:", method="shingles") as index:
        assert index.described()["texts"] is False


def test_tables_are_not_mixed(tmp_path: Path) -> None:
    documents = families(6, 40)
    counted = nd.dedup(documents)
    nd.Index.open(tmp_path / "index.db").close()
    with pytest.raises(SignatureError, match="differ in frequencies"):
        nd.Index.open(tmp_path / "index.db", artefacts=counted)
    keywords = nd.dedup(documents, method="keywords")
    with pytest.raises(SettingsError, match="raregrams needs frequencies of"):
        nd.Index.open("memory:", artefacts=keywords)


def test_a_hint_when_there_is_enough_to_count() -> None:
    with nd.Index.open("memory:") as index:
        made = index.described()
    assert hint(made, ENOUGH - 1) is None
    assert "neardup index refresh STORE NEW" in str(hint(made, ENOUGH))
    assert "no texts to count" in str(hint({**made, "texts": False}, ENOUGH))
    assert hint({**made, "tables": None}, ENOUGH) is None
    assert hint({**made, "tables": {**made["tables"], "general": False}}, ENOUGH) is None
