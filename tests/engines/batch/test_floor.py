"""No document is set aside for one in which a reader finds nothing of it, whatever stands out."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from neardup.artefacts.calibration import Calibration
from neardup.documents import Collection, collect
from neardup.engines.batch.batch_run import recognised_pairs
from neardup.methods.rareshingles import Rareshingles
from neardup.plan import resolve
from neardup.progress import Silent
from neardup.runs.comparison import compare
from neardup.runs.texts_again import text_keys
from neardup.settings import settings_of
from neardup.text import recognition
from reference.recognition import share

LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))
METHODS = ("rareshingles", "learned")
FLOOR = recognition.FLOOR / 100


def word(rng: np.random.Generator) -> str:
    return "".join(rng.choice(LETTERS, int(rng.integers(3, 9))))


_VOCABULARY = [word(np.random.default_rng((1, i))) for i in range(3000)]


def article(rng: np.random.Generator, length: int = 150) -> list[str]:
    """Of a long-tailed vocabulary that all documents have."""
    return [_VOCABULARY[i] for i in (3000 * rng.random(length) ** 3).astype(int)]


def noisy(words: list[str], rng: np.random.Generator, rate: float = 0.2) -> str:
    """Some words are words that no other document has."""
    return " ".join(word(rng) + word(rng) if rng.random() < rate else w for w in words)


def scan(words: list[str], rng: np.random.Generator, rate: float) -> str:
    """Some characters are others."""
    text = " ".join(words)
    return "".join(str(rng.choice(LETTERS)) if rng.random() < rate else c for c in text)


def strangers(count: int = 1000) -> list[str]:
    rng = np.random.default_rng(2)
    return [" ".join(article(rng)) for _ in range(count)]


_STRANGERS = strangers()


def quoting(rng: np.random.Generator, words: int) -> list[str]:
    """Two noisy documents on different things that share one passage."""
    passage = " ".join(article(rng, words))
    return [f"{noisy(article(rng), rng)} {passage} {noisy(article(rng, 20), rng)}" for _ in "ab"]


def low_scores(result: nd.Result) -> list[tuple[int, int]]:
    """Numbers of documents of pairs below the threshold."""
    rows = [row for row in result.duplicates.to_pylist() if row["score"] < result.threshold]
    ids = [(row["id"], row["kept_id"]) for row in rows]
    return [(int(a.split(":")[1]) - 1, int(b.split(":")[1]) - 1) for a, b in ids]


def test_two_unrelated_noisy_documents_with_a_passage_in_common_are_both_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = [*quoting(np.random.default_rng(3), 25), *_STRANGERS]
    assert share(*texts[:2]) < FLOOR
    for method in ("raregrams", *METHODS):
        assert nd.dedup(texts, method=method).counts.duplicates == 0
    monkeypatch.setattr(recognition, "FLOOR", 0)  # they stand out: nothing else keeps them apart
    assert low_scores(nd.dedup(texts, method="rareshingles")) == [(1, 0)]


@pytest.mark.parametrize("method", METHODS)
def test_two_scans_of_a_page_are_one(method: str) -> None:
    rng = np.random.default_rng(4)
    page = article(rng)
    texts = [" ".join(page), scan(page, rng, 0.12), *_STRANGERS]
    assert share(*texts[:2]) >= FLOOR
    assert nd.dedup(texts, method=method).duplicates["id"].to_pylist() == ["input:2"]


@settings(max_examples=4)
@given(st.integers(0, 10**6), st.floats(0.02, 0.3), st.integers(5, 150))
@pytest.mark.parametrize("method", METHODS)
def test_who_is_set_aside_below_the_threshold_can_be_read_in_the_kept_one(
    method: str, seed: int, rate: float, passage: int
) -> None:
    """Scans of any quality, and noisy strangers with a passage of any length in common."""
    rng = np.random.default_rng(seed)
    pages = [article(rng) for _ in range(3)]
    scans = [text for page in pages for text in (" ".join(page), scan(page, rng, rate))]
    texts = [*scans, *quoting(rng, passage), *_STRANGERS]
    for a, b in low_scores(nd.dedup(texts, method=method)):
        assert share(texts[a], texts[b]) >= FLOOR


def test_only_listed_pairs_pass_below_the_threshold_in_every_engine() -> None:
    """Own cuts alone are not enough: in a run, in an index built from it, in a comparison."""
    rng = np.random.default_rng(5)
    page = article(rng)
    two = [" ".join(page), scan(page, rng, 0.12)]
    texts = [{"id": str(i), "text": text} for i, text in enumerate([*two, *_STRANGERS])]
    batch = nd.dedup(texts, keep="first", method="rareshingles")
    made = batch.artefacts["calibration"]
    assert isinstance(made, Calibration)
    assert (len(made.digests), len(made.pairs)) == (2, 1)
    unlisted = {**batch.artefacts, "calibration": dataclasses.replace(made, pairs=made.pairs[:0])}
    for artefacts, duplicates in ((batch.artefacts, ["1"]), (unlisted, [])):
        with nd.Index.open("memory:", method="rareshingles", artefacts=artefacts) as index:
            index.add_many(texts)
            decided = index.decisions().to_pylist()
        assert [one["id"] for one in decided if one["decision"] == "duplicate"] == duplicates
        said = compare(*two, Rareshingles(), artefacts=artefacts).verdict
        assert said is not None
        assert said.duplicate == bool(duplicates)
        assert duplicates or "too little of one text can be read in the other" in str(said)


def test_a_text_that_cannot_be_read_again_is_found_in_no_other(tmp_path: Path) -> None:
    """Nothing is dropped for what nobody looked at."""
    path = tmp_path / "docs.jsonl"
    path.write_text('{"text": "one text of some words"}\n{"text": "one text of some word"}\n')
    collection = collect(path)
    first, second = _keys(collection)
    plan = resolve(settings_of({}))
    asked = np.array([first, first, 1], np.uint64), np.array([second, 2, 2], np.uint64)
    found = recognised_pairs(collection, plan, Silent(), *asked, recognition.FLOOR)
    assert found.tolist() == [True, False, False]


def _keys(collection: Collection) -> list[int]:
    plan = resolve(settings_of({}))
    chunks = (chunk for source in collection.sources for chunk in source.chunks(plan.columns))
    return [int(key) for chunk in chunks for key in text_keys(chunk.read())]
