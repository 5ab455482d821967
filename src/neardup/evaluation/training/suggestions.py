"""``label suggest``: chooses the candidate pairs whose labels would teach most (active learning).

With a model, these are pairs near its decision boundary that differ from each other and from pairs
that are labelled already. Of the pairs nearest to the boundary, the one that is farthest from all
chosen before is taken repeatedly (k-center: Gonzalez 1985). Without a model, pairs are spread
evenly from the least to the most similar.

The sample is blind like a random one, and is judged and imported in the same way. It gives no
estimate of precision or recall, because its pairs were chosen; its key therefore names no
treatment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from neardup.artefacts.arrays import Floats
from neardup.artefacts.model import Model
from neardup.documents.columns import Columns
from neardup.errors import InputError
from neardup.evaluation.training.training_data import Profiles, Source, profiles_of, told_apart
from neardup.evaluation.training.training_data import texts_of as texts_of_documents
from neardup.labels.label_store import Pair
from neardup.labels.sampling import (
    Item,
    Key,
    Sample,
    blind_items,
    check_texts,
    draw_pairs,
    item_name,
    judged_texts,
)
from neardup.progress import Progress, Silent
from neardup.runs.result import Result
from neardup.schema import Array
from neardup.settings import check_positive

NEAREST = 2  # times the wanted number of pairs count as near the boundary
PER_DOCUMENT = 2  # the most chosen pairs that may share a document


@dataclass(frozen=True)
class Candidates:
    """Pairs of documents ``a`` and ``b`` (numbers) with their similarity vectors."""

    a: Array
    b: Array
    x: Floats

    def __len__(self) -> int:
        return len(self.a)

    def at(self, rows: Array) -> Candidates:
        return Candidates(self.a[rows], self.b[rows], self.x[rows])


def distance_to_boundary(model: Model, x: Floats) -> Floats:
    """The distance of g from the decision boundary."""
    t = min(max(model.threshold, 1e-9), 1 - 1e-9)
    boundary = (math.log(t / (1 - t)) - model.platt.offset) / model.platt.slope
    return np.asarray(np.abs(model.g(x) - boundary), np.float64)


def teaching(
    candidates: Candidates, wanted: int, *, model: Model | None = None, known: Floats | None = None
) -> Array:
    """The rows to label; ``known`` are vectors of labelled pairs. No document is in more than a few
    of the rows, so there may be fewer than wanted."""
    if not len(candidates):
        return np.empty(0, np.int64)
    if model is None:
        return _Chosen(candidates).evenly(wanted)
    order = np.argsort(distance_to_boundary(model, candidates.x), kind="stable")
    near = _near(candidates, order, NEAREST * wanted)
    labelled = np.empty((0, candidates.x.shape[1])) if known is None else known
    return near[_Chosen(candidates.at(near)).farthest(labelled, wanted)]


def _near(candidates: Candidates, order: Array, count: int) -> Array:
    """The first ``count`` rows of ``order`` in which no document is frequent: one with many
    neighbours must not fill the list."""
    chosen = _Chosen(candidates)
    for row in order.tolist():
        if len(chosen.rows) == count:
            break
        if chosen.allows(row):
            chosen.take(row)
    return np.array(chosen.rows, np.int64)


@dataclass
class _Chosen:
    """The rows that were chosen, and how many of them each document is in."""

    candidates: Candidates
    rows: list[int] = field(default_factory=list)
    times: dict[int, int] = field(default_factory=dict)

    def _documents(self, row: int) -> tuple[int, int]:
        return int(self.candidates.a[row]), int(self.candidates.b[row])

    def allows(self, row: int) -> bool:
        return all(self.times.get(document, 0) < PER_DOCUMENT for document in self._documents(row))

    def take(self, row: int) -> None:
        self.rows.append(row)
        for document in self._documents(row):
            self.times[document] = self.times.get(document, 0) + 1

    def farthest(self, known: Floats, wanted: int) -> Array:
        """Choose rows one by one, each the farthest from all chosen before and from ``known``. If
        nothing is known, the first is the one nearest to the median."""
        z, labelled = _scaled(self.candidates.x, known)
        apart = np.full(len(z), np.inf)
        for vector in labelled:
            apart = np.minimum(apart, _distances(z, vector))
        if not len(labelled):
            self.take(int(np.argmin(_distances(z, np.median(z, axis=0)))))
            apart = _distances(z, z[self.rows[0]])
        while len(self.rows) < wanted:
            order = np.argsort(-apart, kind="stable").tolist()
            row = next((r for r in order if r not in self.rows and self.allows(r)), None)
            if row is None:
                break
            self.take(row)
            apart = np.minimum(apart, _distances(z, z[row]))
        return np.array(self.rows, np.int64)

    def evenly(self, wanted: int) -> Array:
        """Choose rows at even ranks of the mean measure, from the lowest to the highest."""
        z, _ = _scaled(self.candidates.x, self.candidates.x[:0])
        order = np.argsort(z.mean(axis=1), kind="stable")
        for place in np.linspace(0, len(order) - 1, wanted).round().astype(int).tolist():
            near = (int(order[i]) for i in _outwards(place, len(order)))
            row = next((r for r in near if r not in self.rows and self.allows(r)), None)
            if row is not None:
                self.take(row)
        return np.array(self.rows, np.int64)


def _outwards(place: int, count: int) -> Iterator[int]:
    """Places in order of their distance from this one."""
    for step in range(count):
        for near in dict.fromkeys((place - step, place + step)):
            if 0 <= near < count:
                yield near


def _scaled(x: Floats, known: Floats) -> tuple[Floats, Floats]:
    """Both, with each measure divided by its standard deviation."""
    spread = x.std(axis=0)
    scale = np.where(spread > 1e-6, spread, 1.0)
    return x / scale, known / scale


def _distances(z: Floats, vector: Floats) -> Floats:
    return np.asarray(((z - vector) ** 2).sum(axis=1), np.float64)


MOST_CANDIDATES = 20_000
STRATA = 20  # of scores, from which candidates are drawn if there are more
WANTED = 30


@dataclass(frozen=True)
class Pool:
    """Pairs to choose from, with their documents."""

    pairs: Sequence[Pair]
    source: Source
    texts: Callable[[Iterable[str]], dict[str, str]]


def pool_of_run(name: str, result: Result, model: Model | None, seed: int) -> Pool:
    check_texts(name, result)
    settings = result.info["settings"]
    drawn = draw_pairs(result, MOST_CANDIDATES, STRATA, f"{seed}:{name}")
    pairs = [drawn.pair(row) for rows in drawn.rows for row in rows]
    columns = Columns(settings["text"], settings["id"])
    source = Source(
        result.collection(), columns, limit=settings.get("limit"), date=settings.get("date")
    )
    source = told_apart(as_model_reads(source, model))
    return Pool(pairs, source, lambda ids: judged_texts(name, result, ids))


def as_model_reads(source: Source, model: Model | None) -> Source:
    """The source with the text options of the model, and only its measures."""
    if model is None:
        return source
    return replace(source, text=model.text, measures=model.measures)


def pool_of_pairs(pairs: Iterable[Pair], source: Source, seed: int) -> Pool:
    listed = sorted({pair for pair in pairs if pair.a != pair.b})
    if len(listed) > MOST_CANDIDATES:
        listed = sorted(Random(f"{seed}:pairs").sample(listed, MOST_CANDIDATES))
    return Pool(listed, source, lambda ids: texts_of_documents(source, ids, Silent()))


def suggest(
    pools: Mapping[str, Pool],
    wanted: int = WANTED,
    *,
    model: Model | None = None,
    labelled: Iterable[Pair] = (),
    seed: int = 0,
    progress: Progress | None = None,
) -> Sample:
    """A sample of the ``wanted`` most useful pairs; ``labelled`` pairs are not suggested again."""
    check_positive("n", wanted)
    chosen: dict[Pair, Pool] = {}
    known, reporter = set(labelled), progress or Silent()
    for pool in pools.values():
        unlabelled = [pair for pair in pool.pairs if pair not in known]
        for pair in _chosen(pool, unlabelled, known, -(-wanted // len(pools)), model, reporter):
            if len(chosen) < wanted:
                chosen[pair] = pool
        known |= chosen.keys()
    if not chosen:
        raise InputError(
            f"There is no pair left to judge in {', '.join(pools)}.",
            hint="give a run at a lower threshold: it has more pairs, and harder ones.",
        )
    names = {pair: item_name(seed, pair) for pair in chosen}
    key = Key(seed, (), {names[pair]: pair for pair in sorted(names, key=names.__getitem__)})
    return Sample(_items(chosen, names, seed), key)


def _chosen(
    pool: Pool,
    unlabelled: Sequence[Pair],
    known: set[Pair],
    wanted: int,
    model: Model | None,
    progress: Progress,
) -> list[Pair]:
    judged = sorted(known & set(pool.pairs))
    profiles = profiles_of(
        pool.source, (name for pair in (*unlabelled, *judged) for name in pair), progress
    )
    usable = [pair for pair in unlabelled if {*pair} <= profiles.place.keys()]
    labelled = _candidates(profiles, [p for p in judged if {*p} <= profiles.place.keys()])
    rows = teaching(_candidates(profiles, usable), wanted, model=model, known=labelled.x)
    return [usable[row] for row in rows.tolist()]


def _candidates(profiles: Profiles, pairs: Sequence[Pair]) -> Candidates:
    a, b = (profiles.places(pair[side] for pair in pairs) for side in (0, 1))
    return Candidates(a, b, profiles.vectors(a, b))


def _items(chosen: Mapping[Pair, Pool], names: Mapping[Pair, str], seed: int) -> tuple[Item, ...]:
    texts: dict[Pair, dict[str, str]] = {}
    for pool in {id(pool): pool for pool in chosen.values()}.values():
        pairs = [pair for pair, source in chosen.items() if source is pool]
        texts |= dict.fromkeys(pairs, pool.texts(sorted({name for pair in pairs for name in pair})))
    return blind_items(texts, names, seed)
