"""The twin of a grouped list: all pairs in exact fractions, then lists of lists."""

from __future__ import annotations

from collections.abc import Sequence

from reference import run

KEEP = {"rank": "first", "first": "oldest", "last": "newest", "longest": "longest"}


def groups(
    ranked: Sequence[run.Document], settings: run.Settings, representative: str
) -> list[list[int]]:
    """Places in the ranking: the representative of each group, then the others by rank."""
    with_text = [i for i, document in enumerate(ranked) if document["text"] is not None]
    documents = [ranked[i] for i in with_text]
    wanted = run.Settings(settings.words, settings.threshold, keep=KEEP[representative])
    found = {i: [i] for i in range(len(ranked)) if ranked[i]["text"] is None}
    decided = run.Run(documents, wanted).decided
    for document, aside in decided.items():
        head = with_text[document if aside is None else aside[0]]
        found.setdefault(head, [head])
        if aside is not None:
            found[head].append(with_text[document])
    ordered = [[head, *sorted(others)] for head, *others in found.values()]
    return sorted(ordered, key=min)
