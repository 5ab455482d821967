"""The kind of a pair: what each means, and that it does not depend on who comes first."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.decisions.kinds import Kind, aligned_kinds, kind_of
from neardup.schema import DIRECTIONS, KINDS, Ragged
from neardup.text.text_options import Text

TURNED: dict[str | None, str | None] = {"a_in_b": "b_in_a", "b_in_a": "a_in_b", None: None}


def word(drawn: random.Random) -> str:
    return "".join(drawn.choice("abcdefghijklmnoprstuvwz") for _ in range(drawn.randint(3, 9)))


def sentence(seed: int, words: int = 12) -> str:
    drawn = random.Random(seed)
    return " ".join(word(drawn) for _ in range(words)).capitalize() + "."


def paragraph(seed: int, sentences: int = 4) -> str:
    return " ".join(sentence(1000 * seed + i) for i in range(sentences))


PARAGRAPHS = [paragraph(seed) for seed in range(6)]
STORY = "\n\n".join(PARAGRAPHS)


def told(a: str, b: str) -> tuple[str, str | None]:
    one, other = kind_of(a, b), kind_of(b, a)
    assert other == Kind(one.kind, TURNED[one.direction], one.confidence)
    return one.kind, one.direction


def test_equal_texts() -> None:
    assert kind_of(STORY, STORY) == Kind("identical", None, 1.0)
    assert kind_of(STORY, STORY.upper().replace(".", " !")) == Kind("normalised", None, 1.0)
    assert kind_of("1 a", "2 b", Text(digits="drop")).kind == "other"


@given(st.integers(1, 5), st.integers(100, 10**6))
def test_a_paragraph_more_is_an_elaboration(at: int, seed: int) -> None:
    more = "\n\n".join([*PARAGRAPHS[:at], paragraph(seed), *PARAGRAPHS[at:]])
    assert told(STORY, more) == ("elaboration", "a_in_b")


@given(st.floats(0.2, 0.9), st.booleans())
def test_a_cut_is_an_excerpt(share: float, first: bool) -> None:
    words = STORY.split(" ")
    count = round(share * len(words))
    part = " ".join(words[:count] if first else words[-count:])
    if (
        not part.endswith(".")
        and not part[0].isupper()
        and "\n\n" not in STORY.partition(part)[2][:4]
    ):
        assert told(STORY, part) == ("excerpt", "b_in_a")


LETTERS = {
    "latin": "abcdefghijklmnoprstuvwz",
    "cyrillic": "абвгдежзиклмнопрстуфхцчшя",
    "greek": "αβγδεζηθικλμνξοπρστυφχψω",
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "chinese": "".join(map(chr, range(0x4E00, 0x5200))),
}


def own_text(script: str, seed: str, words: int) -> str:
    """Sentences of ten words that no other seed has; in Chinese as many characters."""
    drawn = random.Random(f"{script} {seed}")
    if script == "chinese":
        signs = [drawn.choice(LETTERS[script]) for _ in range(words)]
        return "".join(sign + "。" * (i % 10 == 9) for i, sign in enumerate(signs))
    made = [
        "".join(drawn.choice(LETTERS[script]) for _ in range(drawn.randint(3, 9)))
        for _ in range(words)
    ]
    return " ".join(one + "." * (i % 10 == 9) for i, one in enumerate(made))


def with_block(script: str, block: str, seed: str, own: int, where: str, between: str) -> str:
    before = {"beginning": 0, "middle": own // 2, "end": own}[where]
    parts = [own_text(script, f"{seed} {i}", n) for i, n in enumerate((before, own - before))]
    return between.join(part for part in (parts[0], block, parts[1]) if part)


PLACES = ("beginning", "middle", "end")
scripts = st.sampled_from(list(LETTERS))
places = st.tuples(st.sampled_from(PLACES), st.sampled_from(PLACES))
own_words = st.tuples(st.integers(100, 380), st.integers(100, 380))
breaks = st.sampled_from(["\n\n", " "])


@given(scripts, places, own_words, breaks)
def test_a_block_in_two_texts_of_their_own_is_no_rewrite(
    script: str, at: tuple[str, str], own: tuple[int, int], between: str
) -> None:
    """193 words, word for word, are 34 to 66 per cent of each."""
    block = own_text(script, "block", 193)
    pairs = zip("ab", own, at, strict=True)
    one, other = (with_block(script, block, *of, between) for of in pairs)
    assert told(one, other) == ("other", None)


@given(scripts, st.sampled_from(PLACES), st.integers(60, 900), breaks)
def test_a_text_among_others_is_in_the_longer_one(
    script: str, at: str, own: int, between: str
) -> None:
    """18 to 76 per cent of the longer text are the whole other one."""
    block = own_text(script, "block", 193)
    kind, direction = told(block, with_block(script, block, "more", own, at, between))
    assert kind in ("excerpt", "elaboration", "insertion")
    assert direction == "a_in_b"


@given(scripts, st.integers(2, 5), st.integers(40, 80))
def test_several_blocks_are_no_rewrite(script: str, count: int, own: int) -> None:
    def text(seed: str) -> str:
        parts = [
            f"{own_text(script, f'block {i}', 60)}\n\n{own_text(script, f'{seed} {i}', own)}"
            for i in range(count)
        ]
        return "\n\n".join(parts)

    assert told(text("one"), text("other"))[0] != "rewrite"


@given(st.integers(0, 5), st.integers(1, 3), st.integers(100, 10**6))
def test_a_sentence_inside_a_paragraph_is_an_insertion(where: int, at: int, seed: int) -> None:
    sentences = PARAGRAPHS[where].split(". ")
    longer = ". ".join([*sentences[:at], sentence(seed).rstrip("."), *sentences[at:]])
    changed = "\n\n".join([*PARAGRAPHS[:where], longer, *PARAGRAPHS[where + 1 :]])
    assert told(STORY, changed) == ("insertion", "a_in_b")


@given(st.sets(st.integers(0, 40), min_size=1, max_size=12), st.integers(0, 9))
def test_other_numbers_are_a_revision(places: set[int], digit: int) -> None:
    words = " ".join(
        f"word{chr(97 + i % 26)} {i}7{i}" if i % 3 == 0 else f"ord{chr(97 + i % 26)}"
        for i in range(120)
    )
    numbers = [word for word in words.split() if word.isdigit()]
    changed = words
    for place in places:
        changed = changed.replace(f" {numbers[place % len(numbers)]} ", f" 9{digit}9{place}5 ")
    if changed != words:
        assert told(words, changed) == ("revision", None)


def test_a_few_other_words_are_a_revision_and_many_a_rewrite() -> None:
    drawn = random.Random(3)

    def with_others(share: float) -> str:
        return " ".join(word(drawn) if drawn.random() < share else w for w in STORY.split(" "))

    assert told(STORY, with_others(0.03)) == ("revision", None)
    assert told(STORY, with_others(0.25)) == ("rewrite", None)


@pytest.mark.parametrize("width", [30, 47, 80])
def test_other_lines_and_page_numbers_are_layout(width: int) -> None:
    lines, line = [], ""
    for word in STORY.split():
        if len(line) + len(word) > width:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    lines.append(line)
    pages = [lines[i : i + 15] for i in range(0, len(lines), 15)]
    text = "\n".join("\n".join([*page, "", f"- {n + 3} -", ""]) for n, page in enumerate(pages))
    assert told(STORY, text)[0] == "layout"
    headed = "\n".join(
        "\n".join([f"The Courier, page {n}", "", *page]) for n, page in enumerate(pages)
    )
    assert told(STORY, headed)[0] == "layout"
    hyphened = re.sub(r"\b(\w{4})(\w{5})\b", r"\1-\n\2", text)
    assert told(STORY, hyphened)[0] == "layout"


def test_a_menu_around_the_text_is_layout() -> None:
    framed = f"Home | News | Sport and more | Sign in\n\n{STORY}\n\nAbout us | Contact | Imprint"
    assert told(STORY, framed) == ("layout", "a_in_b")


def test_another_order_is_other() -> None:
    assert told(STORY, "\n\n".join(reversed(PARAGRAPHS))) == ("other", None)


def test_misread_letters_are_other() -> None:
    drawn = random.Random(5)
    prose = " ".join(
        "".join(drawn.choice("abcdefghiklmnoprstu") for _ in range(8)) for _ in range(200)
    )
    noisy = "".join(
        drawn.choice("xyz1") if c != " " and drawn.random() < 0.08 else c for c in prose
    )
    assert told(prose, noisy) == ("other", None)


def test_unlike_texts_are_other() -> None:
    assert told(STORY, "\n\n".join(map(paragraph, range(50, 56)))) == ("other", None)


def test_the_same_change_again_and_again_is_one() -> None:
    """A name that came to be another is a small edit, however often it stands there."""
    text = " ".join(f"{sentence(i)[:-1]} Miller." for i in range(30))
    assert told(text, text.replace("Miller", "Moeller Brothers and Company")) == ("revision", None)


HAN = (
    "白鷺岬の灯台で六十年間使われてきたレンズが、水曜日に取り外された。"
    "直径二メートルのガラスは四つに分けられ、町の漁師ら三十人が綱で引いて、"
    "岬の下の小学校まで運んだ。新しい光源は手のひらほどの大きさで、"
    "これまでの十分の一の電気で同じ距離まで届くという。"
)
MORE = (
    "灯台守を父に持つ浜名澄江さんは、毎晩この光を見ながら眠ったと話す。"
    "霧の深い夜には、父が階段を上る足音が朝まで聞こえたそうだ。"
)


def test_scripts_without_spaces() -> None:
    text = f"{HAN}\n\n{MORE}"
    assert told(HAN, text) == ("elaboration", "a_in_b")
    assert told(text, text[:90]) == ("excerpt", "b_in_a")
    assert told(text, text.replace("三十人", "四十人")) == ("revision", None)
    assert told(HAN, HAN.replace("町の漁師ら", "町の年老いた漁師ら")) == ("insertion", "a_in_b")
    assert told(HAN, "\n".join(HAN[i : i + 30] for i in range(0, len(HAN), 30)))[0] == "layout"


ODD = [
    "",
    " ",
    "\n\n",
    "!!!",
    "…",
    "a",
    "a b",
    "7",
    "漢",
    "漢字",
    "😀",
    "😀 😀",
    "\x00",
    "ﷺ",
    "a\n\n\nb",
]


@pytest.mark.parametrize("a", ODD)
@pytest.mark.parametrize("b", ODD)
def test_odd_texts_have_a_kind(a: str, b: str) -> None:
    kind, _ = told(a, b)
    assert kind in KINDS
    assert (kind == "identical") == (a == b)


LINES = st.text("ab 1|.-\n漢é", max_size=60)


@given(LINES, LINES)
def test_the_kind_is_the_same_from_both_sides(a: str, b: str) -> None:
    found = kind_of(a, b)
    assert found.kind in KINDS
    assert found.direction in (None, *DIRECTIONS)
    assert 0 <= found.confidence <= 1
    told(a, b)


@given(st.lists(st.text("abc d\n", min_size=1, max_size=40), min_size=2, max_size=8, unique=True))
def test_many_pairs_at_once_are_as_one_by_one(texts: list[str]) -> None:
    a, b = np.triu_indices(len(texts), 1)
    at_once = aligned_kinds(Ragged.of_texts(texts), a, b)
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        one = Ragged.of_texts([texts[x], texts[y]])
        assert at_once[i] == aligned_kinds(one, np.array([0]), np.array([1]))[0]


def test_megabytes_are_bounded() -> None:
    """What took the square of 200,000 words would not end."""
    drawn = random.Random(1)
    words = [f"w{drawn.randrange(50_000)}" for _ in range(200_000)]
    text = " ".join(words)
    assert len(text) > 1_200_000
    for i in range(0, len(words), 5000):
        words[i] = "other"
    assert kind_of(text, " ".join(words)).kind == "revision"
    assert kind_of("a " * 600_000, "b a " * 300_000).kind in KINDS
