"""The pairs of an index can be judged as those of a run, where it stores texts."""

from __future__ import annotations

from pathlib import Path

import pytest

import neardup as nd
from labels.test_sampling import collection
from neardup.errors import InputError
from neardup.labels.sampling import draw
from neardup.web.judging.desk import result_of_index


def built(path: Path, *, texts: bool) -> Path:
    with nd.Index.open(str(path), method="shingles", threshold=0.5, texts=texts) as index:
        for doc in collection():
            index.add(doc)
    return path


def test_pairs_are_what_was_set_aside_for_what(tmp_path: Path) -> None:
    path = built(tmp_path / "news.db", texts=True)
    result = result_of_index(str(path))
    with nd.Index.open(str(path)) as index:
        aside = {(e.kept_id, e.id, e.score) for e in index if e.kept_id is not None}
    rows = result.pairs.select(["a", "b", "score"]).to_pylist()
    assert {(row["a"], row["b"], row["score"]) for row in rows} == aside
    assert not result.pairs_complete
    texts = {doc["id"]: doc["text"] for doc in collection()}
    sample = draw({"news": result}, 10)
    assert len(sample.items) == 10
    for item in sample.items:
        assert (item.text_a, item.text_b) == (texts[item.a], texts[item.b])


def test_without_texts_nobody_can_judge(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not store the texts"):
        result_of_index(str(built(tmp_path / "news.db", texts=False)))
