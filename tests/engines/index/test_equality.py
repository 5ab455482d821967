"""Fed document by document, an index decides as ``dedup(keep="first")`` with the same artefacts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neardup as nd
from neardup.methods import registry
from neardup.testing import HOSTILE
from reference.run import collection
from test_real_data import rows

COLUMNS = ["id", "decision", "reason", "kept_id", "score"]
TOLD = [*COLUMNS, "kind"]  # where the index has the texts
Document = dict[str, Any]

# Every method as it comes, and those of other kinds of keys.
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in registry.names()),
    ("combined", {"methods": ["exact", "shingles measure=containment"], "rule": "union"}),
    ("join", {"measure": "containment", "min_words": 1, "size": 2}),
    ("join", {"features": "windows", "every": 8, "measure": "containment", "threshold": 0.25}),
    ("keywords", {"per": "sentence", "measure": "extended_jaccard", "k": 5, "threshold": 0.3}),
    ("qgrams", {"keys": "prefix"}),
    ("rareshingles", {"calibrate": False, "templates": "accept", "words": 1, "min_words": 0}),
    ("shingles", {"measure": "containment", "threshold": 0.6, "words": 2, "min_words": 3}),
    ("shingles", {"weights": "idf", "words": 2, "threshold": 0.4}),
    ("shingles", {"keys": "prefix", "words": 1, "threshold": 0.3, "min_words": 0}),
    ("simhash", {"weights": "idf", "bits": 128, "distance": 10}),
    ("simhash", {"weak_bits": 12}),
    ("supershingles", {"variant": "broder", "threshold": 0.2, "min_words": 0}),
    ("termvector", {"packed": True, "size": 20}),
]


def families(seed: int, count: int) -> list[Document]:
    """Words of letters only, which every kind of terms takes."""
    made = collection(np.random.default_rng(seed), count)
    return [
        {**one, "text": re.sub(r"\d", lambda d: "abcdefghij"[int(d[0])], one["text"])}
        for one in made
    ]


def fed(index: nd.Index, documents: list[Document], seed: int) -> nd.Index:
    """In batches of random sizes, single ones among them."""
    rng = np.random.default_rng(seed)
    done = 0
    while done < len(documents):
        size = int(rng.choice([1, 1, 2, 7, 40]))
        part = documents[done : done + size]
        if len(part) == 1:
            index.add(part[0])
        else:
            index.add_many(part)
        done += size
    return index


def check_equal(
    documents: list[Document], settings: dict[str, Any], url: Any, seed: int, **own: Any
) -> None:
    """``own`` settings are those that only an index has."""
    batch = nd.dedup(documents, keep="first", **settings)
    check_as_batch(batch, documents, {**settings, **own}, url, seed)


def check_as_batch(
    batch: nd.Result, documents: list[Document], settings: dict[str, Any], url: Any, seed: int
) -> None:
    columns = TOLD if settings.get("texts") else COLUMNS
    with nd.Index.open(url, artefacts=batch, **settings) as index:
        online = fed(index, documents, seed).decisions().select(columns)
    expected = batch.decisions.select(columns).to_pylist()
    for theirs, ours in zip(expected, online.to_pylist(), strict=True):
        assert ours == theirs


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_on_families_of_edited_texts(variant: tuple[str, dict[str, Any]]) -> None:
    """Kinds too, as the index has the texts."""
    name, parameters = variant
    settings = {"method": name, "set": parameters}
    check_equal(families(1, 120), settings, "memory:", 1, texts=True)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_within_groups(variant: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    """Of values of any sort; those without one are a group too."""
    name, parameters = variant
    groups = [None, "a", 1, "1", ["a"], {}]
    documents = [
        {**one, "group": groups[number * 7 % len(groups)]}
        for number, one in enumerate(families(2, 120))
    ]
    settings = {"method": name, "set": parameters, "within": "group"}
    check_equal(documents, settings, tmp_path / "index.db", 2)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_on_hostile_texts(variant: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    name, parameters = variant
    documents = [{"id": str(i), "text": text} for i, text in enumerate(HOSTILE * 2)]
    check_equal(documents, {"method": name, "set": parameters}, tmp_path / "index.db", 3)


def real(data: Path, name: str, count: int) -> list[Document]:
    found = rows(data / name / "docs.jsonl.zst", count)
    return [{"id": one["id"], "text": one["text"]} for one in found]


@pytest.mark.parametrize("name", ["press_de", "licences", "ocr_pairs"])
@pytest.mark.parametrize("method", registry.names())
def test_on_real_documents(data: Path, method: str, name: str) -> None:
    check_equal(real(data, name, 150), {"method": method}, "memory:", 5)


@pytest.mark.parametrize("window", [None, "24h"])
@pytest.mark.parametrize("name", ["press_de", "ocr_pairs"])
def test_a_bitmap_window_misses_nothing(data: Path, name: str, window: str | None) -> None:
    documents = real(data, name, 300)
    complete = nd.dedup(documents, keep="first", method="qgrams", threshold=0.6, keys="prefix")
    settings = {"method": "qgrams", "threshold": 0.6, "window": window}
    check_as_batch(complete, documents, settings, "memory:", 8)


def test_own_cuts_of_a_calibration(data: Path, tmp_path: Path) -> None:
    """Scans: hundreds are found only because they stand out from all others."""
    documents = real(data, "ocr_pairs", 2500)
    batch = nd.dedup(documents, method="rareshingles")
    faint = [why for why in batch.decisions["reason"].to_pylist() if "far above" in why]
    assert len(faint) > 100
    settings: dict[str, Any] = {"method": "rareshingles", "artefacts": batch}
    with nd.Index.open(tmp_path / "index.db", **settings) as index:
        fed(index, documents[:1500], 6)
    with nd.Index.open(tmp_path / "index.db") as index:
        online = fed(index, documents[1500:], 7).decisions().select(COLUMNS)
    assert online.to_pylist() == batch.decisions.select(COLUMNS).to_pylist()


def test_a_low_threshold_by_consistency(data: Path, tmp_path: Path) -> None:
    """Scans: own thresholds, and pairs that pass because their texts were read; the index is closed
    and opened again between."""
    documents = real(data, "ocr_pairs", 800)
    batch = nd.dedup(documents, method="raregrams")
    calibration = batch.artefacts["calibration"]
    assert calibration.threshold < 0.5
    assert len(calibration.pairs) > 100
    with nd.Index.open(tmp_path / "index.db", artefacts=batch, method="raregrams") as index:
        fed(index, documents[:500], 6)
    with nd.Index.open(tmp_path / "index.db") as index:
        online = fed(index, documents[500:], 7).decisions().select(COLUMNS)
    assert online.to_pylist() == batch.decisions.select(COLUMNS).to_pylist()
