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
from neardup.evaluation.scored import of_result
from neardup.evaluation.training.labels import BEYOND, EQUAL_TEXTS, Labelled
from neardup.evaluation.training.material import Source
from neardup.plan import resolve, settings_of
from neardup.progress import Progress
from neardup.schema import REJECTED, Array

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
