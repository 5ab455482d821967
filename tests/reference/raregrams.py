"""The slow, obvious twin of methods/raregrams: dictionaries of grams and exact fractions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple
from unicodedata import category

from reference import minhash, qgrams, rarity
from reference.shingles import MASK, scramble

WIDTH, SAMPLE = 8, 512
MANY_HAVE, FEW_HAVE, ONE_HAS, SOME_HAVE = range(4)
SECRETS = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0x8BB84B93962EACC9, 0x4B33A62ED433D4A3)


class Gram(NamedTuple):
    level: int
    weight: int
    kind: int
    figure: bool


class Document(NamedTuple):
    """``grams`` by feature."""

    level: int
    grams: Mapping[int, Gram]

    def at(self, level: int) -> dict[int, Gram]:
        return {f: gram for f, gram in self.grams.items() if gram.level >= level}


def level_of_length(characters: int, most: int) -> int:
    if characters <= 4 * most:
        most *= 2
    level = 0
    while most * 2**level < characters:
        level += 1
    return level


def gram_hash(gram: str) -> int:
    """A character below U+0800 is one byte; a wide one is the byte 0, and its hash is added."""
    codes = [ord(c) if c.isascii() else 0x80 | ord(c) & 0x7F for c in gram]
    narrow = bytes(0 if ord(c) >= 0x800 else code for c, code in zip(gram, codes, strict=True))
    number = int.from_bytes(narrow, "little") ^ SECRETS[0]
    for k, c in enumerate(gram):
        if ord(c) >= 0x800:
            hash_ = scramble(ord(c) + SECRETS[0] & MASK)
            number ^= (hash_ << 8 * k | hash_ >> 64 - 8 * k) & MASK
    return scramble(number)


def sample(text: str, most: int = SAMPLE) -> tuple[int, dict[int, tuple[int, bool]]]:
    """The level of the text, and of each feature its level and whether it is a figure: it has
    three digits in a row."""
    level = level_of_length(len(qgrams.normal_form(text)), most)
    levels: dict[int, tuple[int, bool]] = {}
    for gram in {*qgrams.qgrams(text, WIDTH)}:
        hash_ = gram_hash(gram)
        own = min(32 - (hash_ & 0xFFFFFFFF).bit_length(), 31)
        if own >= level:
            feature = hash_ >> 32
            figure = "ddd" in "".join("d" if category(c) == "Nd" else "-" for c in gram)
            levels[feature] = max(levels.get(feature, (0, False)), (own, figure))
    return level, levels


class Table(NamedTuple):
    counts: Counter[int]
    documents: int
    slots: int

    def gram(self, feature: int, level: int, figure: bool) -> Gram:
        n = self.counts[feature % self.slots]
        kind = ONE_HAS if n < 2 else FEW_HAVE if n <= 20 else SOME_HAVE if n <= 100 else MANY_HAVE
        n = min(max(n, 1), self.documents)  # features of one document may share a slot
        return Gram(level, round(4096 * max(rarity.idf(n, self.documents), 0.1)), kind, figure)


def table(texts: Sequence[str], slots: int) -> Table:
    counts = Counter(f % slots for text in texts for f in sample(text)[1])
    return Table(counts, len(texts), slots)


def document(text: str, known: Table) -> Document:
    level, levels = sample(text)
    return Document(level, {f: known.gram(f, *own) for f, own in levels.items()})


def entries(made: Document) -> list[int]:
    grams = sorted(made.grams.items())
    rows = [
        f << 32 | gram.level << 24 | gram.figure << 23 | gram.weight << 2 | gram.kind
        for f, gram in grams
    ]
    return [made.level + 1 << 2, *rows]


def fold(a: int, b: int) -> int:
    product = a * b
    return (product ^ product >> 64) & MASK


def band_key(values: Sequence[int], band: int) -> int:
    key = fold(SECRETS[0] ^ band, SECRETS[1] ^ len(values))
    for value in values:
        key = fold(key ^ value, SECRETS[3])
    return key


def keys(made: Document, multipliers: Sequence[int], *, refuse: bool) -> tuple[list[int], int]:
    """Sorted, bands last; and how many look: a document that goes on does not with its bands."""
    top = 1 << 63

    def first(kinds: tuple[int, ...], most: int) -> list[int]:
        chosen = [(-gram.level, f) for f, gram in made.grams.items() if gram.kind in kinds]
        return [f for _, f in sorted(chosen)[:most]]

    found = [scramble(f | 1 << 32) % top for f in first((FEW_HAVE, SOME_HAVE), 32)]
    found += [scramble(f | 2 << 32) % top for f in first((ONE_HAS,), 16)]
    known = [f for f, gram in made.grams.items() if gram.kind != ONE_HAS]
    if len(known) >= 8:
        minima = minhash.minima([scramble(f ^ SECRETS[0]) for f in known], multipliers)
        bands = [band_key(minima[3 * b : 3 * b + 3], b) for b in range(16)]
        found += [key | top for key in [*bands, *map(scramble, bands)]]
    lone = sum(gram.kind == ONE_HAS for gram in made.grams.values())
    goes_on = refuse and lone >= 6 and lone * 8 >= len(made.grams)
    return sorted(found), sum(key < top or not goes_on for key in found)


class Answer(NamedTuple):
    score: Fraction
    template: bool
    thin: bool


def compared(a: Document, b: Document) -> Answer:
    level = max(a.level, b.level)
    x, y = a.at(level), b.at(level)
    shared = x.keys() & y.keys()

    def known(grams: Mapping[int, Gram]) -> int:
        return sum(g.weight for f, g in grams.items() if g.kind != ONE_HAS or f in shared)

    common = sum(x[f].weight for f in shared)
    larger, smaller = max(known(x), known(y)), min(known(x), known(y))
    whole = Fraction(7, 10) * larger + Fraction(13, 10) * smaller - common
    own = min(sum(g.kind == ONE_HAS for g in grams.values()) for grams in (x, y))
    rare = sum(x[f].kind in (FEW_HAVE, ONE_HAS) for f in shared)
    size = min(len(x), len(y))
    figures = min(sum(g.figure for g in grams.values()) for grams in (x, y))
    common_figures = sum(x[f].figure for f in shared)
    words, common_words = size - figures, len(shared) - common_figures
    other_figures = level <= 3 and figures << level >= 80 and figures * 25 >= size
    other_figures = other_figures and 10 * common_words >= 7 * words
    other_figures = other_figures and 2 * common_figures * words < figures * common_words
    unshared = [g.kind for grams in (x, y) for f, g in grams.items() if f not in shared]
    apart = sum(kind in (SOME_HAVE, MANY_HAVE) for kind in unshared)
    lone = sum(g.kind == ONE_HAS for grams in (x, y) for g in grams.values())
    template = own >= 6 and own * 64 >= size and rare < own and 4 * rare < len(shared)
    template = template and 10 * apart < 17 * lone
    return Answer(
        Fraction(common) / whole if common else Fraction(0),
        template or other_figures,
        2 * len(shared) < size,
    )
