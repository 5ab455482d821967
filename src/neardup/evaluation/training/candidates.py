"""The pairs that a model will be asked about: those that the method ``learned`` compares.

Where all duplicates of a collection are known, a model is taught with these pairs, as many of
either class as meet. Of another mixture, such as two hard pairs for each duplicate, it would learn
a cut that is good for that mixture alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.api import execute
from neardup.errors import InputError
from neardup.evaluation.labels import Pair
from neardup.evaluation.scored import of_result
from neardup.evaluation.training.labels import BEYOND, Labelled
from neardup.evaluation.training.material import Source
from neardup.plan import resolve, settings_of
from neardup.progress import Progress
from neardup.schema import REJECTED, Array

LOWEST = 1e-6  # a probability that every pair reaches
EQUAL = 1.0  # that of equal texts alone
MOST_COMPARED = 5_000_000
FEWEST_DUPLICATES = 1000  # that are drawn, where there are so many


@dataclass(frozen=True)
class Candidates:
    """Pairs of places in ``ids``, each once; ``equal`` ones have one text and teach nothing."""

    ids: list[str]
    a: Array
    b: Array
    equal: Array


def candidates_of(source: Source, progress: Progress) -> Candidates:
    """What is rejected has a place too, and is in no pair."""
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
    return Candidates(ids, pairs.a, pairs.b, pairs.score >= EQUAL)


def drawn(duplicates: Array, most: int, seed: int) -> Array:
    """At most so many rows, at random; but not so few duplicates that they could teach nothing."""
    if len(duplicates) <= most:
        return np.arange(len(duplicates))
    mixed = np.random.default_rng([seed, 6]).permutation(len(duplicates))
    yes, no = mixed[duplicates[mixed]], mixed[~duplicates[mixed]]
    share = round(most * len(yes) / len(mixed))
    wanted = min(len(yes), max(share, min(FEWEST_DUPLICATES, most // 2)))
    return np.sort(np.concatenate([yes[:wanted], no[: most - wanted]]))


def add_unnamed(
    found: Labelled, named: set[Pair], source: Source, seed: int, progress: Progress, most: int
) -> None:
    """Pairs that meet and that nobody named are no duplicates: for labels that are complete."""
    met = candidates_of(source, progress)
    rows = np.random.default_rng([seed, 8]).permutation(np.flatnonzero(~met.equal))
    pairs = (Pair.of(met.ids[met.a[row]], met.ids[met.b[row]]) for row in rows.tolist())
    unnamed = [pair for pair in pairs if pair not in named]
    room = max(most - len(found.labels), 0)
    for pair in unnamed[:room]:
        found.add(*pair, 0)
    found.leave(BEYOND, len(unnamed[room:]))
