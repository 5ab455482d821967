"""Noise is as strong as was asked for, in every script, and looks like what it is called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from neardup.planting.material import Material, sound, unit_count, units
from neardup.planting.noise_edits import JOINED, LOOKALIKES, NEIGHBOURS
from neardup.text.words import words
from planting.test_edits import ENGLISH, GERMAN, MATERIAL, SOME_TEXT, TEXTS, each_text, made

each_rate = pytest.mark.parametrize("rate", [0.01, 0.05, 0.1, 0.2])


@each_text
@each_rate
@pytest.mark.parametrize("name", ["ocr", "typing"])
def test_the_character_error_rate_is_the_asked_one(name: str, rate: float, text: str) -> None:
    stated = max(1, round(rate * len(text)))
    distances = [Levenshtein.distance(text, made(name, text, rate, str(s))) for s in range(20)]
    assert max(distances) <= stated
    assert 0.9 * stated <= sum(distances) / 20


@given(SOME_TEXT, st.sampled_from(["ocr", "typing"]), st.sampled_from([0.01, 0.2, 1.0]))
def test_no_text_gets_more_errors_than_asked_for(text: str, name: str, rate: float) -> None:
    most = max(1, round(rate * len(text)))
    assert Levenshtein.distance(text, made(name, text, rate)) <= (most if text else 0)


def test_errors_come_in_stretches() -> None:
    text = ENGLISH * 40
    copy = made("ocr", text, 0.05)
    edits = Levenshtein.editops(text, copy)
    errors = [0] * (len(text) // 80 + 1)
    for edit in edits:
        errors[edit.src_pos // 80] += 1
    mean = sum(errors) / len(errors)
    assert sum((n - mean) ** 2 for n in errors) / len(errors) > 1.2 * mean  # of chance alone: 0.95


def test_letters_are_taken_for_what_looks_like_them() -> None:
    copy = made("ocr", "modern " * 400, 0.1)
    for seen in ("rnodern", "modem", "mociern", "moclern"):
        assert (seen in copy) == (seen != "mociern"), seen
    text = "東京都心部の大学" * 40
    changed = [(a, b) for a, b in zip(text, made("ocr", text, 0.01), strict=False) if a != b]
    assert changed


def test_tables_of_confusions_change_what_they_stand_for() -> None:
    assert all(letter not in others and others for letter, others in LOOKALIKES.items())
    assert all(letter not in near and near for letter, near in NEIGHBOURS.items())
    assert all(len(two) == 2 and one not in two for two, one in JOINED.items())


@pytest.mark.parametrize("text", [ENGLISH, GERMAN])
def test_a_scan_has_lines_pages_and_hyphens(text: str) -> None:
    copies = [made("scan", text * 3, 0.01, str(seed)) for seed in range(10)]
    lines = [line for copy in copies for line in copy.split("\n")]
    assert sum(len(line) <= 90 for line in lines) > 0.95 * len(lines)  # a line end may be lost
    assert any(line.endswith("-") for line in lines)


@each_text
@each_rate
def test_so_many_words_are_merged_or_broken(rate: float, text: str) -> None:
    copy = made("spacing", text, rate)
    letters = ["".join(one.split()) for one in (text, copy)]
    assert letters[0] == letters[1]
    assert 0 < Levenshtein.distance(text, copy) <= max(1, round(rate * unit_count(text)))


@each_text
@each_rate
def test_a_transcript_has_the_words_in_small_letters_and_no_marks(rate: float, text: str) -> None:
    copy = made("transcript", text, rate)
    assert copy == copy.lower()
    assert all(c.isspace() or words(c * 3) or not c.isascii() for c in copy)
    before, after = ([one[u.start : u.end] for u in units(one)] for one in (text.lower(), copy))
    assert Levenshtein.distance(before, after) <= max(1, round(rate * len(before)))


def test_words_are_misheard_as_words_that_sound_alike() -> None:
    assert sound("their") == sound("there") != sound("them")
    assert sound("Straße") == sound("strasse")
    assert sound("код") == sound("кот")
    material = Material([("a", "there there"), ("b", "their their")])
    assert material.sounding("Their") == ["there", "their"]
    assert MATERIAL.sounding("xyzzy-nothing") == []


@pytest.mark.parametrize("lang", ["en", "de"])
def test_a_rewriting_has_words_of_the_text_only(lang: str) -> None:
    text = TEXTS[lang]
    for rate in (0.25, 0.5, 1.0):
        copies = {made("rewriting", text, rate, str(seed)) for seed in range(6)}
        assert len(copies) > 1
        for copy in copies - {text}:
            assert set(words(copy)) <= set(words(text))
            assert len(words(copy)) >= len(words(text)) / 3
