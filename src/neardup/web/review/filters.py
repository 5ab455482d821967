"""Filters of the lists of a review: as an address writes them, and what they select.

A filter selects documents or pairs. A cluster is shown if one of its documents fits the whole
filter; kind and score are those of a duplicate and its kept document. A pair is shown if its own
kind, score and label fit, and one of its documents fits the rest.

:class:`Facts` is all that a filter may use: arrays, the texts that are read so far, and one state
a pair from the labels of its assessors (the arbiter's word, or what all agree on). It belongs to
one moment: changes and labels make a new one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from fastapi import Query

from neardup.errors import UsageError
from neardup.labels.label_store import LABELS, Label, Pair, read_labels
from neardup.schema import KINDS, Array
from neardup.web.review.review_tables import BECOMES, Tables
from neardup.web.review.review_texts import Texts
from neardup.wording import visible

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
        """The state of the pair that decided on each document, or −1."""
        rows = np.arange(len(self.tables.decisions))
        place = self.tables.pairs_of(rows, self.tables.kept_row)
        return np.asarray(np.append(self.pairs, np.int8(-1))[place])


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
        """The names of sources that some document has."""
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


UNKNOWN = "none"  # a pair without a kind, a pair without a label
HAND = "changed"  # what was decided by hand
KIND_CHOICES = (*KINDS, UNKNOWN)
ACTION_CHOICES = (*BECOMES, HAND)
LABEL_CHOICES = (*STATES, UNKNOWN)
DECIDED = "decided"
WHICH_CHOICES = (DECIDED, "others")


@dataclass(frozen=True)
class Filter:
    """Empty texts and None ask nothing."""

    q: str = ""
    kind: str = ""
    low: float | None = None
    high: float | None = None
    source: str = ""
    since: str = ""
    until: str = ""
    label: str = ""
    action: str = ""
    which: str = ""  # of pairs alone: those by which one was set aside for the other, or others

    def query(self, **more: Any) -> str:
        """The filter as parameters of an address, with ``more``; what asks nothing is left out."""
        given = {f.name: getattr(self, f.name) for f in fields(self)} | more
        return urlencode({name: _plain(value) for name, value in given.items() if _asks(value)})

    @property
    def asks(self) -> bool:
        return any(_asks(getattr(self, f.name)) for f in fields(self))

    @property
    def of_pair(self) -> Filter:
        """The filter without its conditions on documents."""
        return replace(self, q="", source="", since="", until="", action="")


def _asks(value: Any) -> bool:
    return value is not None and value != ""


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def asked(
    q: Annotated[str, Query(max_length=500)] = "",
    kind: str = "",
    low: str = "",
    high: str = "",
    source: Annotated[str, Query(max_length=5000)] = "",
    since: Annotated[str, Query(max_length=40)] = "",
    until: Annotated[str, Query(max_length=40)] = "",
    label: str = "",
    action: str = "",
    which: str = "",
) -> Filter:
    """The filter that an address asks for; forms send empty fields."""
    _check("kind", kind, KIND_CHOICES)
    _check("label", label, LABEL_CHOICES)
    _check("action", action, ACTION_CHOICES)
    _check("which", which, WHICH_CHOICES)
    numbers = _score("low", low), _score("high", high)
    dates = since.strip(), until.strip()
    return Filter(q.strip(), kind, *numbers, source, *dates, label, action, which)


def _check(name: str, given: str, there: tuple[str, ...]) -> None:
    if given and given not in there:
        raise UsageError(f"There is no {name} {given!r}.", hint=f"expected {', '.join(there)}.")


def _score(name: str, given: str) -> float | None:
    try:
        number = float(given) if given.strip() else None
    except ValueError:
        number = np.nan
    if number is not None and not 0 <= number <= 1:
        raise UsageError(f"The score in {name} is {given!r}.", hint="scores are from 0 to 1.")
    return number


def documents_mask(facts: Facts, wanted: Filter) -> Array:
    """Which documents have all that is asked, also of the pair that decided on them."""
    tables = facts.tables
    mask = own_mask(facts, wanted)
    if wanted.kind:
        mask &= _of_kind(tables.kind, wanted.kind) & tables.aside
    if wanted.low is not None or wanted.high is not None:
        mask &= _between(tables.score, wanted) & tables.aside
    if wanted.label:
        mask &= tables.aside & _labelled(facts.document_label, wanted.label)
    return mask


def own_mask(facts: Facts, wanted: Filter) -> Array:
    """What is asked of documents alone."""
    tables = facts.tables
    mask = np.ones(len(tables.decisions), np.bool_)
    if wanted.source:
        codes, names = facts.source
        # A form sends a name as it is shown.
        named = [i for i, name in enumerate(names) if wanted.source in (name, visible(name))]
        mask &= np.isin(codes, named)
    if wanted.since or wanted.until:
        mask &= facts.dated(wanted.since, wanted.until)
    if wanted.action:
        mask &= _acted(facts, wanted.action)
    if wanted.q:
        mask &= facts.found(wanted.q)
    return mask


def pairs_mask(facts: Facts, wanted: Filter) -> Array:
    tables = facts.tables
    mask = np.ones(len(tables.pairs), np.bool_)
    if wanted.kind:
        mask &= _of_kind(tables.pair_kind, wanted.kind)
    if wanted.low is not None or wanted.high is not None:
        mask &= _between(tables.pair_score, wanted)
    if wanted.label:
        mask &= _labelled(facts.pair_label, wanted.label)
    if wanted.which:
        mask &= tables.pair_decides == (wanted.which == DECIDED)
    if wanted != wanted.of_pair:
        either = np.append(own_mask(facts, wanted), False)  # the last is for −1
        a, b = tables.pair_rows
        mask &= either[a] | either[b]
    return mask


def clusters_mask(facts: Facts, wanted: Filter) -> Array:
    tables = facts.tables
    if not wanted.asks:
        return np.ones(len(tables.members), np.bool_)
    inside = tables.cluster[documents_mask(facts, wanted) & (tables.cluster >= 0)]
    return np.bincount(inside, minlength=len(tables.members)) > 0


def _of_kind(kinds: Array, wanted: str) -> Array:
    return np.equal(kinds, -1 if wanted == UNKNOWN else KINDS.index(wanted))


def _between(scores: Array, wanted: Filter) -> Array:
    low = 0.0 if wanted.low is None else wanted.low
    high = 1.0 if wanted.high is None else wanted.high
    return (scores >= low) & (scores <= high)


def _labelled(labels: Array, wanted: str) -> Array:
    return np.equal(labels, -1 if wanted == UNKNOWN else STATES.index(wanted))


def _acted(facts: Facts, wanted: str) -> Array:
    tables = facts.tables
    if wanted == HAND:
        return tables.by_hand | facts.chosen
    return np.equal(tables.becomes, BECOMES.index(wanted))
