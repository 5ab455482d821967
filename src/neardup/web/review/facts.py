"""All that a filter may ask of: arrays, texts as far as they are read, and labels as they are now.

An object of this is of one moment: changes and labels make a new one.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.evaluation.labels import Pair
from neardup.schema import Array
from neardup.web.review.labelled import Judged
from neardup.web.review.tables import Tables
from neardup.web.review.texts import Texts


@dataclass(frozen=True)
class Facts:
    judged: Judged
    texts: Texts
    first: Sequence[str]  # who was put first by hand

    @property
    def tables(self) -> Tables:
        return self.judged.tables

    @property
    def states(self) -> dict[Pair, str]:
        return self.judged.states

    @property
    def pair_label(self) -> Array:
        return self.judged.pairs

    @property
    def document_label(self) -> Array:
        return self.judged.documents

    @functools.cached_property
    def chosen(self) -> Array:
        made = np.zeros(len(self.tables.decisions), np.bool_)
        if self.first:
            rows = self.tables.rows_of(pa.array(self.first, pa.large_string()))
            made[rows[rows >= 0]] = True
        return made

    @functools.cached_property
    def source(self) -> tuple[Array, list[str]]:
        """The documents' own sources where they have them and are read, else the inputs."""
        given, inputs = self.tables.source
        if self.texts.sources is None:
            return given, inputs
        codes, names = self.texts.sources
        unnamed = np.where(given < 0, -1, given.astype(np.int64) + len(names))
        return np.where(codes < 0, unnamed, codes), [*names, *inputs]

    @functools.cached_property
    def source_names(self) -> list[str]:
        """Those that some document has."""
        codes, names = self.source
        return sorted({names[code] for code in np.unique(codes).tolist() if code >= 0} - {""})

    def dated(self, since: str, until: str) -> Array:
        """A day means all of it: the times of a last day begin with it."""
        dates = self.texts.dates
        if dates is None:
            return np.zeros(len(self.tables.decisions), np.bool_)
        mask = pc.greater_equal(dates, pa.scalar(since, pa.large_string()))
        if until:
            before = pc.less_equal(dates, pa.scalar(until, pa.large_string()))
            mask = pc.and_(mask, pc.or_(before, pc.starts_with(dates, until)))
        return np.asarray(pc.fill_null(mask, False))

    def found(self, q: str) -> Array:
        return self.texts.search(q, self.tables.ids)
