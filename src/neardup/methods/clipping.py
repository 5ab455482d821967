"""Shingles without those that many documents have (Montanari & Puglisi, §6: clipping).

What more than a share, or a number, of the documents have is no evidence and is left out of the
sets. The counts are those of the frequencies, an artefact. A share of a small collection could be
less than the copies of one text, so it means 20 documents at least. A document of which fewer
shingles are left than the shortest comparable text has is duplicate only of an equal one: of three
shingles two in common would say nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import Artefacts
from neardup.artefacts.frequencies import MOST_COUNT, Frequencies
from neardup.errors import SettingsError
from neardup.methods.method import Prepared, Rarity
from neardup.methods.overlap import NO_COUNTS
from neardup.methods.preparing import least_features, prepared, read_words
from neardup.schema import Ragged, offsets_of

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
    table = artefacts["frequencies"]
    assert isinstance(table, Frequencies)
    reading = read_words(batch, method.text)
    words = reading.words
    sets = _native.sample_features(words.values, words.offsets, method.words, method.ignored, 1, 0)
    evidence = clipped(Ragged(*sets), table, method.clip)
    few = evidence.lengths < least_features(method.min_words, method.words)
    if method.weights != "none":
        evidence = table.weighted(evidence)
    keys, probes = method.rare_keys(evidence, Rarity(NO_COUNTS))
    return prepared(reading, evidence, keys, probes, reading.shorter_than(method.min_words) | few)
