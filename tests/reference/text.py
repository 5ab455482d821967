"""The slow, obvious twin of native/text: Python's ``unicodedata`` and nothing of ours.

It holds for characters that Python's Unicode version and ours both know (``known``).
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

# Default_Ignorable_Code_Point of DerivedCoreProperties.txt.
IGNORABLE = {
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFEFF, 0xFFA0),
    *range(0x180B, 0x1810),
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10),
    *range(0xFFF0, 0xFFF9),
    *range(0x1BCA0, 0x1BCA4),
    *range(0x1D173, 0x1D17B),
    *range(0xE0000, 0xE1000),
}

SPACELESS_NAMES = (
    *(
        "AHOM ",
        "ANATOLIAN HIEROGLYPH",
        "BALINESE ",
        "BOPOMOFO ",
        "BUGINESE ",
        "CUNEIFORM ",
        "CJK ",
        "HANGZHOU ",
    ),
    *("EGYPTIAN HIEROGLYPH", "HIRAGANA ", "HENTAIGANA ", "JAVANESE ", "KATAKANA ", "KHITAN SMALL "),
    *("KATAKANA-HIRAGANA ", "VERTICAL KANA ", "IDEOGRAPHIC ITERATION", "IDEOGRAPHIC CLOSING"),
    *("IDEOGRAPHIC NUMBER", "MASU ", "VERTICAL IDEOGRAPHIC ", "OLD CHINESE ", "KHMER ", "LAO "),
    *(
        "MYANMAR ",
        "NEW TAI LUE ",
        "NUSHU ",
        "TAI LE ",
        "TAI THAM ",
        "TAI VIET ",
        "TANGUT ",
        "THAI ",
    ),
    *("TIBETAN ", "VIETNAMESE ALTERNATE ", "YI ", "HALFWIDTH KATAKANA"),
)
TANGUT = (range(0x17000, 0x18800), range(0x18D00, 0x18D09))  # Python has no names for them
WHITE_SPACE = "\t\n\x0b\x0c\r \x85\u1680\u2028\u2029"


@dataclass(frozen=True)
class Options:
    case: str = "fold"
    digits: str = "keep"
    punctuation: str = "split"
    diacritics: str = "keep"


def words(text: str, options: Options) -> list[str]:
    found: list[str] = []
    for kind, run in runs(prepare(text, options)):
        found += ["".join(run)] if kind == "ordinary" else bigrams(run)
    return found


def normal_form(text: str, options: Options) -> str:
    found = words(text, options)
    if found:
        return " ".join(found)
    plain = prepare(text, Options(case=options.case, diacritics=options.diacritics))
    for white in WHITE_SPACE:
        plain = plain.replace(white, " ")
    return " ".join(part for part in plain.split(" ") if part)


def prepare(text: str, options: Options) -> str:
    fold = nfkc_casefold if options.case == "fold" else nfkc_kept
    mapped = (digit_or_none(c, options) for source in text for c in fold(source))
    composed = unicodedata.normalize("NFC", "".join(c for c in mapped if c))
    return strip(composed) if options.diacritics == "strip" else composed


def digit_or_none(c: str, options: Options) -> str:
    category = unicodedata.category(c)
    if category == "Nd":
        return {"keep": c, "mask": "0", "drop": ""}[options.digits]
    return "" if category[0] == "P" and options.punctuation == "remove" else c


@cache
def nfkc_casefold(c: str) -> str:
    """NFKC_Casefold of one character (Unicode 3.13): fold and normalise until nothing moves."""
    before, now = "", c
    while before != now:
        before = now
        kept = "".join(x for x in now if ord(x) not in IGNORABLE)
        now = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", kept).casefold())
    return now


def nfkc_kept(c: str) -> str:
    return "" if ord(c) in IGNORABLE else unicodedata.normalize("NFKC", c)


def strip(text: str) -> str:
    kept, on_alphabet = [], False
    for c in unicodedata.normalize("NFD", text):
        category = unicodedata.category(c)
        if category[0] != "M":
            on_alphabet = category[0] == "L" and is_alphabet(c)
        if category != "Mn" or not on_alphabet:
            kept.append(c)
    return unicodedata.normalize("NFC", "".join(kept))


def is_alphabet(c: str) -> bool:
    named = unicodedata.name(c, "").split(" ")[0] in ("LATIN", "GREEK", "CYRILLIC")
    return named or c in "ᴯᴻᵎℲⅎↃ𐞀"  # Latin letters whose names do not say so


def runs(text: str) -> list[tuple[str, list[str]]]:
    """(kind, units); a unit is a letter with its marks."""
    found: list[tuple[str, list[str]]] = []
    state = "separator"
    for c in text:
        major = unicodedata.category(c)[0]
        if major == "M" and state != "separator":
            found[-1][1][-1] += c
            continue
        kind = kind_of(c)
        if kind != "separator":
            if kind != state:
                found.append((kind, []))
            found[-1][1].append(c)
        state = kind
    return found


@cache
def kind_of(c: str) -> str:
    category = unicodedata.category(c)
    if category[0] not in "LMN":
        return "separator"
    spaceless = unicodedata.name(c, "").startswith(SPACELESS_NAMES)
    spaceless |= any(ord(c) in block for block in TANGUT)
    return "spaceless" if spaceless and (category[0] in "LM" or category == "Nl") else "ordinary"


def bigrams(units: list[str]) -> list[str]:
    return ["".join(pair) for pair in pairwise(units)] if len(units) > 1 else units


def decode(data: bytes) -> str:
    """Every byte that begins no valid character is one U+FFFD."""
    text, at = "", 0
    while at < len(data):
        for size in range(1, 5):
            try:
                text += data[at : at + size].decode()
                break
            except UnicodeDecodeError:
                continue
        else:
            text, size = text + "\ufffd", 1
        at += size
    return text


def known() -> str:
    """Characters assigned in Python's version and in ours; of a newer Python only the old ones."""
    newer = tuple(map(int, unicodedata.unidata_version.split("."))) > (15, 0, 0)
    database = unicodedata.ucd_3_2_0 if newer else unicodedata
    return "".join(c for c in map(chr, range(0x110000)) if database.category(c) not in UNUSABLE)


UNUSABLE = ("Cn", "Cs", "Co")
KNOWN = known()
