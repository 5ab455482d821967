from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neardup import api as nd
from neardup.errors import SettingsError
from neardup.evaluation import scored_pairs
from neardup.evaluation.metrics import alone_apart

EXAMPLE = Path(__file__).parents[2] / "examples" / "news.jsonl"


def same_clusters(a: Any, b: Any) -> bool:
    a, b = alone_apart(a), alone_apart(b)
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))


@pytest.mark.parametrize("threshold", [0.4, 0.6, 0.8, 0.95])
@pytest.mark.parametrize("clusters", ["rule", "components"])
def test_a_cut_is_the_run(threshold: float, clusters: str) -> None:
    wide = scored_pairs.of_result(nd.find(EXAMPLE, method="shingles", threshold=0.3))
    run = nd.find(EXAMPLE, method="shingles", threshold=threshold, clusters=clusters, keys="prefix")
    narrow, cut = scored_pairs.of_result(run), wide.at(threshold)
    for name in ("a", "b", "score", "identical"):
        assert np.array_equal(getattr(cut, name), getattr(narrow, name))
    expected = run.decisions["cluster"].fill_null(-1).to_numpy()
    assert same_clusters(cut.clusters(clusters), expected)


def test_numbers_count_rejected_documents() -> None:
    text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen end"
    docs = [{"id": "x", "text": None}, {"id": "x", "text": text}, {"id": "y", "text": text}]
    made = scored_pairs.of_result(nd.find(docs, method="shingles"))
    assert (made.a.tolist(), made.b.tolist(), made.identical.tolist()) == ([1], [2], [True])
    assert made.documents == 3


def test_below_the_lowest_nothing_is_known() -> None:
    made = scored_pairs.of_result(nd.find(EXAMPLE, method="shingles", threshold=0.7))
    with pytest.raises(SettingsError, match=r"from 0\.7 on, so 0\.5 cannot"):
        made.at(0.5)


def test_pairs_are_kept_for_what_they_were_made_from(tmp_path: Path) -> None:
    path = tmp_path / "pairs.parquet"
    made = scored_pairs.of_result(nd.find(EXAMPLE, method="shingles", threshold=0.7))
    assert scored_pairs.load(path, "k") is None
    scored_pairs.save(made, path, "k")
    again = scored_pairs.load(path, "k")
    assert again is not None
    assert (again.lowest, again.documents, again.complete) == (0.7, made.documents, True)
    assert np.array_equal(again.score, made.score)
    assert scored_pairs.load(path, "other") is None
    path.write_bytes(b"PAR1 broken")
    assert scored_pairs.load(path, "k") is None
