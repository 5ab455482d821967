"""Texts for flows, and files around them."""

from __future__ import annotations

import random
from html import escape

WORDS = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "lmnrst"]


def story(number: int, words: int = 40) -> str:
    """Unlike that of any other number."""
    choose = random.Random(number)
    return " ".join(choose.choices(WORDS, k=words)) + f" {number}"


def feed(texts: list[str]) -> str:
    made = "".join(
        f"<item><guid>http://x/{n}</guid><description>{escape(text)}</description></item>"
        for n, text in enumerate(texts)
    )
    return f'<?xml version="1.0"?><rss version="2.0"><channel>{made}</channel></rss>'
