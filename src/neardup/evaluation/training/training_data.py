"""Labelled pairs as numbers: what every step of training works on.

Labelled pairs of documents → their similarity vectors.

Only the documents that a label names are kept, as profiles; texts are let go. What the measures
need of the collection, such as how rare words are, is counted over all its documents first.

The pairs that a model will be asked about: those that the method ``learned`` compares.

Where all duplicates of a collection are known, a model is taught with these pairs, as many of
either class as meet. Of another mixture, such as two hard pairs for each duplicate, it would learn
a cut that is good for that mixture alone.
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
from neardup.decisions.clusters import components
from neardup.documents import Collection, Columns
from neardup.engines.batch.table_pass import Pass, count
from neardup.engines.execution import execute
from neardup.errors import InputError
from neardup.evaluation.scored_pairs import of_result
from neardup.features import similarity
from neardup.labels.training_labels import BEYOND, EQUAL_TEXTS, NOT_THERE, Labelled
from neardup.methods.idf_terms import equal_evidence
from neardup.methods.preparation import read_words
from neardup.methods.profiles import check_date, needs, profiles
from neardup.plan import resolve
from neardup.progress import Progress
from neardup.schema import REJECTED, Array, Ragged
from neardup.settings import settings_of, worker_count
from neardup.text.text_options import Text
from neardup.wording import many

MOST_PAIRS = 40_000  # that a model is trained on


@dataclass(frozen=True)
class Data:
    """Pairs of documents ``a`` and ``b`` (numbers), whether they are duplicates (``y``, 0 or 1) and
    their similarity vectors, a row each with all measures."""

    a: Array
    b: Array
    y: Array
    x: Floats

    def __len__(self) -> int:
        return len(self.y)

    def at(self, rows: Array) -> Data:
        return Data(self.a[rows], self.b[rows], self.y[rows], self.x[rows])

    @property
    def documents(self) -> int:
        return len(np.unique(np.concatenate([self.a, self.b])))

    @property
    def positives(self) -> int:
        return int(self.y.sum())

    @property
    def negatives(self) -> int:
        return len(self) - self.positives

    @property
    def both(self) -> bool:
        """Whether there is a pair of either class."""
        return 0 < self.positives < len(self)

    def drawn(self, most: int, seed: int) -> Data:
        """At most so many of the pairs, as they come with this seed."""
        if len(self) <= most:
            return self
        rows = np.random.default_rng([seed, 1]).choice(len(self), most, replace=False)
        return self.at(np.sort(rows))

    def balanced(self, most: int, seed: int) -> Data:
        """At most so many of the pairs, half of them duplicates as far as there are, and of these
        the same of every cluster. At random nearly all could be easy and of no duplicates, or of
        one large cluster."""
        if len(self) <= most:
            return self
        mixed = np.random.default_rng([seed, 8]).permutation(len(self))
        yes, no = (mixed[self.y[mixed] == y] for y in (1, 0))
        duplicates = min(len(yes), max(most // 2, most - len(no)))
        taken = self._in_turn(yes)[:duplicates], no[: most - duplicates]
        return self.at(np.sort(np.concatenate(taken)))

    def _in_turn(self, rows: Array) -> Array:
        """Rows of duplicates: the first of each cluster, the second of each, and so on."""
        if not len(rows):
            return rows
        a, b = self.a[rows], self.b[rows]
        cluster = components(int(max(a.max(), b.max())) + 1, a, b)[a]
        order = np.argsort(cluster, kind="stable")
        starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))
        rank = np.arange(len(rows)) - np.repeat(starts, np.diff(starts, append=len(rows)))
        return rows[order[np.argsort(rank, kind="stable")]]


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


LOWEST = 1e-6  # a probability that every pair reaches with the general model
EQUAL = 1.0  # that of equal texts alone with it
MOST_COMPARED = 5_000_000
FEWEST_DUPLICATES = 1000  # that are drawn, where there are so many
DUPLICATE, OTHER, OPEN = 1, 0, -1  # what is known of a pair


@dataclass(frozen=True)
class Met:
    """Pairs of places in ``ids``, each once; ``equal`` ones have one text and teach nothing."""

    ids: list[str]
    a: Array
    b: Array
    equal: Array


def met_in(source: Source, progress: Progress) -> Met:
    """What is rejected has a place too, and is in no pair. Words are those of the general model,
    whatever counts as a word to the one that is trained."""
    given = {"method": "learned", "threshold": LOWEST, "calibrate": False, "templates": "accept"}
    reading = {"text": source.columns.text, "id": source.columns.id, "limit": source.limit}
    more = {"kinds": "none", "workers": source.workers, "max_pairs": MOST_COMPARED}
    plan = resolve(settings_of({**given, **reading, **more}), every_pair=True)
    result = execute(source.collection, plan, progress=progress)
    if not result.pairs_complete:
        raise InputError(
            f"More than {MOST_COMPARED:,} pairs of these documents would be compared.",
            hint="train on fewer documents: --limit takes the first ones.",
        )
    pairs = of_result(result)
    ids = result.decisions["id"]
    rejected = pc.equal(result.decisions["decision"], REJECTED)
    ids = pc.if_else(rejected, pa.scalar(None, ids.type), ids).to_pylist()
    return Met(ids, pairs.a, pairs.b, pairs.score >= EQUAL)


def teach(found: Labelled, met: Met, known: Array, most: int, seed: int) -> None:
    """``known`` says of each pair what it is; at most so many are added to the labels."""
    told = np.flatnonzero((known != OPEN) & ~met.equal)
    rows = told[drawn(known[told] == DUPLICATE, most, seed)]
    for row in rows.tolist():
        found.add(met.ids[met.a[row]], met.ids[met.b[row]], int(known[row]))
    found.leave(BEYOND, len(told) - len(rows))
    found.leave(EQUAL_TEXTS, int(((known != OPEN) & met.equal).sum()))


def drawn(duplicates: Array, most: int, seed: int) -> Array:
    """At most so many rows, at random; but not so few duplicates that they could teach nothing."""
    if len(duplicates) <= most:
        return np.arange(len(duplicates))
    mixed = np.random.default_rng([seed, 6]).permutation(len(duplicates))
    yes, no = mixed[duplicates[mixed]], mixed[~duplicates[mixed]]
    share = round(most * len(yes) / len(mixed))
    wanted = min(len(yes), max(share, min(FEWEST_DUPLICATES, most // 2)))
    return np.sort(np.concatenate([yes[:wanted], no[: most - wanted]]))
