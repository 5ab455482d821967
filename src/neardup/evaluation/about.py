"""What an evaluation says of its gold, and of labels that could not be used."""

from __future__ import annotations

from typing import Any

import numpy as np

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
        return f"{groups:,} group{'s' * (groups != 1)}"
    pairs = sum(gold.label_counts().values())
    return f"{pairs:,} labelled pair{'s' * (pairs != 1)}"


def notes_of(gold: Gold) -> list[str]:
    unused, said = gold.unused, []
    if isinstance(gold, GroupGold) and (alone := int((gold.group < 0).sum())):
        said.append(f"{alone:,} documents have no group; their pairs count neither way.")
    if isinstance(gold, GroupGold) and (equal := gold.equal_across()):
        said.append(
            f"{equal:,} pairs of equal text are in different groups; they count neither way."
        )
    if unused.unknown_ids:
        examples = ", ".join(map(repr, unused.examples))
        said.append(
            f"{unused.unknown_ids:,} labelled pairs name a document that is not there ({examples})"
            " and were not used."
        )
    if unused.with_itself:
        said.append(f"{unused.with_itself:,} labelled pairs are of a document with itself.")
    if unused.contradicting:
        said.append(f"{unused.contradicting:,} pairs are labelled both ways and count neither way.")
    if unused.other_labels:
        listed = sorted(unused.other_labels.items(), key=lambda item: (-item[1], item[0]))
        shown = ", ".join(f"{name!r} {count:,}" for name, count in listed[:SHOWN_LABELS])
        more = f" and {len(listed) - SHOWN_LABELS} more" if len(listed) > SHOWN_LABELS else ""
        said.append(f"Labels that are neither positive nor negative: {shown}{more}.")
    return said
