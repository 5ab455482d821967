"""Noise of machines and people who copy a text: OCR, scans, typing, lost spaces, transcripts.

The rate of ``ocr`` and ``typing`` is a character error rate: the number of character edits that
turn the text into its copy, as a share of its characters. Errors cluster in stretches of the text,
as they do on bad paper or with a tired typist. OCR confuses characters that look alike in print:
for Latin, Greek and Cyrillic those that OCR engines are known to confuse, for Arabic and Hebrew
those that differ by dots and strokes, for kana and Thai those of similar shape. Typing confuses
neighbouring keys.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from random import Random

from neardup.planting.material import Material, Unit, units
from neardup.planting.word_edits import chosen, how_many, layout

# A letter and what it may be read as, which can be several letters.
_READ_AS = (
    "m:rn,in,nn l:1,I,i,t 1:l,I i:l,1,j,ı I:l,1,T o:c,0,e e:c,o c:e,o h:b,li b:h,6 u:n,ii,v n:u,ri "
    "d:cl,a w:vv k:lc f:t,ſ t:f,l,r s:ſ,f,a S:5,8 5:S B:8,R 8:B,3 g:q,9 q:g y:v,j v:y,u a:s,u,o "
    "r:t,x z:x j:; p:n,q x:z O:0,Q,D 0:O,o 2:Z Z:2 6:b 9:g 3:8 7:1 4:A E:F,B F:P,E D:O G:C,6 C:G,( "
    "M:N,IVI N:M,H H:N,II W:VV U:V,II V:U,Y R:B,K K:R P:F T:I,Y L:I,J A:4 .:, ,:. ::; ;:: -:~,_ "
    "ä:a,ii,å ö:o,6 ü:u,ii Ä:A Ö:O Ü:U ß:B,fs,b é:e,6 è:e ê:e,6 ë:e à:a á:a â:a,å ã:a å:a ç:c,g "
    "ñ:n,ii ó:o,6 ò:o ô:o,6 õ:o ø:o,e í:i,l ì:i î:i ï:i ú:u ù:u û:u æ:œ,ae œ:æ,oe ł:l,t "
    "ś:s ş:s š:s ć:c č:c ń:n ż:z ź:z ž:z ř:r ě:e ğ:g ı:i ő:ö ű:ü đ:d ţ:t ą:a ę:e "
    "п:н,л н:п,и и:н,п ш:щ,ни щ:ш с:е,о е:с,о о:с,е ь:ъ,б ъ:ь б:6,ь з:э,3 э:з в:б,о л:п д:л "
    "м:ш т:г г:т й:и ц:п ё:е р:о у:х х:к к:х ы:ьт,н ю:го я:л і:ї,1 ї:і є:с "
    "ν:υ υ:ν,ο ο:σ,ό σ:ο,δ α:ο,σ ε:έ,ς ι:ί ί:ι τ:ι π:η η:π,ή ή:η ρ:ο κ:χ χ:κ ω:ώ μ:ν ς:ε"
)
# Each letter of a set may be read as any other letter of it.
_SETS = (
    "بتثنيپ جحخچ دذ رزژ سش صض طظ عغ فق ةه كگک وؤ اأإآ ىيی "
    "החת וזן דרך בכ םס גנ עצ טמ "
    "シツ ソンリ ハバパ カガ キギ クグ コゴユ ウワフヌ メナ テデチ ぬめあ るろ ねれわ はほば "
    "きさ かが くぐ たな とど しじ いり てで しつ つっ ょよ ゃや ゅゆ "
    "กภถ คดต ผฝพฟ ชซข บปษ นม สล รธ อฮ ฎฏ ิีึื ่้ "
    "भम पषय बव धघ दढ रस डङ कफ तन िी ुू ेै ोौ"
)
# Two letters that may be read as one, and ligatures.
JOINED = {"rn": "m", "cl": "d", "vv": "w", "ii": "ü", "li": "h", "nn": "m", "fi": "ﬁ", "fl": "ﬂ"}
JOINED |= {"ff": "ﬀ", "ri": "n", "ss": "ß", "ae": "æ", "ni": "m", "in": "m", "tl": "d", "ьт": "ы"}

_ROWS = (
    *("qwertyuiop", "asdfghjkl", "zxcvbnm", "1234567890"),
    *("йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю"),
    *("ضصثقفغعهخحج", "شسيبلاتنمكط"),
    *("ςερτυθιοπ", "ασδφγηξκλ", "ζχψωβνμ"),
)


def _lookalikes() -> dict[str, list[str]]:
    lookalikes: dict[str, list[str]] = {}
    for entry in _READ_AS.split():
        letter, others = entry[0], entry[2:]
        read_as = [other for other in others.split(",") if other and other != letter]
        lookalikes[letter] = read_as or [others]  # a comma is itself what a full stop is read as
    for group in _SETS.split():
        for letter in group:
            known = lookalikes.setdefault(letter, [])
            known += [other for other in group if other not in (letter, *known)]
    return lookalikes


LOOKALIKES = _lookalikes()
NEIGHBOURS = {
    letter: row[max(i - 1, 0) : i] + row[i + 1 : i + 2]
    for row in _ROWS
    for i, letter in enumerate(row)
}

STRETCH = 80  # characters of about the same quality
WORST = 4.0  # errors in the worst stretches, relative to the best ones
TRIES = 20
LINE_ENDS = 0.3  # the share of line ends of a scan that hyphenate a word

Error = tuple[int, str, int]  # number of characters replaced, the replacement, number of edits


def ocr(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """Characters are lost or confused with similar ones; words are merged and split."""
    return _with_errors(text, rate, random, _misread)


def scan(text: str, rate: float, random: Random, material: Material) -> str:
    """OCR of a printed page: lines of one width, hyphenated words, numbered pages."""
    return ocr(layout(text, LINE_ENDS, random, material), rate, random, material)


def typing(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """Characters are left out, doubled, transposed, or replaced by a neighbouring key."""
    return _with_errors(text, rate, random, _mistyped)


def _with_errors(
    text: str, rate: float, random: Random, make: Callable[[str, int, Random], Error]
) -> str:
    """The text with errors, the bad stretches first, until their edits amount to ``rate``."""
    left = how_many(rate, len(text))
    pieces = list(text)
    free = [True] * len(text)
    for i in _worst_first(len(text), random):
        length, replacement, edits = make(text, i, random)
        if left <= 0:
            break
        if edits <= left and all(free[i : i + length]):
            pieces[i : i + length] = [replacement, *[""] * (length - 1)]
            free[i : i + length] = [False] * length
            left -= edits
    return "".join(pieces)


def _worst_first(length: int, random: Random) -> list[int]:
    """Positions in a weighted random order that prefers bad stretches (Efraimidis & Spirakis)."""
    badness = [random.uniform(1, WORST) for _ in range(length // STRETCH + 1)]
    arrival = [random.expovariate(badness[i // STRETCH]) for i in range(length)]
    return sorted(range(length), key=arrival.__getitem__)


def _misread(text: str, i: int, random: Random) -> Error:
    letter, fate = text[i], random.random()
    if letter.isspace() or fate < 0.08:
        return 1, "", 1  # merged words, a lost letter
    if fate < 0.16:
        return 1, f"{letter} ", 1  # a split word
    if fate < 0.2:
        return 1, f"{letter}{random.choice('.,-·')}", 1  # a speck
    if text[i : i + 2] in JOINED and fate < 0.7:
        return 2, JOINED[text[i : i + 2]], 2
    other = random.choice(LOOKALIKES.get(letter) or [_same_category(text, letter, random)])
    return 1, other, max(len(other), 1)


def _same_category(text: str, letter: str, random: Random) -> str:
    """Han and Hangul are encoded in the order of their components, so a nearby code point looks
    similar. For other scripts a letter of the text of the same Unicode category, or none."""
    if unicodedata.name(letter, "").startswith(("CJK UNIFIED", "HANGUL SYLLABLE")):
        near = chr(ord(letter) + random.choice((-3, -2, -1, 1, 2, 3)))
        if unicodedata.category(near) == "Lo":
            return near
    for _ in range(TRIES):
        other = random.choice(text)
        if other != letter and unicodedata.category(other) == unicodedata.category(letter):
            return other
    return ""


def _mistyped(text: str, i: int, random: Random) -> Error:
    letter, fate = text[i], random.random()
    if fate < 0.3 or letter.isspace():
        return 1, "", 1
    if fate < 0.5:
        return 1, letter * 2, 1
    following = text[i + 1 : i + 2]
    if fate < 0.65 and following not in ("", letter):
        return 2, following + letter, 2
    near = NEIGHBOURS.get(letter.casefold())
    other = random.choice(near) if near else _same_category(text, letter, random)
    return 1, other.upper() if letter.isupper() else other, 1


def spacing(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """Words lose the space after them, or are broken in two."""
    words = units(text)
    pieces: list[str] = []
    at = 0
    for i in chosen(len(words), rate, random):
        start, end, _ = words[i]
        single_space = text[end : end + 1].isspace() and not text[end + 1 : end + 2].isspace()
        merged = single_space and random.random() < 0.5
        stop = end if merged or end - start < 2 else random.randrange(start + 1, end)
        pieces += [text[at:stop], "" if merged else " "]
        at = end + 1 if merged else stop
    return "".join([*pieces, text[at:]])


def transcript(text: str, rate: float, random: Random, material: Material) -> str:
    """An automatic transcript of the text read aloud: lower case, no punctuation, and ``rate`` of
    the words lost or replaced by words that sound alike."""
    words = units(text)
    missed = set(chosen(len(words), rate, random))
    pieces: list[str] = []
    at = 0
    for i, unit in enumerate(words):
        word = text[unit.start : unit.end]
        pieces.append(_pause(text[at : unit.start], unit))
        pieces.append(_misheard(word, unit, random, material) if i in missed else word.lower())
        at = unit.end
    return "".join(pieces).strip()


def _misheard(word: str, unit: Unit, random: Random, material: Material) -> str:
    if random.random() < 0.3:
        return ""
    alike = [other for other in material.sounding(word) if other.casefold() != word.casefold()]
    other = random.choice(alike) if alike else material.word(random, spaceless=unit.spaceless)
    return (other or "").lower()


def _pause(between: str, unit: Unit) -> str:
    """Line breaks stay; anything else becomes a space, or nothing in scripts without spaces."""
    if not between or "\n" in between:
        return between and ("\n\n" if "\n\n" in between else "\n")
    return "" if unit.spaceless and " " not in between else " "
