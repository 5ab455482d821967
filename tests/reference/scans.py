"""Collections in which something stands out, or whose scores have a valley."""

from __future__ import annotations

import numpy as np

VOCABULARY = [f"word{i}" for i in range(3000)]


def article(rng: np.random.Generator, length: int = 160) -> list[str]:
    """Words of a long-tailed vocabulary, so that some shingles of strangers are shared."""
    return [VOCABULARY[i] for i in (len(VOCABULARY) * rng.random(length) ** 3).astype(int)]


def misread(words: list[str], rng: np.random.Generator, rate: float) -> list[str]:
    return [f"{w}{rng.integers(10**9)}" if rng.random() < rate else w for w in words]


def strangers(count: int = 1000) -> list[str]:
    rng = np.random.default_rng(8)
    return [" ".join(article(rng)) for _ in range(count)]


def scans(count: int = 8) -> list[str]:
    """Two of each, with every other word misread in the second."""
    rng = np.random.default_rng(9)
    made = []
    for _ in range(count):
        words = article(rng)
        made += [" ".join(words), " ".join(misread(words, rng, 0.5))]
    return made


def two_modes() -> list[str]:
    """45 pairs that share about half, 45 that share nearly all."""
    texts = []
    for d in range(90):
        share = 97 if d % 2 else 194
        both = [f"pair{d}both{i}" for i in range(share)]
        texts += [
            " ".join([*both, *(f"pair{d}{side}{i}" for i in range(200 - share))]) for side in "ab"
        ]
    return texts


COLLECTION = [*scans(), *strangers()]
