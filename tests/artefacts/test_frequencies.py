"""Frequencies of shingles: counts that end, and do not depend on how they were made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.artefacts import frequencies
from neardup.artefacts.frequencies import (
    MOST_COUNT,
    Frequencies,
    FrequencyCounter,
    Grams,
    SlotCounts,
    load_frequencies,
)
from neardup.errors import InputError
from neardup.testing import batch
from neardup.text.text_options import Text

TEXTS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12).map(" ".join), max_size=12)


def counted(texts: list[str], rows: int) -> frequencies.Frequencies:
    counter = FrequencyCounter(Grams(2), Text())
    for at in range(0, len(texts), rows):
        counter.add(counter.count(batch(texts[at : at + rows])))
    return counter.finish()


@given(TEXTS, st.integers(1, 5), st.integers(0, 40))
def test_chunks_and_how_many_are_held_change_nothing(
    texts: list[str], rows: int, held: int
) -> None:
    whole = counted(texts, 100)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frequencies, "HELD", held)
        patch.setattr(frequencies, "MOST_SLOTS", 1 << 16)  # the table of all slots, made smaller
        assert counted(texts, rows).digest == whole.digest


def test_counts_end_at_their_largest_value() -> None:
    counts = SlotCounts.of(np.array([65_533, 65_535, 0, 7], np.uint16))
    counts.add(np.array([0, 4, 8, 12, 1, 5, 3], np.uint32))
    assert counts.unpacked().tolist() == [65_535, 65_535, 0, 8]


@given(st.data(), st.integers(0, 2**32 - 1))
def test_high_counts_are_as_exact_as_low_ones(data: st.DataObject, seed: int) -> None:
    rng = np.random.default_rng(seed)
    slots, size = 1 << data.draw(st.integers(0, 14)), data.draw(st.integers(0, 3000))
    added, features = SlotCounts.empty(slots), rng.integers(0, 1 << 32, size, np.uint32)
    counts = rng.choice(np.array([1, 2, 253, 254, 255, 256, 40_000], np.uint16), size)
    added.add_counts(features, counts)
    added.add(features)
    expected = np.zeros(slots, np.int64)
    np.add.at(expected, features % slots, counts.astype(np.int64) + 1)
    expected = np.minimum(expected, MOST_COUNT)
    assert added.unpacked().tolist() == expected.tolist()
    assert added.of_features(features).tolist() == expected[features % slots].tolist()


def test_folded_counts_end_there_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frequencies, "HELD", 0)
    monkeypatch.setattr(frequencies, "FEWEST_SLOTS", 4)
    monkeypatch.setattr(frequencies, "SLOTS_A_FEATURE", 0)
    monkeypatch.setattr(frequencies, "MOST_SLOTS", 16)
    counter = FrequencyCounter(Grams(2), Text())
    counter.add((40_000, np.full(40_000, 3, np.uint32)))
    counter.add((40_000, np.full(40_000, 7, np.uint32)))
    assert counter.finish().counts.unpacked().tolist() == [0, 0, 0, 65_535]


@given(st.integers(0, 10**6), st.integers(0, 2**16 - 1))
def test_rarer_features_never_weigh_less(documents: int, n: int) -> None:
    none = SlotCounts.empty(4)
    idf = frequencies.Frequencies(none, documents, Grams(3), Text()).idf
    assert len(idf) == 1 << 16
    assert idf[n] <= idf[max(n - 1, 0)]


def test_another_format_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(frequencies, "FORMAT", 1)
        counted(["a b c"], 1).save(tmp_path / "old.arrow")
    with pytest.raises(InputError, match="have format 1; this version reads 2"):
        load_frequencies(tmp_path / "old.arrow")


def test_counts_that_are_laid_aside_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frequencies, "_LARGE", 1 << 10)
    counts = np.random.default_rng(2).integers(0, 400, 1 << 12).astype(np.uint16)
    table = Frequencies(SlotCounts.of(counts), 500, Grams(5), Text())
    digest = Frequencies(SlotCounts.of(counts), 500, Grams(5), Text()).digest
    table.lay_aside(tmp_path)
    assert not list(tmp_path.iterdir())
    assert table.counts.unpacked().tolist() == counts.tolist()
    assert table.counts_of(np.arange(1 << 12, dtype=np.uint32)).tolist() == counts.tolist()
    assert table.digest == digest
