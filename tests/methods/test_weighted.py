"""Shingles weighted by rarity: whole runs against all pairs in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import api as nd
from neardup.artefacts.frequencies import (
    FEWEST_SLOTS,
    UNIT,
    FrequencyCounter,
    Grams,
    load_frequencies,
)
from neardup.artefacts.idf import normalised_idf
from neardup.errors import InputError, SettingsError, SignatureError
from neardup.methods.shingles import Shingles
from neardup.testing import batch
from neardup.text.text_options import Text

TEXT = st.lists(st.sampled_from([*"abcdef", "größe"]), min_size=1, max_size=12).map(" ".join)


def weighted_pairs(texts: list[str], words: int, t: Fraction) -> set[tuple[int, int]]:
    """By the definition, with the counts of the texts themselves."""
    sets = [
        {
            *Shingles(words=words, min_words=0, keys="prefix")
            .prepare(batch([t]))
            .evidence[0]
            .tolist()
        }
        for t in texts
    ]
    slots = [f % FEWEST_SLOTS for s in sets for f in s]
    counts = {slot: slots.count(slot) for slot in slots}

    def weight(features: set[int]) -> int:
        idf = (normalised_idf(counts[f % FEWEST_SLOTS], len(texts)) for f in features)
        return sum(max(1, round(UNIT * value)) for value in idf)

    return {
        (i, j)
        for (i, a), (j, b) in combinations(enumerate(sets), 2)
        if Fraction(weight(a & b), weight(a | b)) >= t
    }


@given(st.lists(TEXT, max_size=9), st.integers(1, 3), st.sampled_from(["0.2", "0.5", "0.75", "1"]))
def test_runs_equal_all_pairs(texts: list[str], words: int, t: str) -> None:
    method = Shingles(words=words, threshold=float(t), weights="idf", min_words=0)
    result = nd.find(texts, method=method)
    ids = {name: i for i, name in enumerate(result.decisions["id"].to_pylist())}
    found = {
        tuple(sorted((ids[p["a"]], ids[p["b"]])))
        for p in result.pairs.select(["a", "b"]).to_pylist()
    }
    assert found == weighted_pairs(texts, words, Fraction(t))


def test_a_notice_that_all_carry_counts_for_little() -> None:
    notice = " ".join(f"notice{i}" for i in range(60))
    texts = [" ".join(f"doc{d}word{i}" for i in range(30)) + " " + notice for d in range(40)]
    plain, by_rarity = (
        nd.dedup(texts, method="shingles", words=3, threshold=0.4, weights=w).counts.duplicates
        for w in ("none", "idf")
    )
    assert plain == 39
    assert by_rarity == 0


def test_chunks_and_threads_count_alike() -> None:
    texts = ["a b c d", "b c d e", "x y z", "a b c d"]
    whole, parts = FrequencyCounter(Grams(2), Text()), FrequencyCounter(Grams(2), Text())
    whole.add(whole.count(batch(texts)))
    for text in reversed(texts):
        parts.add(parts.count(batch([text])))
    assert whole.finish().digest == parts.finish().digest


def test_a_run_is_built_on_with_its_own_frequencies(tmp_path: Path) -> None:
    old = [f"{' '.join(f'w{d}x{i}' for i in range(30))}" for d in range(10)]
    new = [old[3], "something else entirely " * 5]
    settings: dict[str, Any] = {"method": "shingles", "weights": "idf", "signatures": True}
    nd.dedup(old, **settings).save(tmp_path / "old")
    again = nd.dedup(new, against=tmp_path / "old", **settings)
    assert again.decisions["decision"].to_pylist() == ["duplicate", "kept"]
    digest = again.info["artefacts"]["frequencies"]["digest"]
    path = tmp_path / "old" / "artefacts" / "frequencies.arrow"
    assert load_frequencies(path).digest == digest
    given = nd.dedup(new, method="shingles", weights="idf", frequencies=str(path))
    assert given.info["artefacts"]["frequencies"]["digest"] == digest
    with pytest.raises(SignatureError, match="5-word"):
        nd.dedup(new, method="shingles", weights="idf", words=3, frequencies=str(path))


def test_what_is_no_table_is_a_sentence(tmp_path: Path) -> None:
    for content in (b"", b"text"):
        (tmp_path / "f.arrow").write_bytes(content)
        with pytest.raises(InputError, match="cannot be read"):
            nd.dedup(["a"], method="shingles", weights="idf", frequencies=str(tmp_path / "f.arrow"))
    with pytest.raises(InputError, match="No such file"):
        nd.dedup(["a"], method="shingles", weights="idf", frequencies=str(tmp_path / "none.arrow"))


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"weights": "tf"}, "'none' or 'idf'"),
        ({"frequencies": "f.arrow"}, "add weights='idf'"),
        ({"weights": "idf", "measure": "containment"}, "whole sets"),
        ({"weights": "idf", "sampling": "mod"}, "whole sets"),
        ({"weights": "idf", "keys": "bands"}, "whole sets"),
    ],
)
def test_what_has_no_meaning_is_refused(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Shingles(**parameters)


def test_golden_weights() -> None:
    counter = FrequencyCounter(Grams(2), Text())
    counter.add(counter.count(batch(["one two three", "one two four", "one two"])))
    evidence = (
        Shingles(words=2, weights="idf", min_words=0)
        .prepare(batch(["one two three"]), {"frequencies": counter.finish()})
        .evidence
    )
    assert [(int(e) >> 32, int(e) & 0xFFFFFFFF) for e in evidence.values] == [
        (2051018872, 3701),
        (2972042635, 455),
    ]
    assert evidence.values.dtype == np.uint64
