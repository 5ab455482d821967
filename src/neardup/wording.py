"""Names, places and counts in sentences for people.

Messages, summaries and pages shorten long names of documents and files; data (tables, JSON) never
does. Counts agree with their nouns: ``1 pair``, ``2 pairs``.
"""

from __future__ import annotations

import re

LONGEST_NAME = 100
_LONG_WORD = re.compile(rf"\S{{{4 * LONGEST_NAME},}}")


def shortened(text: str, most: int = LONGEST_NAME) -> str:
    """One line of at most about ``most`` characters; the middle of a longer text is left out."""
    line = text if len(text) > 4 * most else " ".join(text.split())
    if len(line) <= most:
        return line
    head, tail = line[: most * 2 // 3], line[-(most // 3) :]
    left_out = len(line) - len(head) - len(tail)
    between = f"… {left_out:,} characters …" if left_out > most else "…"
    return " ".join(f"{head} {between} {tail}".split())


def sayable(message: str) -> str:
    """A message with very long words shortened."""
    return _LONG_WORD.sub(lambda word: shortened(word[0]), message)


def repeated(id: str, where: str) -> str:
    """The reason why a document is rejected whose id an earlier document has."""
    return f"id {shortened(id)!r} was already used in {where}"


def where(file: str, row: int, path: str | None = None) -> str:
    """The place of a document: ``path`` if it is a file by itself, else its row in ``file``."""
    return shortened(path) if path else f"{shortened(file)}, row {row}"


def many(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
