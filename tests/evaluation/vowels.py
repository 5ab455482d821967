"""An encoder that tests name by its module."""

from __future__ import annotations


def count(texts: list[str]) -> list[list[int]]:
    return [[text.count(vowel) for vowel in "aeiou"] for text in texts]
