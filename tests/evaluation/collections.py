"""Small collections with known duplicates, for tests of evaluations."""

from __future__ import annotations

from random import Random
from typing import Any

WORDS = [f"word{i}" for i in range(400)]


def grouped(groups: int = 12, copies: int = 3, seed: int = 0) -> list[dict[str, Any]]:
    """Each group is a text and versions of it, of which each changes more words than the last."""
    random = Random(seed)
    documents = []
    for group in range(groups):
        words = random.choices(WORDS, k=60)
        for copy in range(copies):
            text = list(words)
            for place in random.sample(range(60), 3 * copy):
                text[place] = random.choice(WORDS)
            documents.append({"id": f"{group}-{copy}", "group": group, "text": " ".join(text)})
        documents.append({"id": f"{group}-same", "group": group, "text": " ".join(words).upper()})
    return documents
