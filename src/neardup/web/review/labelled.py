"""What assessors said of pairs, as one state a pair: the arbiter's word, or what all agree on."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from neardup.evaluation.labels import LABELS, Label, Pair, read_labels
from neardup.schema import Array
from neardup.web.review.tables import Tables

DISAGREED = "disagreed"
STATES = (*LABELS, DISAGREED)
FILE = "labels.jsonl"


class Labelled:
    """The labels of a folder, read again when the file has changed."""

    def __init__(self, folder: Path | None) -> None:
        self._path = folder / FILE if folder else None
        self._seen: tuple[int, int] | None = None
        self._states: dict[Pair, str] = {}

    @property
    def version(self) -> tuple[int, int]:
        """Another one where something was said since."""
        if self._path is None:
            return 0, 0
        try:
            found = self._path.stat()
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_size

    def states(self) -> dict[Pair, str]:
        now = self.version
        if now != self._seen and self._path is not None:
            self._states, self._seen = states_of(read_labels(self._path)), now
        return self._states


def states_of(labels: Iterable[Label]) -> dict[Pair, str]:
    said: dict[Pair, list[Label]] = {}
    for label in labels:
        said.setdefault(label.pair, []).append(label)
    return {pair: _state(some) for pair, some in said.items()}


def _state(labels: list[Label]) -> str:
    ending = [one for one in labels if one.arbiter] or labels
    words = {str(one.label) for one in ending}
    return words.pop() if len(words) == 1 else DISAGREED


@dataclass(frozen=True)
class Judged:
    """The states of pairs as arrays: numbers in ``STATES``, −1 where nobody said anything."""

    tables: Tables
    states: dict[Pair, str]

    @functools.cached_property
    def pairs(self) -> Array:
        tables, states = self.tables, self.states
        made = np.full(len(tables.pairs), -1, np.int8)
        a, b = (
            tables.rows_of(pa.array([pair[side] for pair in states], pa.large_string()))
            for side in (0, 1)
        )
        place = tables.pairs_of(a, b)
        codes = np.array([STATES.index(state) for state in states.values()], np.int8)
        made[place[place >= 0]] = codes[place >= 0]
        return made

    @functools.cached_property
    def documents(self) -> Array:
        """Of the pair that decided on each document."""
        rows = np.arange(len(self.tables.decisions))
        place = self.tables.pairs_of(rows, self.tables.kept_row)
        return np.asarray(np.append(self.pairs, np.int8(-1))[place])
