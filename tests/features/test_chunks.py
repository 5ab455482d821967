"""Chunks of texts as features, against twins that a reader can check."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import api as nd
from neardup.features import chunks
from neardup.features.qgrams import qgram_form
from neardup.methods.join import Join
from neardup.schema import Ragged
from neardup.text.text_options import Text
from neardup.text.words import sentences, words

TEXTS = st.lists(st.text("ab .,;!\n3", max_size=40), max_size=6)
PLAIN = Text()


def rows(texts: list[str]) -> Ragged:
    """As a slice, whose bytes do not begin at 0."""
    return Ragged.of_strings(pa.array(["x, y. ", *texts], pa.large_string()).slice(1))


def sizes(sets: Ragged) -> list[int]:
    return sets.lengths.tolist()


@given(TEXTS)
def test_sentences_and_runs_within_them(texts: list[str]) -> None:
    split = [[tuple(words(one)) for one in sentences(text)] for text in texts]
    expected = [len({one for one in each if one}) for each in split]
    assert sizes(chunks.sentence_sets(rows(texts), PLAIN)) == expected
    runs = [
        {one[i : i + 2] for one in each if one for i in range(max(len(one) - 1, 1))}
        for each in split
    ]
    assert sizes(chunks.sentence_shingle_sets(rows(texts), 2, PLAIN)) == list(map(len, runs))


@given(TEXTS)
def test_skips_leave_one_word_out(texts: list[str]) -> None:
    expected = []
    for text in texts:
        lanes = [words(text)[i::2] for i in (0, 1)]
        grams = {tuple(x[i : i + 2]) for x in lanes if x for i in range(max(len(x) - 1, 1))}
        expected.append(len(grams))
    assert sizes(chunks.skip_sets(rows(texts), 2, PLAIN)) == expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One two, three four; five. One two", 3),
        ("at 3.14 or 10:30 nothing pauses", 1),
        ("一二三，四五六。", 2),
        ("", 0),
        ("... , ;", 0),
    ],
)
def test_strings_between_pause_marks(text: str, count: int) -> None:
    assert sizes(chunks.pause_sets(rows([text, "more"]), PLAIN)) == [count, 1]


@given(st.text("abcäöü 漢字.", max_size=120), st.integers(1, 60))
def test_windows_are_the_distinct_runs(text: str, size: int) -> None:
    form = qgram_form(text)
    runs = {form[i : i + size] for i in range(len(form) - size + 1)}
    assert sizes(chunks.window_sets(rows([text]), size, 1, PLAIN)) == [len(runs)]


def test_selected_windows_are_found_again_in_a_longer_text() -> None:
    part = " ".join(f"word{i * i}" for i in range(400))
    whole = " ".join(f"other{i * i}" for i in range(400)) + " " + part
    sets = chunks.window_sets(rows([part, whole]), 50, 16, PLAIN)
    small, large = sets[0], sets[1]
    shared = len({*small.tolist()} & {*large.tolist()}) / len(small)
    assert 20 < len(small) < 60  # about one window in 16 + 50 characters
    assert shared > 0.9
    result = nd.find([part, whole], method=Join("windows", measure="containment", every=16))
    assert result.pairs.num_rows == 1


@given(TEXTS, st.integers(1, 5), st.integers(0, 3))
def test_a_selection_is_made_of_each_set_alone(texts: list[str], every: int, most: int) -> None:
    whole = chunks.skip_sets(rows(texts), 1, PLAIN)
    made = chunks.selected(whole, every, most)
    for row in range(len(texts)):
        expected = [one for one in whole[row].tolist() if one % every == 0]
        assert made[row].tolist() == expected[: most or None]


def test_the_subset_test_of_cops() -> None:
    sentences_ = [f"This is the sentence with the number {n} of a long text. " for n in range(20)]
    subset, others = "".join(sentences_[:10]), "".join(sentences_[10:])
    method = Join("sentences", measure="containment", threshold=0.9)
    found = nd.find(
        ["".join(sentences_), subset, others[: len(others) // 2] + subset], method=method
    )
    assert {(p["a"], p["b"]) for p in found.pairs.to_pylist()} >= {("input:1", "input:2")}
