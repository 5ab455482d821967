"""The definition of a word by example. The golden hashes are part of the signature format."""

from __future__ import annotations

import pytest

from neardup import _native
from neardup.text.text_options import Text
from neardup.text.words import buffers, normal_form, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A rose is a flower", ["a", "rose", "is", "a", "flower"]),
        ("Don't stop—ever.", ["don", "t", "stop", "ever"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("ΣΊΣΥΦΟΣ σίσυφος", ["σίσυφοσ", "σίσυφοσ"]),
        ("ﬁne Ｆｕｌｌ K", ["fine", "full", "k"]),
        ("cafe\u0301 café", ["café", "café"]),
        ("co\u00adoperate \ufeffx\u200dy", ["cooperate", "xy"]),
        ("snake_case 3.14 50%", ["snake", "case", "3", "14", "50"]),
        ("한국어 텍스트", ["한국어", "텍스트"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("日本語", ["日本", "本語"]),
        ("東京tower2024年", ["東京", "tower2024", "年"]),
        ("コンピューター", ["コン", "ンピ", "ピュ", "ュー", "ータ", "ター"]),
        ("ที่นี่", ["ที่นี่"]),
        ("人々", ["人々"]),
        ("\u0e31x", ["\u0e31", "x"]),
        ("", []),
        (" \t\n!?", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("options", "text", "expected"),
    [
        (Text(case="keep"), "The ﬁ", ["The", "fi"]),
        (Text(digits="mask"), "a12 ٣٤", ["a00", "00"]),
        (Text(digits="drop"), "a12b 34 中5国", ["ab", "中国"]),
        (Text(punctuation="remove"), "don't e-mail 中、国", ["dont", "email", "中国"]),
        (Text(diacritics="strip"), "Éléphant ёж Ζεύς", ["elephant", "еж", "ζευσ"]),
        (Text(diacritics="strip"), "हिन्दी ไม่ がく", words("हिन्दी ไม่ がく")),
    ],
)
def test_options(options: Text, text: str, expected: list[str]) -> None:
    assert words(text, options) == expected


SCRIPTS = """
    Hello Привет Γειά שלום مرحبا سلام नमस्ते হ্যালো ਸਤਿ નમસ્તે ନମସ୍କାର வணக்கம் నమస్కారం ನಮಸ್ಕಾರ ഹലോ
    ආයුබෝවන් สวัสดี ສະບາຍດີ བཀྲ་ཤིས་ မင်္ဂလာပါ გამარჯობა 안녕 ሰላም ᎣᏏᏲ ជំរាបសួរ ᠰᠠᠢᠨ こんにちは カナ 你好
    ㄅㄆㄇ ꆈꌠ Բարեւ ߌߣߌ ⵣ ꦲꦤ ᬅᬓ 𞤢𞤣 𗀀𗀁 𓀀𓀁 ᥖᥭ ᦟᦲ ᨲᩣ ꪼꪕ 𑜀𑜁
"""


@pytest.mark.parametrize("text", SCRIPTS.split())
def test_no_script_is_empty(text: str) -> None:
    assert words(text)
    assert normal_form(text)


def test_normal_form() -> None:
    assert normal_form("  The—Quick\n(brown) FOX ") == "the quick brown fox"
    assert normal_form("日本語 text") == "日本 本語 text"
    assert normal_form("") == ""


def test_normal_form_without_words_keeps_the_symbols() -> None:
    assert normal_form("  …  ♥\u3000\n♥ ") == "... ♥ ♥"
    dropping = Text(digits="drop", punctuation="remove")
    assert normal_form(" 12 - 13 ", dropping) == "12 - 13"
    assert normal_form("12") != normal_form("13", dropping)


def test_lone_surrogates_separate() -> None:
    assert words("one\ud800two") == ["one", "two"]


def test_unicode_version() -> None:
    assert _native.UNICODE_VERSION == "15.0.0"


GOLDEN = {
    "": 0xE06B3DCF04F33A1A,
    "a": 0x82C3FB242E1F1E04,
    "rose": 0x01360D1BB9AEE64C,
    "don": 0x4BFD74E526981E7E,
    "straße": 0x5024C2FC7EF7BAA9,
    "абв": 0xD129DC45EBCEB1BF,
    "日本": 0x6E3ED0FE654C1F83,
    "12345678": 0xA39A13981662AD2F,
    "123456789": 0xC1005C233D6EA842,
    "0123456789abcdef": 0x55393434B23F7BFC,
    "0123456789abcdefg": 0x9F2F058F461DE01B,
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx": 0x251EA7BD3176E794,
}


def test_golden_word_hashes() -> None:
    assert dict(zip(GOLDEN, _native.hash_words(*buffers(GOLDEN)).tolist(), strict=True)) == GOLDEN


def test_offsets_are_checked() -> None:
    values, offsets = buffers(["one", "two"])
    with pytest.raises(ValueError, match="offsets"):
        _native.word_hashes(values, offsets + 1, Text().native())
    with pytest.raises(ValueError, match="offsets"):
        _native.words(values, offsets[::-1].copy(), Text().native())
