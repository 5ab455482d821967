"""Labelled pairs of a collection of the material, with their similarity vectors.

Duplicates are all pairs of one group. Of the pairs of other groups nearly all are too easy to teach
anything: half of those that are taken are the most alike, the others are drawn. What the material
cannot tell is left out: pairs with a donor, copies that keep less than half of a text, and where
sections of one book may be versions of each other, pairs of other groups that are very much alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.artefacts.artefact import resolved
from neardup.features import similarity
from neardup.methods.profiles import needs, profiles
from neardup.schema import Ragged
from neardup.text.text_options import Text
from tools.general_model.document import Document

MEASURES = (
    *("chars8_known", "words3_known", "chars8_idf", "words3_idf", "chars8_known_containment"),
    *("words5_known_containment", "numbers_dice", "length_ratio"),
)
NEAR, LEAST_NEAR = "chars8_idf_containment", 0.02  # how alike others are, before they are taken
HARDEST, DRAWN = 1500, 1500  # pairs of other groups
EXCERPTS, LEAST_KEPT = ("excerpt-first", "excerpt-middle"), 0.5
DOUBTFUL = ("edu-manual", "installation-guide", "essays", "fortunes")
SAME, MOST_SAME = "words3_jaccard", 0.5  # from which other groups of these are in doubt
_BLOCK = 50_000
Array = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Pairs:
    """Rows of the documents of a collection, whether they are duplicates, and their vectors."""

    collection: str
    documents: Sequence[Document]
    a: Array
    b: Array
    y: Array
    x: npt.NDArray[np.float64]

    @property
    def family(self) -> str:
        """The name without the language: collections of one family are translations."""
        return self.collection.rpartition("-")[0] or self.collection

    @property
    def weight(self) -> npt.NDArray[np.float64]:
        """Duplicates and others weigh the same, and so does every collection."""
        return 0.5 / np.bincount(self.y, minlength=2)[self.y]


def pairs_of(
    collection: str,
    documents: Sequence[Document],
    seed: int,
    measures: Sequence[str] = MEASURES,
) -> Pairs:
    group = np.unique([one.group for one in documents], return_inverse=True)[1]
    a, b = np.triu_indices(len(documents), 1)
    same = group[a] == group[b]
    short = np.array([_is_short(one) for one in documents])
    duplicates = np.flatnonzero(same & ~short[a] & ~short[b])
    others = np.flatnonzero(~same & ~_donated(documents, group)[a, b])
    others = others[_taken(_near(documents, a[others], b[others]), seed)]
    rows = np.concatenate([duplicates, others])
    x = _vectors(documents, a[rows], b[rows], (*measures, SAME))
    return _sure(collection, documents, a[rows], b[rows], same[rows], x)


def _is_short(one: Document) -> bool:
    return one.edit in EXCERPTS and (one.rate or 0) < LEAST_KEPT


def _donated(documents: Sequence[Document], group: Array) -> Array:
    """Which pairs share a passage by planting: of a copy or trap with the group of a donor."""
    place = {one.id: row for row, one in enumerate(documents)}
    found = np.zeros((len(documents), len(documents)), bool)
    for row, one in enumerate(documents):
        for donor in one.donors:
            found[row] |= group == group[place[donor]]
    return found | found.T


def _near(documents: Sequence[Document], a: Array, b: Array) -> Array:
    return _vectors(documents, a, b, (NEAR,))[:, 0]


def _taken(near: Array, seed: int) -> Array:
    order = np.argsort(-near, kind="stable")
    drawn = np.random.default_rng(seed).permutation(order[HARDEST:])[:DRAWN]
    rows = np.concatenate([order[:HARDEST], drawn])
    return np.sort(rows[near[rows] > LEAST_NEAR])


def _sure(
    collection: str,
    documents: Sequence[Document],
    a: Array,
    b: Array,
    same: Array,
    x: npt.NDArray[np.float64],
) -> Pairs:
    """Without pairs that are in doubt by the last measure."""
    sure = np.ones(len(x), bool)
    if collection.startswith(DOUBTFUL):
        sure = same | (x[:, -1] < MOST_SAME)
    y = same[sure].astype(np.int64)
    return Pairs(collection, documents, a[sure], b[sure], y, x[sure, :-1])


def _vectors(
    documents: Sequence[Document], a: Array, b: Array, measures: tuple[str, ...]
) -> npt.NDArray[np.float64]:
    """Features weigh what they do in this collection."""
    made = _profiles(documents, measures)
    found = np.empty((len(a), len(measures)))
    for begin in range(0, len(a), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        found[block] = similarity.vectors(made, a[block], b[block], measures)
    return found


def _profiles(documents: Sequence[Document], measures: tuple[str, ...]) -> Ragged:
    texts = pa.array([one.text for one in documents], pa.large_string())
    batch = pa.record_batch({"text": texts})
    return profiles(batch, resolved(needs(Text(), measures), batch), Text(), measures)
