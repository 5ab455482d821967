"""The terms of documents, by their rank in an idf table: rarest first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.schema import Ragged


@dataclass(frozen=True)
class DocumentTerms:
    """Distinct terms of each document, rarest first; ``counts`` and ``first`` (position among all
    tokens) have one entry a term, ``tokens`` one a document."""

    ranks: Ragged
    counts: npt.NDArray[np.uint32]
    first: npt.NDArray[np.uint32]
    tokens: npt.NDArray[np.uint32]


def document_terms(
    texts: pa.LargeStringArray,
    options: _native.TextOptions,
    filter_: int,
    table: _native.TermTable,
    ranks: range,
) -> DocumentTerms:
    """Only terms whose rank is among ``ranks``; ``filter_`` as the native kernel numbers them."""
    given = Ragged.of_strings(texts)
    found, counts, first, ends, tokens = _native.document_terms(
        given.values, given.offsets, options, filter_, table, ranks.start, ranks.stop
    )
    return DocumentTerms(Ragged(found, ends), counts, first, tokens)


def terms_of_words(
    words: Ragged, table: _native.TermTable, ranks: range, most: int
) -> DocumentTerms:
    """The same from hashes of words, where every term is a word as it is; of each document the
    ``most`` rarest."""
    found, counts, first, ends, tokens = _native.terms_of_words(
        words.values, words.offsets, table, ranks.start, ranks.stop, most
    )
    return DocumentTerms(Ragged(found, ends), counts, first, tokens)
