"""Every edit does what it states, on texts of any script and length, and the same for one seed."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from neardup.errors import SettingsError
from neardup.planting.edits import EDITS, Edit, edits_named
from neardup.planting.material import (
    Material,
    joined,
    paragraph_parts,
    sentence_parts,
    unit_count,
    units,
)
from neardup.schema import KINDS
from neardup.text.words import normal_form, words

ENGLISH = (
    "The council voted on 14 May 2021 to rebuild the pier. It had stood since 1887, and storms "
    "had damaged it twice. Work begins in spring!\n\nThe mayor said the cost of 3.4 million was "
    "fair. Others disagreed: a ferry would do. They will meet again on 2 June.\n\nFishermen were "
    "not asked. Some of them learnt of the plan from the newspaper, which printed it on page 3. "
    "Nobody knows who wrote the report that the council had read before it voted that evening."
)
GERMAN = (
    "Der Rat beschloss am 3. März 2020 den Umbau der Straße. Kosten: 12 Millionen Euro.\nDie "
    "Anwohner klagten über den Lärm, doch das Gericht wies ihre Klage ab. Bis 2023 soll alles "
    "fertig sein.\nDer Bürgermeister dankte den Größen des Ortes für ihre Geduld und ihren Fleiß."
)
CHINESE = (
    "市議會在2021年5月投票重建碼頭。碼頭自1887年以來一直存在，暴風雨兩次損壞了它。"
    "工程將於春季開始！"
)
THAI = "สภาเมืองลงมติให้สร้างท่าเรือใหม่ในปี 2021 งานจะเริ่มในฤดูใบไม้ผลิ ชาวประมงไม่ได้รับการถาม"
ARABIC = (
    "صوت المجلس على إعادة بناء الرصيف في عام 2021. تضرر مرتين من العواصف. يبدأ العمل في الربيع؟"
)
TEXTS = {"en": ENGLISH, "de": GERMAN, "zh": CHINESE, "th": THAI, "ar": ARABIC}
MATERIAL = Material([*TEXTS.items(), ("more", ENGLISH[::-1])])

each_edit = pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
each_text = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
LETTERS = st.sampled_from(
    [*"aZß.,!?。、 \n\n\t-'19٣", "é", "İ", "ı", "東", "ก", "ิ", "ب", "😀", "\ud800"]
)
SOME_TEXT = st.lists(LETTERS, max_size=60).map("".join)


def made(edit: str | Edit, text: str, rate: float, seed: str = "1") -> str:
    one = EDITS[edit] if isinstance(edit, str) else edit
    return one.copy(text, rate, seed, MATERIAL).text


@each_edit
@pytest.mark.parametrize("text", ["", " ", "\n\n", "one", "東", "ก", "7", "...", "one. two"])
def test_little_texts_are_no_trouble(edit: Edit, text: str) -> None:
    for material in (MATERIAL, Material([])):
        for rate in edit.rates:
            assert isinstance(edit.copy(text, rate, "s", material).text, str)


@given(SOME_TEXT, st.sampled_from(sorted(EDITS)), st.sampled_from([0.01, 0.25, 1.0]))
def test_any_text_can_be_edited_and_one_seed_gives_one_copy(
    text: str, name: str, rate: float
) -> None:
    again = Material(list(MATERIAL.texts))
    assert made(name, text, rate) == EDITS[name].copy(text, rate, "1", again).text


@each_edit
@each_text
def test_another_seed_gives_another_copy(edit: Edit, text: str) -> None:
    copies = {made(edit, text, edit.rates[0], str(seed)) for seed in range(8)}
    fixed = ("excerpt-first", "excerpt-middle", "boilerplate")  # they leave nothing to chance
    few_choices = len(copies) > 1 or edit.rates[0] == 1 or len(sentence_parts(text)) < 4
    assert (len(copies) == 1) if edit.name in fixed else few_choices


@each_text
@pytest.mark.parametrize("rate", [0.01, 0.05, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("name", ["substitutions", "insertions", "deletions"])
def test_so_many_words_change(name: str, rate: float, text: str) -> None:
    before = [text[u.start : u.end] for u in units(text)]
    copy = made(name, text, rate)
    after = [copy[u.start : u.end] for u in units(copy)]
    stated = max(1, round(rate * len(before)))
    grown = {"substitutions": 0, "insertions": stated, "deletions": -stated}[name]
    assert len(after) - len(before) == grown
    distance = Levenshtein.distance(before, after)
    assert distance == stated or (name == "substitutions" and 0 < distance <= stated)


@given(SOME_TEXT, st.sampled_from([0.25, 0.5, 0.75]))
def test_an_excerpt_is_a_part_of_the_text(text: str, rate: float) -> None:
    total = unit_count(text)
    for name in ("excerpt-first", "excerpt-middle"):
        part = made(name, text, rate)
        assert part in text
        if total:
            assert unit_count(part) == max(1, round(rate * total))
    assert text.startswith(made("excerpt-first", text, rate))


@pytest.mark.parametrize("rate", [0.1, 0.25, 0.5])
@each_text
def test_added_paragraphs_leave_the_others_whole(text: str, rate: float) -> None:
    copy = EDITS["paragraphs"].copy(text, rate, "1", MATERIAL)
    own = [part.text for part in paragraph_parts(text)]
    rest = copy.text
    for paragraph in own:
        _, found, rest = rest.partition(paragraph)
        assert found, paragraph
    added = unit_count(copy.text) - unit_count(text)
    assert added == max(1, round(rate * unit_count(text)))
    assert copy.donors
    assert TEXTS.get(copy.donors[0]) != text


@each_text
def test_inserted_sentences_leave_the_others_whole(text: str) -> None:
    copy = EDITS["sentences"].copy(text, 0.25, "1", MATERIAL)
    for part in sentence_parts(text):
        assert part.text in copy.text
    assert unit_count(copy.text) > unit_count(text)


@given(
    st.lists(st.sampled_from(["One. ", "Two!", "三。", "\n\n", "four "]), max_size=12), st.data()
)
def test_reordering_keeps_every_part(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    rate = data.draw(st.sampled_from([0.25, 1.0]))
    for cut, name in ((sentence_parts, "sentences"), (paragraph_parts, "paragraphs")):
        parts = cut(text)
        assert joined(parts) == text
        copy = made(f"reordered-{name}", text, rate)
        assert sorted(copy) == sorted(text)
        assert Counter(words(copy)) == Counter(words(text)) or "三" in text


def test_reordered_parts_stand_elsewhere() -> None:
    before = [part.text for part in sentence_parts(ENGLISH)]
    after = [part.text for part in sentence_parts(made("reordered-sentences", ENGLISH, 1.0))]
    assert Counter(before) == Counter(after)
    assert all(a != b for a, b in zip(before, after, strict=True))


@given(SOME_TEXT, st.sampled_from([0.25, 1.0]))
def test_case_and_punctuation_do_not_change_the_normal_form(text: str, rate: float) -> None:
    for name in ("case", "punctuation"):
        if words(text):
            assert words(made(name, text, rate)) == words(text)
    assert EDITS["case"].kind == EDITS["punctuation"].kind == "normalised"


@pytest.mark.parametrize("text", [ENGLISH, GERMAN])
def test_all_words_in_other_case_are_the_same_words(text: str) -> None:
    copy = made("case", text, 1.0)
    assert copy != text
    assert normal_form(copy) == normal_form(text)


@each_text
def test_numbers_change_and_nothing_else(text: str) -> None:
    copy = made("numbers", text, 1.0)
    assert len(copy) == len(text)
    changed = [(a, b) for a, b in zip(text, copy, strict=True) if a != b]
    assert all(a.isdigit() and b.isdigit() for a, b in changed)
    assert bool(changed) == any(c.isdigit() for c in text)
    assert made("numbers", "٣٤ متر", 1.0)[0] in "١٢٤٥٦٧٨٩"


@each_text
def test_layout_breaks_lines_and_loses_no_letter(text: str) -> None:
    copy = made("layout", text, 1.0)
    kept = "".join(line for line in copy.split("\n") if not line.startswith("– "))
    assert kept.replace("-", "").split() or not text
    flat = [c for c in text if not c.isspace() and c != "-"]
    assert [c for c in kept if not c.isspace() and c != "-"] == flat
    assert max(map(len, copy.split("\n"))) <= 90


@each_text
def test_boilerplate_stands_around_the_whole_text(text: str) -> None:
    copy, other = made("boilerplate", text, 0.5), made("boilerplate", ENGLISH + " More.", 0.5)
    assert text in copy
    assert unit_count(copy) - unit_count(text) == round(0.5 * unit_count(text))
    assert copy[:5] == other[:5]  # one frame for all


def test_kinds_are_those_of_the_list() -> None:
    for edit in EDITS.values():
        assert {edit.kind_at(rate) for rate in edit.rates} <= set(KINDS)
    assert EDITS["substitutions"].kind_at(0.05) == "revision"
    assert EDITS["substitutions"].kind_at(0.1) == "rewrite"


def test_an_unknown_edit_is_named() -> None:
    with pytest.raises(SettingsError, match=r"no edit 'sentence'.*did you mean 'sentences'"):
        edits_named(["sentence"])
    assert [edit.name for edit in edits_named(None)] == list(EDITS)


def test_material_gives_words_of_the_same_sort() -> None:
    random = Random(1)
    for _ in range(50):
        assert words(str(MATERIAL.word(random, spaceless=True)))[0][0] in CHINESE + THAI
    assert Material([]).word(random, spaceless=False) is None
    assert MATERIAL.phrases("x", 40)[:3] == MATERIAL.phrases("x", 20)[:3]
