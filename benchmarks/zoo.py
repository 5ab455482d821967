"""Contents that tempt a method to compare every document with every other: same number, same bytes.

Real collections have them: minutes made of stock sentences, forms, catalogues, versions of laws,
one imprint on all pages. A smaller collection is the head of a larger one of the same content.
`growth.py` measures how the work of each method grows on them, `tests/benchmarks/test_growth.py`
bounds it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks import generate

SEED = 23
Texts = Iterator[str]


class Words:
    """Pseudo-words from one stream of random numbers; `fresh` ones occur nowhere else by chance."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng([SEED, seed])
        self.vocabulary = np.array([_spelled(n) for n in range(20_000)], dtype=object)

    def common(self, count: int) -> list[str]:
        """As in running text: few words are frequent and most are rare."""
        ranks = self.rng.zipf(1.3, count) % len(self.vocabulary)
        return list(self.vocabulary[ranks].tolist())

    def fresh(self, count: int) -> list[str]:
        return [_spelled(n) for n in self.rng.integers(1 << 20, 1 << 40, count).tolist()]

    def some(self, of: list[str], count: int) -> list[str]:
        """That many different ones, in a random order."""
        return [of[n] for n in self.rng.permutation(len(of))[:count].tolist()]

    def changed(self, words: list[str], count: int) -> list[str]:
        """With that many words in other places replaced by fresh ones."""
        copy = list(words)
        for place in self.rng.integers(0, len(words), count).tolist():
            copy[place] = self.fresh(1)[0]
        return copy


def _spelled(number: int) -> str:
    """A different word of syllables for each number."""
    syllables = []
    while True:
        number, syllable = divmod(number, 90)
        syllables.append("bdfghklmnprstvwxyz"[syllable // 5] + "aeiou"[syllable % 5])
        if not number:
            return "".join(syllables)


def stock_sentences(words: Words) -> Texts:
    """20 of 400 sentences in a random order."""
    stock = [" ".join(words.common(12)).capitalize() + "." for _ in range(400)]
    while True:
        yield " ".join(words.some(stock, 20))


def template_and_own(words: Words) -> Texts:
    """Half of each document is the same, the other half its own."""
    template = words.common(100)
    while True:
        yield " ".join([*template, *words.fresh(100)])


def versions_and_kin(words: Words) -> Texts:
    """Three of four are versions of one text, the fourth shares 70 % of it."""
    text = words.common(200)
    for number in itertools.count():
        if number % 4:
            yield " ".join(words.changed(text, 2))
        else:
            yield " ".join([*text[:140], *words.fresh(60)])


def permutations(words: Words) -> Texts:
    """The same 60 words in a random order."""
    sixty = words.some(words.vocabulary.tolist(), 60)
    while True:
        yield " ".join(words.some(sixty, 60))


def few_words(words: Words) -> Texts:
    """60 of 400 words in a random order."""
    stock = words.some(words.vocabulary.tolist(), 400)
    while True:
        yield " ".join(words.some(stock, 60))


def one_family(words: Words) -> Texts:
    """Near copies of one text."""
    text = words.common(200)
    while True:
        yield " ".join(words.changed(text, 2))


def families(words: Words) -> Texts:
    """A hundred versions of each text, one after the other."""
    while True:
        text = words.common(200)
        yield from (" ".join(words.changed(text, 2)) for _ in range(100))


def ordinary(words: Words) -> Texts:
    """Running text, a fifth of it edited copies of a document before."""
    del words
    return (document.text for document in generate.documents())


def short(words: Words) -> Texts:
    """Eight to thirty words, one in five with two of them changed."""
    last = words.common(20)
    while True:
        if words.rng.random() < 0.2:
            yield " ".join(words.changed(last, 2))
        else:
            last = words.common(int(words.rng.integers(8, 31)))
            yield " ".join(last)


def shared_page(words: Words) -> Texts:
    """Running text of 300 words before one page of 150 words that all have."""
    page = words.common(150)
    while True:
        yield " ".join([*words.common(300), *page])


CONTENTS: dict[str, Callable[[Words], Texts]] = {
    content.__name__.replace("_", " "): content
    for content in (
        stock_sentences,
        template_and_own,
        versions_and_kin,
        permutations,
        few_words,
        one_family,
        families,
        ordinary,
        short,
        shared_page,
    )
}


def texts(content: str, count: int) -> list[str]:
    seed = list(CONTENTS).index(content)
    return list(itertools.islice(CONTENTS[content](Words(seed)), count))
