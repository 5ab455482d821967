"""Gold as a user requests it: a column of groups, or labelled pairs.

``GoldRequest`` validates the request and builds the gold. ``about_gold`` and ``notes_of`` describe
for a report what the gold holds and which labels could not be used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.errors import InputError, SettingsError
from neardup.labels.gold import NEGATIVE, UNKNOWN, Gold, GroupGold, from_groups
from neardup.labels.labelled_pairs import (
    PairColumns,
    PairGold,
    from_pairs,
    label_meanings,
    plain_label,
    read_pairs,
)
from neardup.schema import Array
from neardup.wording import many

SHOWN_LABELS = 6


def about_gold(gold: Gold) -> dict[str, Any]:
    return {
        "from": _source(gold),
        "complete": gold.complete,
        "positives": gold.positive_count(),
        "hard_positives": gold.positive_count(hard=True),
        "negatives": int((gold.known == NEGATIVE).sum()) if isinstance(gold, PairGold) else None,
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
    """Sentences about labels and documents that are left out of the figures."""
    unused, notes = gold.unused, []
    if isinstance(gold, GroupGold):
        if alone := int((gold.group < 0).sum()):
            notes.append(f"Left out of every figure: {many(alone, 'document')} without a group.")
        if equal := gold.equal_across():
            pairs = f"{many(equal, 'pair')} of equal texts in different groups"
            notes.append(f"Counted neither as right nor as wrong: {pairs}.")
    if unused.unknown_ids:
        pairs, examples = many(unused.unknown_ids, "labelled pair"), map(repr, unused.examples)
        notes.append(f"Not used: {pairs} with an id that no document has ({', '.join(examples)}).")
    if unused.with_itself:
        pairs = many(unused.with_itself, "labelled pair")
        notes.append(f"Not used: {pairs} of a document with itself.")
    if unused.contradicting:
        pairs = many(unused.contradicting, "pair")
        notes.append(f"Counted neither as right nor as wrong: {pairs} with contradicting labels.")
    if unused.other_labels:
        listed = sorted(unused.other_labels.items(), key=lambda item: (-item[1], item[0]))
        shown = ", ".join(f"{name!r} {count:,}" for name, count in listed[:SHOWN_LABELS])
        more = f" and {len(listed) - SHOWN_LABELS} more" if len(listed) > SHOWN_LABELS else ""
        notes.append(f"Labels that are neither positive nor negative: {shown}{more}.")
        notes += _unsaid(gold, list(unused.other_labels))
    return notes


# How people say yes. They are for hints only: what a label means, its owner says.
YES = (
    "ja",
    "oui",
    "sí",
    "si",
    "sì",
    "sim",
    "da",
    "да",
    "tak",
    "ano",
    "igen",
    "evet",
    "kyllä",
    "是",
)


def _unsaid(gold: Gold, others: Sequence[str]) -> list[str]:
    """What to say about labels whose meaning is probable."""
    if any(plain_label(name) in YES for name in others):
        return [f"{_as_options(others)} counts the pairs of {_these(others)}."]
    if len(others) == 1 and gold.positive_count() and not gold.negatives_known():
        return [f"--negative {others[0]} counts the pairs of that label as not duplicates."]
    return []


def _these(others: Sequence[str]) -> str:
    return "both labels" if len(others) == 2 else "that label as duplicates"


def _as_options(labels: Iterable[str]) -> str:
    named = sorted(labels, key=lambda label: plain_label(label) not in YES)
    return f"--positive {named[0]}" + (f" --negative {named[1]}" if len(named) == 2 else "")


def _meaning_hint(labels: Iterable[str]) -> str:
    """How to say what labels mean, with those that were found."""
    if not (named := list(labels)):
        return "--positive and --negative say what labels mean"
    return f"say what the labels mean, for example {_as_options(named)}"


@dataclass(frozen=True)
class GoldRequest:
    """``pairs`` is whatever ``read_pairs`` accepts. If ``complete`` is None, groups are taken as
    complete and pairs are not."""

    group: str | None = None
    pairs: Any = None
    columns: PairColumns = field(default_factory=PairColumns)
    positive: Sequence[str] | None = None
    negative: Sequence[str] | None = None
    complete: bool | None = None
    encoding: str | None = None

    def check(self, text: str) -> None:
        """Raise every error that can be found before any document is read."""
        if (self.group is None) == (self.pairs is None):
            raise SettingsError(
                "An evaluation needs gold: either a column of groups or labelled pairs.",
                hint="give --group COLUMN or --pairs FILE (in Python: group= or pairs=).",
            )
        if self.group == text:
            raise SettingsError(
                f"The groups are in the text column {text!r}.", hint="name another column."
            )
        label_meanings(self.positive, self.negative)

    @property
    def needed(self) -> tuple[str, ...]:
        """Names of the document columns that the gold is built from."""
        return () if self.group is None else (self.group,)

    def of_table(self, documents: pa.Table, same: Array) -> Gold:
        """Gold for ``documents``, a table with the column id and the ``needed`` columns."""
        if self.group is not None:
            return self.of_groups(documents[self.group], same)
        return self.of_pairs(documents["id"].combine_chunks(), same)

    def of_groups(self, values: pa.Array, same: Array) -> GroupGold:
        gold = from_groups(values, complete=self.complete is not False, same=same)
        if (gold.group < 0).all():
            raise InputError(
                f"None of the {gold.documents:,} documents has a value in {self.group!r}.",
                hint="name the column whose equal values are duplicates with --group.",
            )
        return gold

    def of_pairs(self, ids: pa.Array, same: Array) -> PairGold:
        table = read_pairs(self.pairs, self.columns, self.encoding)
        gold = from_pairs(
            table,
            ids,
            positive=self.positive,
            negative=self.negative,
            complete=bool(self.complete),
            same=same,
        )
        if (gold.known == UNKNOWN).all():
            why = " ".join(notes_of(gold)) or "there are no rows."
            raise InputError(
                f"None of the {len(table):,} labelled pairs can be used: {why}",
                hint=f"{_meaning_hint(gold.unused.other_labels)}; a and b are ids of documents "
                "(--id names their column).",
            )
        return gold
