"""Training data: labelled pairs of documents as similarity vectors.

Only the documents that a label names are kept, as profiles, without their texts. What the measures
need of the collection, such as how rare words are, is counted over all its documents first.

If all duplicates of a collection are known, a model is trained on the pairs that the method
``learned`` compares (``met_in``), in the proportion of classes in which they meet. From a different
mixture, such as two hard pairs for each duplicate, it would learn a threshold that is right only
for that mixture.
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
from neardup.documents.collection import Collection
from neardup.documents.columns import Columns
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
from neardup.schema import Array, Ragged
from neardup.settings import settings_of, worker_count
from neardup.text.text_options import Text
from neardup.wording import many

MOST_PAIRS = 40_000  # on which a model is trained


@dataclass(frozen=True)
class Data:
    """Pairs of documents ``a`` and ``b`` (numbers), their class ``y`` (1 for duplicates, else 0)
    and their similarity vectors ``x``, a row each with all measures."""

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
        """Whether both classes are present."""
        return 0 < self.positives < len(self)

    def drawn(self, most: int, seed: int) -> Data:
        """At most ``most`` pairs, drawn at random."""
        if len(self) <= most:
            return self
        rows = np.random.default_rng([seed, 1]).choice(len(self), most, replace=False)
        return self.at(np.sort(rows))

    def balanced(self, most: int, seed: int) -> Data:
        """At most ``most`` pairs, half of them duplicates if possible, spread evenly over clusters.
        A plain random draw could be almost only easy negatives, or one large cluster."""
        if len(self) <= most:
            return self
        shuffled = np.random.default_rng([seed, 8]).permutation(len(self))
        yes, no = (shuffled[self.y[shuffled] == y] for y in (1, 0))
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
    """The source with the ids that a run gives to its documents, because labels use those ids."""
    collection = source.collection.limited(source.limit)
    return replace(source, collection=collection.told_apart(source.columns)[0])


@dataclass(frozen=True)
class Material:
    """``measures`` name the columns of the vectors. ``about`` describes the labels in the model; it
    is plain data, and the same for the same input."""

    data: Data
    text: Text
    measures: tuple[str, ...]
    about: dict[str, Any]


@dataclass(frozen=True)
class Profiles:
    """Profiles of the requested documents that exist; ``place`` maps ids to rows, and ``digests``
    are those of their normal forms."""

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
        """Whether the pairs have equal texts, and equal dates if dates are compared."""
        same = self.digests[a] == self.digests[b]
        return np.asarray(same & equal_evidence(self.profiles, a, b))

    def places(self, ids: Iterable[str]) -> Array:
        return np.array([self.place[name] for name in ids], np.int64)


class _Profiling:
    """Makes profiles of some documents in input order; the first document with an id counts."""

    def __init__(self, wanted: Iterable[str], artefacts: Artefacts, source: Source) -> None:
        self.wanted = pa.array(sorted(set(wanted)), pa.large_string())
        self.artefacts, self.source = artefacts, source
        self.ids: list[str] = []
        self.parts: list[Ragged] = []
        self.digests: list[Array] = [np.empty(0, np.uint64)]

    def count(self, batch: pa.RecordBatch) -> tuple[list[str], Ragged, Array]:
        chosen = batch.filter(pc.is_in(batch.column("id"), self.wanted))
        source = self.source
        profiles_made = profiles(
            chosen, self.artefacts, source.text, source.measures, date=source.date
        )
        digests = read_words(chosen, source.text).normal_digests
        return chosen.column("id").to_pylist(), profiles_made, digests

    def add(self, part: tuple[list[str], Ragged, Array]) -> None:
        ids, batch_profiles, digests = part
        self.ids += ids
        self.parts.append(batch_profiles)
        self.digests.append(digests)

    def finish(self) -> Profiles:
        place: dict[str, int] = {}
        for number, name in enumerate(self.ids):
            place.setdefault(name, number)
        profiles = Ragged.concat(self.parts, np.uint64)
        digests = np.concatenate(self.digests)
        return Profiles(place, profiles, digests, self.artefacts, self.source.measures)


class _Texts:
    """Collects the texts of some documents by id; the first document with an id counts."""

    def __init__(self, wanted: Iterable[str]) -> None:
        self.wanted = pa.array(sorted(set(wanted)), pa.large_string())
        self.texts: dict[str, str] = {}

    def count(self, batch: pa.RecordBatch) -> list[tuple[str, str]]:
        chosen = batch.filter(pc.is_in(batch.column("id"), self.wanted))
        columns = (chosen.column(name).to_pylist() for name in ("id", "text"))
        return list(zip(*columns, strict=True))

    def add(self, part: list[tuple[str, str]]) -> None:
        for name, text in part:
            self.texts.setdefault(name, text)


def texts_of(source: Source, wanted: Iterable[str], progress: Progress) -> dict[str, str]:
    collected = _Texts(wanted)
    _read(source, "reading", [collected], progress)
    return collected.texts


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
    """The artefacts that the measures need: from files, ready-made, or counted."""
    artefacts: dict[str, Artefact] = {}
    counters: dict[str, Counter] = {}
    wanted: Sequence[Need] = (*needs(source.text, source.measures), OutlineNeed(source.text))
    for need in wanted:
        if isinstance(need, ReadyNeed):
            artefacts[need.name] = need.ready()
        elif need.file is not None:
            artefacts[need.name] = need.load(Path(need.file))
        else:
            counters[need.name] = need.counter()
    if counters:
        _read(source, "counting", list(counters.values()), progress)
    return artefacts | {name: counter.finish() for name, counter in counters.items()}


def _outline(artefacts: Artefacts) -> Outline:
    artefact = artefacts[outline.NAME]
    assert isinstance(artefact, Outline)
    return artefact


def material_of(source: Source, labelled: Labelled, progress: Progress) -> Material:
    """The labelled pairs whose documents exist, with their vectors. Pairs of equal texts are left
    out: the method finds them without the model, and they would only make it look better."""
    known = profiles_of(source, (name for pair in labelled.labels for name in pair), progress)
    usable = [pair for pair in sorted(labelled.labels) if {*pair} <= known.place.keys()]
    missing = len(labelled.labels) - len(usable)
    if not usable:
        raise InputError(
            f"None of the {many(missing, 'labelled pair')} names two documents that exist.",
            hint="a and b are ids of --documents; --id names their column.",
        )
    a, b = (known.places(pair[side] for pair in usable) for side in (0, 1))
    y = np.array([labelled.labels[pair] for pair in usable], np.int64)
    differ = np.flatnonzero(~known.equal(a, b))
    a, b, y = a[differ], b[differ], y[differ]
    left_out = {NOT_THERE: missing, EQUAL_TEXTS: len(usable) - len(differ)}
    about = {
        "labels": labelled.source,
        "unused": labelled.unused | {why: times for why, times in left_out.items() if times},
        "artefacts": {name: artefact.digest for name, artefact in known.artefacts.items()},
        outline.NAME: outline.ranges([_outline(known.artefacts)]),
    }
    return Material(Data(a, b, y, known.vectors(a, b)), source.text, source.measures, about)


LOWEST = 1e-6  # a probability that every pair reaches with the general model
EQUAL = 1.0  # a probability that only equal texts reach with it
MOST_COMPARED = 5_000_000
FEWEST_DUPLICATES = 1000  # drawn at least, if there are enough
DUPLICATE, OTHER, OPEN = 1, 0, -1  # what is known about a pair


@dataclass(frozen=True)
class Met:
    """Pairs of places in ``ids``, each once; ``equal`` marks equal texts, which teach nothing."""

    ids: list[str]
    a: Array
    b: Array
    equal: Array


def met_in(source: Source, progress: Progress) -> Met:
    """The pairs that ``learned`` compares. A rejected document has a place too, and is in no pair.
    Words are those of the general model, whatever the trained model counts as a word."""
    method = {"method": "learned", "threshold": LOWEST, "calibrate": False, "templates": "accept"}
    reading = {"text": source.columns.text, "id": source.columns.id, "limit": source.limit}
    limits = {"kinds": "none", "workers": source.workers, "max_pairs": MOST_COMPARED}
    plan = resolve(settings_of({**method, **reading, **limits}), every_pair=True)
    result = execute(source.collection, plan, progress=progress)
    if not result.pairs_complete:
        raise InputError(
            f"More than {MOST_COMPARED:,} pairs of these documents would be compared.",
            hint="train on fewer documents: --limit takes the first ones.",
        )
    pairs = of_result(result)
    return Met(result.accepted_ids.to_pylist(), pairs.a, pairs.b, pairs.score >= EQUAL)


def teach(labelled: Labelled, met: Met, known: Array, most: int, seed: int) -> None:
    """Add at most ``most`` labels; ``known`` is the class of each pair that met, or ``OPEN``."""
    usable = np.flatnonzero((known != OPEN) & ~met.equal)
    rows = usable[drawn(known[usable] == DUPLICATE, most, seed)]
    for row in rows.tolist():
        labelled.add(met.ids[met.a[row]], met.ids[met.b[row]], int(known[row]))
    labelled.leave(BEYOND, len(usable) - len(rows))
    labelled.leave(EQUAL_TEXTS, int(((known != OPEN) & met.equal).sum()))


def drawn(duplicates: Array, most: int, seed: int) -> Array:
    """At most ``most`` random rows, with enough duplicates to learn from."""
    if len(duplicates) <= most:
        return np.arange(len(duplicates))
    shuffled = np.random.default_rng([seed, 6]).permutation(len(duplicates))
    yes, no = shuffled[duplicates[shuffled]], shuffled[~duplicates[shuffled]]
    share = round(most * len(yes) / len(shuffled))
    wanted = min(len(yes), max(share, min(FEWEST_DUPLICATES, most // 2)))
    return np.sort(np.concatenate([yes[:wanted], no[: most - wanted]]))
