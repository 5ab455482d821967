"""Shingles without what many documents have: against a twin that counts sets, and in whole runs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.artefacts.artefact import resolved
from neardup.errors import SettingsError
from neardup.methods.shingles import FEWEST, Shingles, most_documents

TEXTS = st.lists(st.text(alphabet="ab ", max_size=12), min_size=1, max_size=12)


def numbered(name: str, count: int) -> str:
    return " ".join(f"{name}{i}" for i in range(count))


@given(TEXTS, st.integers(2, 5))
def test_sets_have_what_few_documents_have(texts: list[str], most: int) -> None:
    method = Shingles(words=1, min_words=0, clip=most)
    batch = pa.record_batch({"text": pa.array(texts, pa.large_string())})
    made = method.prepare(batch, resolved(method.needs, batch))
    whole = Shingles(words=1, min_words=0).prepare(batch)
    sets = [
        set(whole.evidence[i].tolist()) if text.split() else set() for i, text in enumerate(texts)
    ]
    documents = Counter(feature for one in sets for feature in one)
    for i, one in enumerate(sets):
        left = sorted(feature for feature in one if documents[feature] <= most)
        if left:
            assert made.evidence[i].tolist() == left
        else:
            assert made.too_short.tolist()[i]


@pytest.mark.parametrize(
    ("clip", "documents", "most"),
    [(0.05, 1000, 50), (0.05, 100, FEWEST), (3, 10, 3), (0.5, 10**6, (1 << 16) - 2)],
)
def test_what_is_many(clip: float, documents: int, most: int) -> None:
    assert most_documents(clip, documents) == most


def stubs() -> list[str]:
    """Forty pages for subscribers, two of one article, and one that is nothing but the notice."""
    notice = numbered("notice", 100)
    own = [f"{numbered(f'page{i}x', 25)} {notice}" for i in range(40)]
    return [*own, own[7] + " end", notice, notice + " ."]


def test_what_many_have_is_no_evidence() -> None:
    plain = nd.dedup(stubs(), method="shingles", threshold=0.5)
    assert plain.counts.kept == 1
    clipped = nd.dedup(stubs(), method="shingles", threshold=0.5, clip=30)
    assert clipped.duplicates["kept_id"].to_pylist() == ["input:8", "input:42"]
    reasons = clipped.decisions["reason"].to_pylist()
    assert reasons[41:] == ["too_short", "equal"]
    assert clipped.info["artefacts"]["frequencies"]["documents"] == 43


def test_a_document_of_which_little_is_left_is_not_compared() -> None:
    """Forty notices, each with five words of its own, are not alike because of these."""
    notice = numbered("notice", 100)
    texts = [f"{notice} a{i // 2} b c d e" for i in range(40)]
    assert nd.dedup(texts, method="shingles", clip=30).counts.too_short >= 20


@pytest.mark.parametrize("workers", [1, 2])
def test_clipped_runs_can_be_built_on(tmp_path: object, workers: int) -> None:
    settings = {"method": "shingles", "threshold": 0.5, "clip": 30, "workers": workers}
    first = nd.dedup(stubs(), signatures=True, **settings)
    first.save(f"{tmp_path}/first")
    again = nd.dedup(stubs()[:3], against=[f"{tmp_path}/first"], **settings)
    assert again.counts.duplicates == 3


@pytest.mark.parametrize(
    "given",
    [{"clip": 1}, {"clip": -0.1}, {"clip": 2.5}, {"clip": 5, "sampling": "mod"}],
)
def test_what_has_no_meaning_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match="clip"):
        Shingles(**given)  # type: ignore[arg-type]


def test_clipped_and_weighted() -> None:
    result = nd.dedup(stubs(), method="shingles", threshold=0.5, clip=30, weights="idf")
    assert result.counts.duplicates == 2
    assert np.isfinite(result.pairs["score"].to_numpy()).all()
