"""The idf table and the terms of a batch, for all methods that use idf terms."""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import Artefacts
from neardup.artefacts.idf import ALL_TERMS, IdfTable
from neardup.errors import SettingsError
from neardup.features.terms import DocumentTerms
from neardup.methods.base import MOSTLY_NUMBERS
from neardup.methods.preparation import Reading, read_words
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text

# A table of fewer documents cannot separate common from rare terms; its lexicon may be empty.
FEWEST_DOCUMENTS = 20


def table_of(artefacts: Artefacts) -> IdfTable:
    return cast("IdfTable", artefacts["idf"])


def read_terms(
    batch: pa.RecordBatch, text: Text, table: IdfTable, ranks: range, most: int = ALL_TERMS
) -> tuple[Reading, DocumentTerms]:
    """The words and digests of each document, and its terms whose rank is in ``ranks``: at least
    the ``most`` rarest of them."""
    reading = read_words(batch, text)
    terms = table.terms_of_words(reading.words, ranks, most)
    return reading, terms or table.terms_of(batch.column("text"), ranks)


def number_flags(batch: pa.RecordBatch) -> npt.NDArray[np.uint8]:
    texts = Ragged.of_strings(batch.column("text"))
    return _native.mostly_numbers(texts.values, texts.offsets) * np.uint8(MOSTLY_NUMBERS)


def equal_evidence(evidence: Ragged, a: Array, b: Array) -> npt.NDArray[np.bool_]:
    """Which pairs have equal evidence: the only comparison that short documents allow."""
    offsets = evidence.offsets * evidence.values.dtype.itemsize
    return _native.equal_pairs(evidence.values.view(np.uint8), offsets, a, b).view(np.bool_)


def check_lexicon(method: str, table: IdfTable, ranks: range, limits: str) -> None:
    """Refuses limits that no term satisfies, because no document could be compared."""
    if len(ranks) or not len(table) or table.documents < FEWEST_DOCUMENTS:
        return
    raise SettingsError(
        f"{method}: none of the {len(table):,} terms of {table.documents:,} documents "
        f"has {limits}.",
        hint="widen the limits, or give the idf table of a larger collection with --set idf=TABLE.",
    )
