"""The terms of documents, as ranks in an idf table (rank 0 is the rarest term), and term vectors.

``pack`` writes a term vector in the form of Conrad et al. 2003, §7.3, which takes at most 184 bytes
for 60 terms: two bytes for the date (days since 1980-01-01), two for the length and three for each
term, all little endian. A value out of range is stored as the nearest possible one: a date before
1980 as 1980-01-01, a length of 65,535 or more as 65,535. To compare such lengths, the true ones are
needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.classes import dataclass
from neardup.errors import SettingsError
from neardup.schema import Ragged


@dataclass(frozen=True)
class DocumentTerms:
    """The distinct terms of each document, rarest first. ``counts`` and ``first`` (the position of
    the first occurrence) have one entry per term; ``tokens`` (their number) one per document."""

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
    """The terms of texts whose rank is in ``ranks``; ``filter_`` is the kernel's number of the term
    filter."""
    strings = Ragged.of_strings(texts)
    values, counts, first, ends, tokens = _native.document_terms(
        strings.values, strings.offsets, options, filter_, table, ranks.start, ranks.stop
    )
    return DocumentTerms(Ragged(values, ends), counts, first, tokens)


def terms_of_words(
    words: Ragged, table: _native.TermTable, ranks: range, most: int
) -> DocumentTerms:
    """The same from word hashes, if every word is a term; at most the ``most`` rarest terms of each
    document."""
    values, counts, first, ends, tokens = _native.terms_of_words(
        words.values, words.offsets, table, ranks.start, ranks.stop, most
    )
    return DocumentTerms(Ragged(values, ends), counts, first, tokens)


_NONE = 0xFFFF
LAST_DAY, MOST_TOKENS, MOST_TERMS = _NONE - 1, 0xFFFF, 1 << 24


class Vector(NamedTuple):
    """``terms`` are ranks in an idf table, rarest first."""

    day: int | None
    length: int
    terms: tuple[int, ...]


def pack(vector: Vector) -> bytes:
    if any(not 0 <= term < MOST_TERMS for term in vector.terms):
        raise SettingsError(
            f"A term of rank {max(vector.terms):,} does not fit into three bytes.",
            hint=f"use an idf table of at most {MOST_TERMS:,} terms.",
        )
    day = _NONE if vector.day is None else min(max(vector.day, 0), LAST_DAY)
    head = day.to_bytes(2, "little") + min(vector.length, MOST_TOKENS).to_bytes(2, "little")
    return head + b"".join(term.to_bytes(3, "little") for term in vector.terms)


def unpack(packed: bytes) -> Vector:
    day, length = (int.from_bytes(packed[i : i + 2], "little") for i in (0, 2))
    terms = (int.from_bytes(packed[i : i + 3], "little") for i in range(4, len(packed), 3))
    return Vector(None if day == _NONE else day, length, tuple(terms))
