"""Gold as a user asks for it: a column of groups or labelled pairs, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from neardup.errors import InputError, SettingsError
from neardup.evaluation.about import notes_of
from neardup.evaluation.gold import UNKNOWN, Gold, GroupGold, PairGold, from_groups, from_pairs
from neardup.evaluation.gold.pairs import NEGATIVE_LABELS, POSITIVE_LABELS
from neardup.evaluation.labelled import PairColumns, read_pairs
from neardup.evaluation.survey import Survey
from neardup.schema import Array


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
