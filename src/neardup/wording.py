"""Names of documents and files for people: short enough to read, and where a document stands.

Data (tables, JSON) have names whole; messages, summaries and pages have them as they are here.

Counts in sentences: ``1 pair``, ``2 pairs``.
"""

from __future__ import annotations

import re

LONGEST_NAME = 100
_LONG_WORD = re.compile(rf"\S{{{4 * LONGEST_NAME},}}")


def shortened(text: str, most: int = LONGEST_NAME) -> str:
    """On one line; the middle of what is longer is left out, and how much if it is much."""
    line = text if len(text) > 4 * most else " ".join(text.split())
    if len(line) <= most:
        return line
    head, tail = line[: most * 2 // 3], line[-(most // 3) :]
    left_out = len(line) - len(head) - len(tail)
    between = f"… {left_out:,} characters …" if left_out > most else "…"
    return " ".join(f"{head} {between} {tail}".split())


def sayable(message: str) -> str:
    """A message without words that nobody can read, whatever brought them into it."""
    return _LONG_WORD.sub(lambda word: shortened(word[0]), message)


def repeated(id: str, where: str) -> str:
    """Why a document is rejected whose id another one had before."""
    return f"id {shortened(id)!r} was already used in {where}"


def where(file: str, row: int, path: str | None = None) -> str:
    """Where a document stands: ``path`` if it is a file by itself, else its row in ``file``."""
    return shortened(path) if path else f"{shortened(file)}, row {row}"


def many(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
