"""Gold as a user asks for it: a column of groups or labelled pairs, and what is wrong with them.

What an evaluation says of its gold, and of labels that could not be used.

What a setting is recommended for: ``f1``, ``precision=0.99``, ``recall=0.95``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.errors import InputError, SettingsError
from neardup.evaluation.scored_pairs import Survey
from neardup.labels.gold import NEGATIVE, UNKNOWN, Gold, GroupGold, from_groups
from neardup.labels.labelled_pairs import (
    NEGATIVE_LABELS,
    POSITIVE_LABELS,
    PairColumns,
    PairGold,
    from_pairs,
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


@dataclass(frozen=True)
class Asked:
    """``pairs`` is whatever ``read_pairs`` takes; ``complete`` None: groups are, pairs are not."""

    group: str | None = None
    pairs: Any = None
    columns: PairColumns = field(default_factory=PairColumns)
    positive: Sequence[str] | None = None
    negative: Sequence[str] | None = None
    complete: bool | None = None

    def check(self, text: str) -> None:
        """Raises what can be known before any document is read."""
        if (self.group is None) == (self.pairs is None):
            raise SettingsError(
                "An evaluation needs gold: either a column of groups or labelled pairs.",
                hint="give --group COLUMN or --pairs FILE (in Python: group= or pairs=).",
            )
        if self.group == text:
            raise SettingsError(
                f"The groups are in the text column {text!r}.", hint="name another column."
            )
        both = {s.strip().lower() for s in self.positive or POSITIVE_LABELS} & {
            s.strip().lower() for s in self.negative or NEGATIVE_LABELS
        }
        if both:
            raise SettingsError(
                f"The label {min(both)!r} is both positive and negative.",
                hint="name it once, with --positive or with --negative.",
            )

    @property
    def needed(self) -> tuple[str, ...]:
        """Columns of the documents."""
        return () if self.group is None else (self.group,)

    def of_table(self, documents: pa.Table, same: Array) -> Gold:
        """``documents`` have the column id, and those that are ``needed``."""
        if self.group is not None:
            return self._groups(documents[self.group], same)
        return self._labelled(documents["id"].combine_chunks(), same)

    def gold(self, known: Survey) -> Gold:
        if self.group is None:
            return self._labelled(known.ids, known.same)
        values = known.columns.get(self.group, pa.nulls(known.documents))
        return self._groups(values, known.same)

    def _groups(self, values: pa.Array, same: Array) -> GroupGold:
        gold = from_groups(values, complete=self.complete is not False, same=same)
        if (gold.group < 0).all():
            raise InputError(
                f"None of the {gold.documents:,} documents has a value in {self.group!r}.",
                hint="name the column whose equal values are duplicates with --group.",
            )
        return gold

    def _labelled(self, ids: pa.Array, same: Array) -> PairGold:
        table = read_pairs(self.pairs, self.columns)
        gold = from_pairs(
            table,
            ids,
            positive=self.positive or POSITIVE_LABELS,
            negative=self.negative or NEGATIVE_LABELS,
            complete=bool(self.complete),
            same=same,
        )
        if (gold.found == UNKNOWN).all():
            why = " ".join(notes_of(gold)) or "there is not one row."
            raise InputError(
                f"None of the {len(table):,} labelled pairs can be used: {why}",
                hint="--positive and --negative say what labels mean; a and b are ids of documents "
                "(--id names their column).",
            )
        return gold


WISHES = "f1, precision=0.99 or recall=0.95"


@dataclass(frozen=True)
class Wish:
    """``measure`` is "f1", "precision" or "recall"; the latter are to be ``least`` or more."""

    measure: str = "f1"
    least: float | None = None

    @classmethod
    def parse(cls, written: str) -> Wish:
        measure, equals, value = written.strip().lower().partition("=")
        try:
            least = float(value) if equals else None
        except ValueError:
            least = None
        needs_value = measure in ("precision", "recall")
        if measure == "f1" and not equals:
            return cls()
        if not needs_value or least is None or not 0 < least <= 1:
            raise SettingsError(f"recommend is {written!r}.", hint=f"expected {WISHES}.")
        return cls(measure, least)

    def __str__(self) -> str:
        if self.least is None:
            return "the highest F1"
        return f"{self.measure} of {self.least:g} or more"

    @property
    def other(self) -> str:
        """What is made as high as possible where the wish is met."""
        return {"f1": "f1", "precision": "recall", "recall": "precision"}[self.measure]
