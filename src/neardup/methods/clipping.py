"""Shingles without those that do not count: boilerplate, and what many documents have (clipping).

Montanari & Puglisi, §6, would clip features by how many documents have them. What more than a
share, or a number, of the documents have is left out of the sets; the counts are those of the
frequencies, an artefact. A share of a small collection could be less than the copies of one text,
so it means 20 documents at least. A document of which fewer shingles are left than the shortest
comparable text has is a duplicate only of an equal one: of three shingles two in common would say
nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import Artefact, Artefacts
from neardup.artefacts.frequencies import MOST_COUNT, Frequencies
from neardup.errors import SettingsError
from neardup.methods import minhash
from neardup.methods.method import Prepared, Rarity
from neardup.methods.overlap import NO_COUNTS
from neardup.methods.preparing import least_features, prepared, read_words
from neardup.schema import Array, Ragged, offsets_of

if TYPE_CHECKING:
    from neardup.methods.shingles import Shingles

FEWEST = 20


def check(method: Shingles) -> None:
    if method.clip and (method.sampling != "none" or method.keys == "bands"):
        raise SettingsError(
            "shingles: clip is for whole sets, joined completely.",
            hint="leave sampling and keys as they are by default.",
        )


def most_documents(clip: float, documents: int) -> int:
    """In how many documents a shingle may be and still count."""
    most = int(clip) if clip >= 1 else max(int(clip * documents), FEWEST)
    return min(most, MOST_COUNT - 1)  # counts end there


def clipped(sets: Ragged, table: Frequencies, clip: float) -> Ragged:
    left = table.counts_of(sets.values) <= most_documents(clip, table.documents)
    ends = np.concatenate([[0], np.cumsum(left)])[sets.offsets]
    return Ragged(sets.values[left], offsets_of(np.diff(ends)))


def prepare(method: Shingles, batch: pa.RecordBatch, artefacts: Artefacts) -> Prepared:
    reading = read_words(batch, method.text)
    words = reading.words
    sets = _native.sample_features(words.values, words.offsets, method.words, method.ignored, 1, 0)
    evidence = _left(method, Ragged(*sets), artefacts.get("frequencies"))
    few = evidence.lengths < least_features(method.min_words, method.words)
    keys, probes = _own_keys(method, evidence)
    return prepared(reading, evidence, keys, probes, reading.shorter_than(method.min_words) | few)


def _left(method: Shingles, sets: Ragged, table: Artefact | None) -> Ragged:
    if not isinstance(table, Frequencies):
        return sets
    left = clipped(sets, table, method.clip) if method.clip else sets
    return left if method.weights == "none" else table.weighted(left)


def _own_keys(method: Shingles, evidence: Ragged) -> tuple[Ragged, Array]:
    if method.bands:
        return minhash.band_keys(evidence, method.bands)
    return method.rare_keys(evidence, Rarity(NO_COUNTS))
