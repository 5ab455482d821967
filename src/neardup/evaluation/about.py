"""What an evaluation says of its gold, and of labels that could not be used."""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.counted import many
from neardup.evaluation.gold import NEGATIVE, Gold, GroupGold, PairGold

SHOWN_LABELS = 6


def about_gold(gold: Gold) -> dict[str, Any]:
    return {
        "from": _source(gold),
        "complete": gold.complete,
        "positives": gold.positive_count(),
        "hard_positives": gold.positive_count(hard=True),
        "negatives": int((gold.found == NEGATIVE).sum()) if isinstance(gold, PairGold) else None,
        "labels": gold.label_counts() if isinstance(gold, PairGold) else None,
        "unused": gold.unused.data(),
        "notes": notes_of(gold),
    }


def _source(gold: Gold) -> str:
    if isinstance(gold, GroupGold):
        groups = len(np.unique(gold.group[gold.group >= 0]))
        return many(groups, "group")
    return many(sum(gold.label_counts().values()), "labelled pair")


def notes_of(gold: Gold) -> list[str]:
    """What gold says that counts for nothing, a sentence each."""
    unused, said = gold.unused, []
    if isinstance(gold, GroupGold):
        if alone := int((gold.group < 0).sum()):
            said.append(f"Count nowhere: {many(alone, 'document')} without a group.")
        if equal := gold.equal_across():
            said.append(f"Count neither way: {many(equal, 'pair')} of equal text, other group.")
    if unused.unknown_ids:
        pairs, examples = many(unused.unknown_ids, "labelled pair"), map(repr, unused.examples)
        said.append(f"Not used: {pairs} with a document that is not there ({', '.join(examples)}).")
    if unused.with_itself:
        pairs = many(unused.with_itself, "labelled pair")
        said.append(f"Not used: {pairs} of a document with itself.")
    if unused.contradicting:
        said.append(f"Count neither way: {many(unused.contradicting, 'pair')} labelled both ways.")
    if unused.other_labels:
        listed = sorted(unused.other_labels.items(), key=lambda item: (-item[1], item[0]))
        shown = ", ".join(f"{name!r} {count:,}" for name, count in listed[:SHOWN_LABELS])
        more = f" and {len(listed) - SHOWN_LABELS} more" if len(listed) > SHOWN_LABELS else ""
        said.append(f"Labels that are neither positive nor negative: {shown}{more}.")
    return said
