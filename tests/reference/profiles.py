"""Profiles the slow and obvious way: a dictionary of features a family, from Python's own words."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

from reference import keywords, qgrams, rarity, shingles
from reference.rarity import COMMON, LONE, RARE
from reference.sentences import sentences
from reference.similarity import Entry, Features
from reference.text import Options, words

GRAMS = {  # width, unit, every
    "words1": (1, "words", 1),
    "words2": (2, "words", 1),
    "words3": (3, "words", 1),
    "words5": (5, "words", 1),
    "chars3": (3, "characters", 1),
    "chars5": (5, "characters", 2),
    "chars8": (8, "characters", 4),
}


def word_features(text: str) -> list[int]:
    """Of its words, in order."""
    hashes = [keywords.hash_of(word) for word in words(text, Options())]
    return [hash_ >> 32 for hash_ in shingles.shingle_hashes(hashes, 1)]


def gram_features(text: str, family: str) -> set[int]:
    width, unit, every = GRAMS[family]
    if unit == "words":
        hashes = [keywords.hash_of(word) for word in words(text, Options())]
        return {*shingles.shingle_set(hashes, width)}
    grams = {qgrams.feature(gram) for gram in qgrams.qgrams(text, width)}
    return {feature for feature in grams if (feature >> 8) % every == 0}


class Table(NamedTuple):
    """In how many documents each slot has a feature."""

    counts: Counter[int]
    documents: int
    slots: int

    def entry(self, feature: int, tf: float = 1.0) -> Entry:
        n = max(self.counts[feature % self.slots], 1)
        kind = LONE if n == 1 else RARE if n <= 20 else COMMON
        n = min(n, self.documents)  # features of one document may share a slot
        fixed = round((1 << 14) * max(rarity.idf(n, self.documents), 0.1))
        return Entry(round(fixed * tf), kind)


def table(texts: Sequence[str], family: str, slots: int) -> Table:
    sets = [gram_features(text, family) for text in texts]
    return Table(Counter(f % slots for one in sets for f in one), len(texts), slots)


def heaviest(text: str, vocabulary: Table, most: int) -> dict[int, Entry]:
    counts = Counter(word_features(text))
    entries = {f: vocabulary.entry(f, 1 + math.log(n)) for f, n in counts.items()}
    order = sorted(entries.items(), key=lambda item: (-item[1].weight, -item[1].kind, item[0]))
    return dict(islice(order, most))


def of_sentences(text: str, vocabulary: Table) -> Features:
    found: dict[int, Entry] = {}
    for sentence in sentences(text):
        for feature, entry in heaviest(sentence, vocabulary, 4).items():
            found[feature] = max(found.get(feature, entry), entry)
    return found


def tuples(text: str, vocabulary: Table) -> Features:
    """Of two words or more, heaviest first."""
    ordered = (list(heaviest(sentence, vocabulary, 4)) for sentence in sentences(text))
    features = {_tuple(one) for one in ordered if len(one) > 1}
    return {feature: Entry(1 << 14, RARE) for feature in features}


def _tuple(words: list[int]) -> int:
    odd = 0x9E3779B97F4A7C15
    return sum((word + 1) * odd**place for place, word in enumerate(words, 1)) % (1 << 64) >> 32


def numbers(text: str, vocabulary: Table) -> Features:
    digits = [any(unicodedata.category(c) == "Nd" for c in w) for w in words(text, Options())]
    both = zip(word_features(text), digits, strict=True)
    return {feature: vocabulary.entry(feature) for feature, is_number in both if is_number}


OTHERS: dict[str, Callable[[str, Table], Features]] = {
    "keywords": lambda text, vocabulary: heaviest(text, vocabulary, 20),
    "sentences": of_sentences,
    "tuples": tuples,
    "numbers": numbers,
}


def features(text: str, family: str, known: Table) -> Features:
    if family in OTHERS:
        return OTHERS[family](text, known)
    return {feature: known.entry(feature) for feature in gram_features(text, family)}
