"""What a reader finds again: pieces of one text in another, however misread."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.schema import Ragged
from neardup.text.recognition import FLOOR, Recognised, recognised, recognised_pairs
from reference import recognition as reference
from repeats import examples

PROSE = (
    "The certificate of settlement or statement of the subcontractor shall be a justification to "
    "the owner in withholding from the contractor the amount appearing thereby to be due the "
    "subcontractor until the same has been paid, and the owner shall become the surety of the "
    "contractor to the subcontractor for the amount due."
)
OTHER = (
    "If possession of the property recovered has been delivered to the plaintiff by virtue of an "
    "execution issued upon a judgment in the action, the order must provide for setting off the "
    "sum which the plaintiff has made, or which he might without wilful neglect have made."
)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
few = st.text("ab c", max_size=150)


def misread(text: str, rate: float, seed: int = 0) -> str:
    rng = random.Random(seed)
    return "".join(rng.choice(LETTERS) if rng.random() < rate else letter for letter in text)


@given(few, few)
def test_it_is_as_the_twin_says(a: str, b: str) -> None:
    found = recognised(a, b)
    assert reference.share(a, b) == pytest.approx(found.share)
    assert found.enough == (100 * reference.share(a, b) >= FLOOR)


@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.33, 0.5, 1.0]), min_size=1, max_size=30),
    st.integers(0, 10**6),
    st.integers(-70, 70),
)
@examples(15)
def test_long_texts_are_as_the_twin_says(rates: list[float], seed: int, shift: int) -> None:
    """Pieces that are moved, misread or gone, in up to forty of them."""
    rng = random.Random(seed)
    parts = ["".join(rng.choices("abcdef gé日", k=rng.randint(50, 130))) for _ in rates]
    other = [misread(part, rate, seed) for part, rate in zip(parts, rates, strict=True)]
    before = "".join(rng.choices(LETTERS, k=max(shift, 0)))
    one, two = "".join(parts)[max(-shift, 0) :], before + "".join(other)
    assert reference.share(one, two) == Fraction(*recognised(one, two))


@pytest.mark.parametrize("floor", [0, 1, 60, 70, 100])
@pytest.mark.parametrize("level", _native.INSTRUCTIONS)
def test_pairs_of_many_texts_are_as_each_alone(floor: int, level: str) -> None:
    texts = [PROSE, OTHER, misread(PROSE, 0.2), f"{OTHER} {PROSE}", PROSE[:130] + OTHER, "", "a"]
    a, b = (side.reshape(-1) for side in np.meshgrid(np.arange(7), np.arange(7)))
    _native.use_instructions(level)
    try:
        found = recognised_pairs(Ragged.of_texts(texts), a, b, floor)
    finally:
        _native.use_instructions(_native.INSTRUCTIONS[-1])
    alone = [recognised(texts[i], texts[j]).reaches(floor) for i, j in zip(a, b, strict=True)]
    assert found.tolist() == alone


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_the_bits_of_the_twin_count_as_its_table_does(a: str, b: str) -> None:
    assert reference.in_order_by_bits(a, b) == reference.in_order(a, b)


@given(st.text(max_size=200), st.text(max_size=200))
def test_it_does_not_matter_which_text_is_first(a: str, b: str) -> None:
    assert recognised(a, b) == recognised(b, a)
    assert recognised(a, a).enough


@given(st.integers(0, 10**6))
def test_a_scan_with_every_fifth_character_wrong_is_found_again(seed: int) -> None:
    assert recognised(PROSE, misread(PROSE, 0.2, seed)).enough


@given(st.integers(0, 10**6))
def test_another_text_is_not_however_it_is_misread(seed: int) -> None:
    assert not recognised(PROSE, misread(OTHER, 0.1, seed)).enough
    assert recognised(PROSE, misread(OTHER, 0.1, seed)).share < 0.3


def test_a_part_is_found_in_the_whole_and_a_quotation_is_not_enough() -> None:
    assert recognised(PROSE, f"{OTHER} {PROSE} {OTHER}") == Recognised(5, 5)
    quotation = PROSE[:130]
    assert not recognised(f"{quotation} {OTHER}", f"{quotation} {PROSE[::-1]}").enough


def test_of_a_long_text_forty_pieces_are_looked_for() -> None:
    rng = random.Random(1)
    words = ["".join(rng.choices(LETTERS, k=6)) for _ in range(1000)]
    book, half = " ".join(words), " ".join([*words[:500], *reversed(words[500:])])
    assert recognised(book, f"{book} the end") == Recognised(40, 40)
    assert recognised(book, half) == Recognised(20, 40)


@pytest.mark.parametrize("text", ["", "   ", "a", "日本語の文章", "\n\n"])
def test_nothing_and_little_are_texts_too(text: str) -> None:
    assert recognised(text, text).enough
    assert recognised(text, PROSE).pieces == 1
