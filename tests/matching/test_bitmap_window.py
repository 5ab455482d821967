"""The window finds exactly what comparing with every document finds, whatever happened before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.errors import SettingsError
from neardup.features.qgrams import qgram_sets
from neardup.matching.window import SLOT_BITS, BitmapWindow
from neardup.schema import Ragged
from neardup.text.text_options import Text
from reference.bitmap_window import Window
from repeats import examples

SLOTS = 3
BEST = _native.INSTRUCTIONS[-1]
THRESHOLDS = st.sampled_from(["0.05", "0.3", "0.5", "0.7", "0.8", "0.999", "1"]).map(Fraction)


class Both:
    """A window and its twin, which get the same."""

    def __init__(self, seed: int, slots: int = SLOTS) -> None:
        self.window, self.twin = BitmapWindow(slots), Window()
        self.random = np.random.default_rng(seed)
        self.drawn: list[frozenset[int]] = []

    def draw(self) -> frozenset[int]:
        """A set of common and rare grams; every second is an edited copy of one before."""
        random = self.random
        if self.drawn and random.random() < 0.5:
            before = sorted(self.drawn[random.integers(len(self.drawn))])
            kept = [gram for gram in before if random.random() < 0.9]
            return frozenset([*kept, *random.integers(0, 5000, random.integers(0, 4)).tolist()])
        size = random.integers(0, 60)
        common = random.zipf(1.3, size)
        return frozenset((common[common < 2**32]).tolist())

    def add(self, slot: int, count: int) -> None:
        for _ in range(count):
            grams = self.draw()
            self.drawn.append(grams)
            assert self.window.add(slot, features(grams)) == self.twin.add(slot, grams)

    def remove(self) -> None:
        present = sorted(self.twin.sets)
        for document in self.random.choice(present, min(5, len(present))) if present else []:
            assert self.window.remove(int(document)) == self.twin.remove(int(document))

    def drop(self, slot: int) -> None:
        self.window.drop(slot)
        self.twin.drop(slot)

    def check(self, threshold: Fraction) -> None:
        assert len(self.window) == len(self.twin.sets)
        for slot in range(self.window.slots):
            sets = self.window.sets(slot)
            assert len(sets) == self.twin.added.get(slot, 0)
            for place in range(len(sets)):
                there = self.twin.sets.get(slot << SLOT_BITS | place, frozenset())
                assert sets[place].tolist() == sorted(there)
        for _ in range(5):
            grams = self.draw()
            found = self.window.overlaps(features(grams), threshold)
            rows = list(zip(*(column.tolist() for column in found[:3]), strict=True))
            assert rows == self.twin.overlaps(grams, threshold)


def features(grams: frozenset[int]) -> np.ndarray:
    return np.array(sorted(grams), np.uint32)


STEPS = st.one_of(
    st.tuples(st.just("add"), st.integers(0, SLOTS - 1), st.sampled_from([1, 3, 70, 530, 1100])),
    st.tuples(st.just("remove")),
    st.tuples(st.just("drop"), st.integers(0, SLOTS - 1)),
)


@pytest.fixture(params=_native.INSTRUCTIONS)
def instructions(request: pytest.FixtureRequest) -> Iterator[str]:
    _native.use_instructions(request.param)
    yield request.param
    _native.use_instructions(BEST)


each_instructions = pytest.mark.usefixtures("instructions")


@given(st.lists(STEPS, max_size=8), THRESHOLDS, st.integers(0, 2**32), st.data())
@examples(10)
def test_any_history_gives_what_the_twin_gives(
    steps: list[tuple[str, ...]], threshold: Fraction, seed: int, data: st.DataObject
) -> None:
    _native.use_instructions(data.draw(st.sampled_from(_native.INSTRUCTIONS)))
    try:
        both = Both(seed)
        for name, *given_to in steps:
            getattr(both, name)(*given_to)
            both.check(threshold)
    finally:
        _native.use_instructions(BEST)


@each_instructions
def test_a_slot_of_more_documents_than_one_segment_holds() -> None:
    both = Both(7)
    both.add(1, 8192 + 700)
    both.add(0, 1)
    both.remove()
    for threshold in ("0.2", "0.7", "1"):
        both.check(Fraction(threshold))


@each_instructions
def test_sets_of_every_size_around_a_register() -> None:
    """Bitmaps are counted sixteen at a time, 512 columns a line; all share all."""
    window = BitmapWindow(1)
    sets = [np.arange(size, dtype=np.uint32) for size in range(1, 70)]
    for _ in range(20):
        for grams in sets:
            window.add(0, grams)
    for grams in sets:
        found = window.overlaps(grams, 0.7)
        least, most = -(-len(grams) * 7 // 10), len(grams) * 10 // 7
        assert len(found.documents) == 20 * (min(most, 69) - least + 1)
        assert (found.shared == np.minimum(found.sizes, len(grams))).all()


def test_exactly_at_the_threshold_passes() -> None:
    window = BitmapWindow()
    document = window.add(24, np.arange(10, dtype=np.uint32))
    seven = np.r_[np.arange(7), np.arange(100, 103)].astype(np.uint32)
    assert window.overlaps(seven, 0.7).documents.tolist() == [document]
    assert window.overlaps(seven, 0.700001).documents.tolist() == []
    assert document >> SLOT_BITS == 24


def test_a_dropped_slot_gives_its_memory_back() -> None:
    window, random = BitmapWindow(2), np.random.default_rng(1)
    empty = window.memory().bytes
    for _ in range(600):
        window.add(0, np.unique(random.integers(0, 1000, 200).astype(np.uint32)))
    assert window.memory().bytes > empty + 600 * 100
    window.drop(0)
    assert window.memory() == (0, 0, 0, 0, 0, empty)
    assert len(window) == 0


def test_memory_stays_flat_over_72_hours() -> None:
    """The ring is used again: from the second day on, an hour takes what an hour before gave."""
    window, random, peaks = BitmapWindow(), np.random.default_rng(1), []
    for hour in range(72):
        window.drop(hour % 25)
        for _ in range(80):
            grams = random.zipf(1.2, 150)
            window.add(hour % 25, np.unique(grams[grams < 2**32].astype(np.uint32)))
        peaks.append(window.memory().bytes)
    assert len(window) == 25 * 80
    assert max(peaks[25:]) <= 1.05 * min(peaks[25:])


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 2**32))
def test_clipping_errs_no_more_than_it_says(one: float, other: float, seed: int) -> None:
    rare, common = sorted((one, other))
    both = Both(seed, 1)
    both.window = BitmapWindow(1, common=common, rare=rare)
    both.add(0, 80)
    for _ in range(10):
        grams = both.draw()
        found = both.window.overlaps(features(grams), Fraction("0.5"))
        shared = dict(zip(found.documents.tolist(), found.shared.tolist(), strict=True))
        for document, other_set in both.twin.sets.items():
            truth, larger = len(grams & other_set), max(len(grams), len(other_set), 1)
            if document in shared:
                assert -found.clipped.rare <= shared[document] - truth <= found.clipped.common
            elif other_set and grams:  # too far below for what rare grams can hide
                assert truth - found.clipped.rare < Fraction("0.5") * larger
            assert found.clipped.common + found.clipped.rare <= len(grams)


def test_press_articles(data: Path) -> None:
    """Real texts against the twin, over several slots."""
    with pa.input_stream(data / "press_de" / "docs.jsonl.zst", compression="zstd") as stream:
        texts = [json.loads(line)["text"] for line in stream.read().splitlines()[:700]]
    sets = qgram_sets(Ragged.of_texts(texts), 4, Text()).features
    window, twin = BitmapWindow(), Window()
    for i in range(len(sets)):
        window.add(i // 300, sets[i])
        twin.add(i // 300, frozenset(sets[i].tolist()))
    for i in range(0, len(sets), 79):
        found = window.overlaps(sets[i], 0.7)
        expected = twin.overlaps(frozenset(sets[i].tolist()), Fraction("0.7"))
        assert list(zip(*(c.tolist() for c in found[:3]), strict=True)) == expected


@pytest.mark.parametrize(
    ("evidence", "problem"),
    [
        (np.array([2, 1], np.uint32), "rising"),
        (np.array([1, 1], np.uint32), "rising"),
        (np.array([1, 2], np.int64), "int64"),
        (np.zeros((2, 2), np.uint32), "2 dimensions"),
    ],
)
def test_what_is_no_set_is_refused(evidence: np.ndarray, problem: str) -> None:
    for ask in (lambda w: w.add(0, evidence), lambda w: w.overlaps(evidence, 0.7)):
        with pytest.raises(SettingsError, match=problem):
            ask(BitmapWindow())


def test_empty_and_unknown_things() -> None:
    window, nothing = BitmapWindow(2), np.empty(0, np.uint32)
    assert window.overlaps(nothing, 0.7).documents.tolist() == []
    document = window.add(1, nothing)
    assert window.overlaps(nothing, 0.7).documents.tolist() == []
    assert [window.remove(document), window.remove(document)] == [True, False]
    assert not any(window.remove(d) for d in (-1, 5, 1 << 40, 2**62))
    with pytest.raises(SettingsError, match="slot is 2; this window has 2 slots"):
        window.add(2, nothing)
    with pytest.raises(SettingsError, match=r"slots is 0.*common is 0\.1 and rare 0\.5"):
        BitmapWindow(0, common=0.1, rare=0.5)
