"""The default method on collections of every shape: it finds the families, and never an unrelated
pair; what it chooses does not flip with the order, the sample or a few more documents."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest

import neardup as nd
from neardup.artefacts.calibration import CONSISTENCY, Calibration

Family = list[str]  # texts that are versions of one
ALPHABETS = (
    "abcdefghiklmnoprstuw",
    "абвгдежзиклмнопрсту",
    "αβγδεζηθικλμνοπρστ",
    "的一是不了人我在有他这中大来上国",
)
DRAW = random.Random(20)
VOCABULARIES = [
    ["".join(DRAW.choices(letters, k=DRAW.randint(3, 9))) for _ in range(3000)]
    for letters in ALPHABETS
]


def article(seed: int, words: int = 120, language: int = 0) -> str:
    draw = random.Random(seed)
    return " ".join(draw.choices(VOCABULARIES[language], k=words))


def edited(text: str, seed: int, share: float = 0.04) -> str:
    """Some words are different ones."""
    draw, words = random.Random(seed), text.split()
    for at in draw.sample(range(len(words)), max(1, round(share * len(words)))):
        words[at] = draw.choice(VOCABULARIES[0])
    return " ".join(words)


def misread(text: str, seed: int, share: float = 0.03) -> str:
    draw = random.Random(seed)
    return "".join(draw.choice(ALPHABETS[0]) if draw.random() < share else c for c in text)


def alone(first: int, count: int, **options: int) -> list[Family]:
    return [[article(first + i, **options)] for i in range(count)]


def versions(first: int, families: int, size: int = 2, **options: int) -> list[Family]:
    return [
        [text, *(edited(text, 1000 * i + j) for j in range(1, size))]
        for i in range(families)
        for text in [article(first + i, **options)]
    ]


def giant() -> list[Family]:
    """150 versions in each of which five words in a row are left out, and as many strangers."""
    words = article(0).split()
    cuts = [random.Random(i).randrange(len(words) - 5) for i in range(150)]
    return [[" ".join([*words[:at], *words[at + 5 :]]) for at in cuts], *alone(50, 150)]


def languages() -> list[Family]:
    return [
        family
        for language in range(len(ALPHABETS))
        for family in versions(100 * language, 10, language=language)
        + alone(5000 + 100 * language, 20, language=language)
    ]


def lengths() -> list[Family]:
    sizes = (20, 40, 90, 300, 1500, 6000)
    return [family for size in sizes for family in versions(size * 100, 4, words=size)] + alone(
        9, 60
    )


def templates() -> list[Family]:
    """A form of 150 words that 120 documents fill with 60 of their own, and copies of five."""
    form = article(1, 150)
    filled = [f"{form} {article(100 + i, 60)}" for i in range(120)]
    return [[text, text.upper()] if i < 5 else [text] for i, text in enumerate(filled)]


def scans() -> list[Family]:
    texts = [article(i) for i in range(60)]
    return [[text, misread(text, i)] for i, text in enumerate(texts)] + alone(700, 60)


SHAPES: dict[str, Callable[[], list[Family]]] = {
    "two that are one": lambda: versions(0, 1),
    "two that are not": lambda: alone(0, 2),
    "20": lambda: versions(0, 3) + alone(50, 14),
    "200": lambda: versions(0, 20, size=3) + alone(50, 140),
    "sparse": lambda: versions(0, 4) + alone(50, 600),
    "one giant family": giant,
    "languages": languages,
    "lengths": lengths,
    "templates": templates,
    "scans": scans,
}


def documents(families: list[Family], seed: int = 0) -> list[dict[str, str]]:
    rows = [
        {"id": f"{number}/{member}", "text": text}
        for number, family in enumerate(families)
        for member, text in enumerate(family)
    ]
    random.Random(seed).shuffle(rows)
    return rows


def found(rows: list[dict[str, str]]) -> tuple[Calibration, set[tuple[str, str]]]:
    result = nd.find(rows, kinds="none")
    calibration = result.artefacts["calibration"]
    assert isinstance(calibration, Calibration)
    pairs = result.pairs.select(["a", "b"]).to_pylist()
    return calibration, {(min(pair.values()), max(pair.values())) for pair in pairs}


def related(rows: list[dict[str, str]]) -> set[tuple[str, str]]:
    families: dict[str, list[str]] = {}
    for row in rows:
        families.setdefault(row["id"].partition("/")[0], []).append(row["id"])
    return {pair for ids in families.values() for pair in itertools.combinations(sorted(ids), 2)}


@pytest.mark.parametrize("shape", SHAPES)
def test_all_families_are_found_and_no_unrelated_pair(shape: str) -> None:
    rows = documents(SHAPES[shape]())
    _, pairs = found(rows)
    assert pairs <= related(rows)
    assert len(pairs) >= 0.98 * len(related(rows))


def test_the_choice_does_not_flip() -> None:
    """Two families in three are left in another sample; a tenth of the documents is new."""
    families = versions(0, 90, size=3) + alone(500, 150)
    rows = documents(families)
    calibration, pairs = found(rows)
    assert calibration.by == CONSISTENCY
    shuffled, same = found(documents(families, seed=5))
    assert (shuffled.digest, same) == (calibration.digest, pairs)
    sample = [row for row in rows if int(row["id"].partition("/")[0]) % 3]
    for others in (sample, rows + more()):
        chosen, theirs = found(others)
        ids = {row["id"] for row in others}
        expected = {pair for pair in pairs if ids.issuperset(pair)}
        assert abs(chosen.threshold - calibration.threshold) <= 0.06
        assert {pair for pair in theirs if not pair[0].startswith("new")} == expected


def more() -> list[dict[str, str]]:
    """42 documents, of which 14 families of two and 14 alone."""
    families = versions(9000, 14) + alone(9500, 14)
    return [{**row, "id": f"new{row['id']}"} for row in documents(families)]
