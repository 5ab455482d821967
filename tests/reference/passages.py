"""Which words of a document stand at an earlier place: the slow twin of the passage kernel."""

from __future__ import annotations

from collections.abc import Sequence


def covered(documents: Sequence[Sequence[int]], words: int) -> list[set[int]]:
    """Of each document, the words that lie in a run of ``words`` words with an earlier copy: in a
    document before it, or at least ``words`` words before in the same one."""
    first: dict[tuple[int, ...], tuple[int, int]] = {}
    found = []
    for number, document in enumerate(documents):
        inside: set[int] = set()
        for at in range(len(document) - words + 1):
            run = tuple(document[at : at + words])
            other, place = first.setdefault(run, (number, at))
            if other < number or at - place >= words:
                inside |= set(range(at, at + words))
        found.append(inside)
    return found
