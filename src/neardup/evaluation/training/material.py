"""Labelled pairs of documents → their similarity vectors.

Only the documents that a label names are kept, as profiles; texts are let go. What the measures
need of the collection, such as how rare words are, is counted over all its documents first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.artefacts import outline
from neardup.artefacts.arrays import Floats
from neardup.artefacts.artefact import Artefact, Artefacts, Counter, Need, ReadyNeed, Tally
from neardup.artefacts.outline import Outline, OutlineNeed
from neardup.counted import many
from neardup.documents import Collection, Columns
from neardup.errors import InputError
from neardup.evaluation.training.data import Data
from neardup.evaluation.training.labels import EQUAL_TEXTS, NOT_THERE, Labelled
from neardup.features import similarity
from neardup.local.artefacts import Pass, count
from neardup.methods.idf_terms import equal_evidence
from neardup.methods.preparing import read_words
from neardup.methods.profiles import check_date, needs, profiles
from neardup.plan import worker_count
from neardup.progress import Progress
from neardup.schema import Array, Ragged
from neardup.text.options import Text


@dataclass(frozen=True)
class Source:
    """Documents, and how they are read."""

    collection: Collection
    columns: Columns = field(default_factory=Columns)
    text: Text = field(default_factory=Text)
    workers: int | None = None
    limit: int | None = None
    measures: tuple[str, ...] = similarity.MEASURES
    date: str | None = None

    def __post_init__(self) -> None:
        check_date(self.measures, self.date, "What is learned")

    @property
    def dated(self) -> tuple[str, ...]:
        """The columns that measures read beside the text."""
        return (self.date,) if self.date and similarity.needs_date(self.measures) else ()

    def reading(self, *extra: str) -> Pass:
        columns = Columns(self.columns.text, self.columns.id, extra)
        return Pass(columns, worker_count(self.workers), self.limit)


def told_apart(source: Source) -> Source:
    """With the names that a run gives to documents: labels name them so."""
    collection = source.collection.limited(source.limit)
    return replace(source, collection=collection.told_apart(source.columns)[0])


@dataclass(frozen=True)
class Material:
    """``measures`` name the columns of the vectors. ``about`` is what the model says of its labels:
    only data, and the same for the same input."""

    data: Data
    text: Text
    measures: tuple[str, ...]
    about: dict[str, Any]


@dataclass(frozen=True)
class Profiles:
    """Of the documents that were asked for and are there; ``place`` by id. Digests are those of
    their normal forms."""

    place: dict[str, int]
    profiles: Ragged
    digests: Array
    artefacts: Artefacts
    measures: tuple[str, ...]

    def vectors(self, a: Array, b: Array) -> Floats:
        if not len(a):
            return np.empty((0, len(self.measures)))
        return similarity.vectors(self.profiles, a, b, self.measures)

    def equal(self, a: Array, b: Array) -> Array:
        """Pairs of one text, and of one date where dates are compared."""
        same = self.digests[a] == self.digests[b]
        return np.asarray(same & equal_evidence(self.profiles, a, b))

    def places(self, ids: Iterable[str]) -> Array:
        return np.array([self.place[one] for one in ids], np.int64)


class _Profiling:
    """Profiles of some documents, in the order of the input; an id that was used before names the
    first document that has it."""

    def __init__(self, wanted: Iterable[str], artefacts: Artefacts, source: Source) -> None:
        self.wanted = pa.array(sorted(set(wanted)), pa.large_string())
        self.artefacts, self.source = artefacts, source
        self.ids: list[str] = []
        self.parts: list[Ragged] = []
        self.digests: list[Array] = [np.empty(0, np.uint64)]

    def count(self, batch: pa.RecordBatch) -> tuple[list[str], Ragged, Array]:
        chosen = batch.filter(pc.is_in(batch.column("id"), self.wanted))
        source = self.source
        made = profiles(chosen, self.artefacts, source.text, source.measures, date=source.date)
        digests = read_words(chosen, source.text).normal_digests
        return chosen.column("id").to_pylist(), made, digests

    def add(self, part: tuple[list[str], Ragged, Array]) -> None:
        ids, made, digests = part
        self.ids += ids
        self.parts.append(made)
        self.digests.append(digests)

    def finish(self) -> Profiles:
        place: dict[str, int] = {}
        for number, one in enumerate(self.ids):
            place.setdefault(one, number)
        made = Ragged.concat(self.parts, np.uint64)
        digests = np.concatenate(self.digests)
        return Profiles(place, made, digests, self.artefacts, self.source.measures)


class _Texts:
    """Of some documents, by id; of several with one id, the first."""

    def __init__(self, wanted: Iterable[str]) -> None:
        self.wanted = pa.array(sorted(set(wanted)), pa.large_string())
        self.found: dict[str, str] = {}

    def count(self, batch: pa.RecordBatch) -> list[tuple[str, str]]:
        chosen = batch.filter(pc.is_in(batch.column("id"), self.wanted))
        both = (chosen.column(name).to_pylist() for name in ("id", "text"))
        return list(zip(*both, strict=True))

    def add(self, part: list[tuple[str, str]]) -> None:
        for one, text in part:
            self.found.setdefault(one, text)


def texts_of(source: Source, wanted: Iterable[str], progress: Progress) -> dict[str, str]:
    texts = _Texts(wanted)
    _read(source, "reading", [texts], progress)
    return texts.found


def _read(
    source: Source, stage: str, tallies: Sequence[Tally], progress: Progress, *extra: str
) -> None:
    size = source.collection.plain_size()
    progress.stage(stage, source.limit, unit="documents", total_bytes=size)
    count(source.collection, tallies, source.reading(*extra), progress)


def profiles_of(source: Source, wanted: Iterable[str], progress: Progress) -> Profiles:
    artefacts = artefacts_of(source, progress)
    profiling = _Profiling(wanted, artefacts, source)
    _read(source, "reading", [profiling], progress, *source.dated)
    return profiling.finish()


def artefacts_of(source: Source, progress: Progress) -> Artefacts:
    """What the measures need, from files, known already, or counted over all documents."""
    found: dict[str, Artefact] = {}
    counters: dict[str, Counter] = {}
    wanted: Sequence[Need] = (*needs(source.text, source.measures), OutlineNeed(source.text))
    for need in wanted:
        if isinstance(need, ReadyNeed):
            found[need.name] = need.ready()
        elif need.file is not None:
            found[need.name] = need.load(Path(need.file))
        else:
            counters[need.name] = need.counter()
    if counters:
        _read(source, "counting", list(counters.values()), progress)
    return found | {name: counter.finish() for name, counter in counters.items()}


def _outline(artefacts: Artefacts) -> Outline:
    found = artefacts[outline.NAME]
    assert isinstance(found, Outline)
    return found


def material_of(source: Source, labelled: Labelled, progress: Progress) -> Material:
    """The pairs whose documents are there, with their vectors. Those of equal texts are left out:
    the method finds them whatever a model says, and they would only make it look better."""
    known = profiles_of(source, (one for pair in labelled.labels for one in pair), progress)
    there = [pair for pair in sorted(labelled.labels) if {*pair} <= known.place.keys()]
    missing = len(labelled.labels) - len(there)
    if not there:
        raise InputError(
            f"None of the {many(missing, 'labelled pair')} names two documents that are there.",
            hint="a and b are ids of --documents; --id names their column.",
        )
    a, b = (known.places(pair[side] for pair in there) for side in (0, 1))
    y = np.array([labelled.labels[pair] for pair in there], np.int64)
    differ = np.flatnonzero(~known.equal(a, b))
    a, b, y = a[differ], b[differ], y[differ]
    left_out = {NOT_THERE: missing, EQUAL_TEXTS: len(there) - len(differ)}
    about = {
        "labels": labelled.source,
        "unused": labelled.unused | {why: times for why, times in left_out.items() if times},
        "artefacts": {name: one.digest for name, one in known.artefacts.items()},
        outline.NAME: outline.ranges([_outline(known.artefacts)]),
    }
    return Material(Data(a, b, y, known.vectors(a, b)), source.text, source.measures, about)
