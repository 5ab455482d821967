"""idf tables: the number of documents in which each term occurs (Conrad et al., §5, §6.2).

Terms are never stemmed. They are ordered by rank: the rarest first, equally rare terms by code
point. A rank therefore identifies a term and orders it. A table is frozen, its digest covers all
its content, and it cannot be used with options that differ from those it was made with.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import (
    GENERAL,
    StoredTable,
    packed_arrays,
    shipped,
    unpacked_arrays,
    why_unreadable,
)
from neardup.artefacts.frequencies import normalised_idf
from neardup.classes import dataclass
from neardup.errors import InputError, SettingsError, SignatureError
from neardup.features.terms import DocumentTerms, document_terms, terms_of_words
from neardup.files import whole_file
from neardup.schema import Ragged
from neardup.text.text_options import Text

FORMAT = 1
ALL_TERMS = 2**32 - 1
FILTERS = ("words", "alpha", "alnum+")
_DESCRIPTION = b"neardup idf"


@dataclass(frozen=True, eq=False)
class IdfTable(StoredTable):
    """``counts[rank]`` of ``documents`` documents contain ``terms[rank]``."""

    terms: pa.LargeStringArray
    counts: npt.NDArray[np.uint32]
    documents: int
    filter: str
    text: Text
    min_count: int = 1  # terms of fewer documents were removed

    kind: ClassVar[str] = "idf"
    compression: ClassVar[str | None] = None

    def __len__(self) -> int:
        return len(self.counts)

    def content(self) -> Iterable[npt.NDArray[Any]]:
        names = Ragged.of_strings(self.terms)
        values = names.values[names.offsets[0] : names.offsets[-1]]
        return names.offsets - names.offsets[:1], self.counts, values

    def tables(self) -> Iterable[pa.Table]:
        return [pa.table({"term": self.terms, "documents": pa.array(self.counts)})]

    def options(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "documents": self.documents,
            "filter": self.filter,
            "text": asdict(self.text),
            **({"min_count": self.min_count} if self.min_count > 1 else {}),
        }

    def describe(self) -> dict[str, Any]:
        options = {**self.options(), "terms": len(self)}
        return {"kind": self.kind, **options, "digest": self.digest}

    @functools.cached_property
    def idf(self) -> npt.NDArray[np.float64]:
        """The normalised idf by rank: log((N + .5) / n) / log(N + 1)."""
        distinct, where = np.unique(self.counts, return_inverse=True)
        values = [normalised_idf(int(n), self.documents) for n in distinct]
        return np.array(values, np.float64)[where.reshape(-1)]

    @functools.cached_property
    def feature_counts(self) -> npt.NDArray[np.uint8]:
        """Numbers of documents by the low bits of a term's feature (the upper half of its hash).

        They are a frozen order for prefix filters, on the scale of ``native/matching/rare.hpp``. A
        1 would mean that the feature is unique, which a table of other documents cannot know; such
        a feature gets 2."""
        names = Ragged.of_strings(self.terms)
        slots = 1 << min(max(len(self).bit_length() + 1, 8), 22)
        at = (_native.hash_words(names.values, names.offsets) >> np.uint64(32)) % np.uint64(slots)
        counts = np.bincount(at.astype(np.int64), weights=self.counts, minlength=slots)
        above = 128 + 8 * np.log2(np.maximum(counts, 128) / 128)
        scale = np.where(counts > 128, np.minimum(above, 255), np.where(counts == 1, 2, counts))
        return scale.astype(np.uint8)

    @functools.cached_property
    def lookup(self) -> _native.TermTable:
        names = Ragged.of_strings(self.terms)
        return _native.TermTable(names.values, names.offsets)

    @functools.cached_property
    def hashes(self) -> npt.NDArray[np.uint64]:
        """The hashes of the terms by rank; a hash does not depend on the table."""
        names = Ragged.of_strings(self.terms)
        return _native.hash_words(names.values, names.offsets)

    def ranks(self, *, min_count: int = 1, idf_min: float = 0.0, idf_max: float = 1.0) -> range:
        """The ranks of terms that occur in at least ``min_count`` documents and have an idf within
        the limits."""
        first = int(np.searchsorted(self.counts, min_count))
        falling = -self.idf
        low = max(first, int(np.searchsorted(falling, -idf_max)))
        return range(low, max(low, int(np.searchsorted(falling, -idf_min, side="right"))))

    def at_least(self, min_count: int) -> IdfTable:
        """The table without terms of fewer documents; the number of all documents stays."""
        if min_count <= self.min_count:
            return self
        first = int(np.searchsorted(self.counts, min_count))
        return replace(
            self, terms=self.terms[first:], counts=self.counts[first:], min_count=min_count
        )

    def terms_of(self, texts: pa.LargeStringArray, ranks: range | None = None) -> DocumentTerms:
        """The distinct terms of each text that are in the table, rarest first."""
        wanted = range(len(self)) if ranks is None else ranks
        filter_ = FILTERS.index(self.filter)
        return document_terms(texts, self.text.native(), filter_, self.lookup, wanted)

    def terms_of_words(
        self, words: Ragged, ranks: range, most: int = ALL_TERMS
    ) -> DocumentTerms | None:
        """The same from word hashes, limited to the ``most`` rarest; None if a term can consist of
        several words."""
        if self.filter == "alnum+":
            return None
        return terms_of_words(words, self.lookup, ranks, most)

    def save(self, path: Path) -> None:
        """The file appears under its name only when it is complete."""
        with whole_file(path) as part:
            super().save(part)


def load_idf(path: Path) -> IdfTable:
    """Loads a table that :meth:`IdfTable.save` wrote, and checks its digest."""
    try:
        with pa.OSFile(str(path), "rb") as source:
            table = pa.ipc.open_file(source).read_all()
        table.validate(full=True)
        described = json.loads((table.schema.metadata or {}).get(_DESCRIPTION, b"{}"))
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = why_unreadable(error, "it is not a complete Arrow file")
        raise _no_table(f"The idf table {path} cannot be read: {reason}.") from error
    format_ = described.get("format") if isinstance(described, dict) else described
    if format_ != FORMAT:
        raise _no_table(f"{path} is not an idf table of format {FORMAT}; got {format_!r}.")
    try:
        idf = IdfTable(
            table["term"].combine_chunks().cast(pa.large_string()),
            table["documents"].to_numpy().astype(np.uint32),
            described["documents"],
            described["filter"],
            Text(**described["text"]),
            described.get("min_count", 1),
        )
    except (KeyError, TypeError, ValueError, SettingsError, pa.ArrowException) as error:
        raise _no_table(f"{path} is not laid out as an idf table: {error}.") from error
    if idf.digest != described.get("digest"):
        raise SignatureError(
            f"The idf table {path} has changed since it was saved: its digest is "
            f"{idf.digest}, expected {described.get('digest')}.",
            hint="restore the file, or build the table again.",
        )
    return idf


def _no_table(message: str) -> InputError:
    return InputError(message, hint="make one with `neardup idf build DOCUMENTS -o TABLE`.")


class IdfCounter:
    """Counts in how many documents each term occurs."""

    def __init__(self, filter_: str, text: Text) -> None:
        self._filter, self._text = filter_, text
        self._counts = _native.TermCounts()
        self._merged = 0  # documents counted by merged counters

    def count(self, batch: pa.RecordBatch) -> _native.TermCounts:
        part = _native.TermCounts()
        texts = Ragged.of_strings(batch.column("text"))
        filter_ = FILTERS.index(self._filter)
        part.add(texts.values, texts.offsets, self._text.native(), filter_)
        return part

    def add(self, part: _native.TermCounts) -> None:
        self._counts.merge(part)

    def partial(self) -> bytes:
        values, offsets, each = self._counts.sorted()
        documents = self._counts.documents + self._merged
        return packed_arrays(values, offsets, each, np.array([documents]))

    def merge(self, partial: bytes) -> None:
        values, offsets, each, documents = unpacked_arrays(partial)
        self._counts.add_counted(values, offsets, each)
        self._merged += int(documents[0])

    def finish(self) -> IdfTable:
        documents = self._counts.documents + self._merged
        return _table(self._counts, documents, self._filter, self._text)


def merge_idf(tables: Sequence[IdfTable]) -> IdfTable:
    """The table of all collections together: the numbers of documents are added, for each term and
    in total."""
    first = tables[0]
    counts = _native.TermCounts()
    for table in tables:
        if (table.filter, table.text) != (first.filter, first.text):
            raise SignatureError(
                "Tables of different terms cannot be merged: "
                f"{first.filter}, {first.text} and {table.filter}, {table.text}.",
                hint="build them with the same --filter and text options.",
            )
        if table.min_count > 1:
            raise SignatureError(
                f"A table without its terms of fewer than {table.min_count} documents cannot be "
                "merged: a term that is rare in each part may be common in all of them.",
                hint="build the parts without --min-count, and give it when they are merged.",
            )
        names = Ragged.of_strings(table.terms)
        counts.add_counted(names.values, names.offsets, table.counts)
    return _table(counts, sum(t.documents for t in tables), first.filter, first.text)


def _table(counts: _native.TermCounts, documents: int, filter_: str, text: Text) -> IdfTable:
    values, offsets, each = counts.sorted()
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(values)]
    terms = pa.Array.from_buffers(pa.large_string(), len(each), buffers)
    return IdfTable(terms, each, documents, filter_, text)


@functools.cache
def general_words() -> IdfTable:
    """The table of words, with default text options, that comes with the package
    (``tools/general_tables``)."""
    with shipped("general-words.arrow") as file:
        return load_idf(file)


@functools.lru_cache(maxsize=8)
def general_terms(filter_: str, text: Text) -> IdfTable:
    """The general words under different options, each read as a text of its own. Words that become
    the same term are added up; terms of several words are unknown."""
    table = general_words()
    if (table.filter, table.text) == (filter_, text):
        return table
    counts = _native.TermCounts()
    distinct, firsts = np.unique(table.counts, return_index=True)
    for count, first, last in zip(distinct, firsts, [*firsts[1:], len(table)], strict=True):
        names = Ragged.of_strings(table.terms[first:last])
        part = _native.TermCounts()
        part.add(names.values, names.offsets, text.native(), FILTERS.index(filter_))
        values, offsets, each = part.sorted()
        counts.add_counted(values, offsets, each * count)
    summed = _table(counts, table.documents, filter_, text)
    limited = np.minimum(summed.counts, np.uint32(table.documents))
    return replace(summed, counts=limited, min_count=table.min_count)


@dataclass(frozen=True)
class IdfNeed:
    """``file`` is None to count the input, or "general" for the table of the package."""

    file: str | None
    filter: str
    text: Text
    name: str = "idf"
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.filter not in FILTERS:
            raise SettingsError(
                f"terms are {self.filter!r}; expected {', '.join(map(repr, FILTERS))}.",
                hint="alpha: three letters or more; alnum+: also at&t, e-mail; words: all.",
            )
        if self.text.stem is not None or self.text.stop_words:
            raise SettingsError(
                "Terms of an idf table are neither stemmed nor left out by a list.",
                hint="leave text.stem and text.stop_words out; stop words have a low idf.",
            )

    def general(self) -> IdfTable:
        return general_terms(self.filter, self.text)

    def load(self, path: Path) -> IdfTable:
        if str(path) == GENERAL:
            return self.general()
        table = load_idf(path)
        if (table.filter, table.text) != (self.filter, self.text):
            raise SignatureError(
                f"The idf table {path} has terms {table.filter!r} of {table.text}; the method asks "
                f"for {self.filter!r} of {self.text}.",
                hint="give the method the options of the table, or build another table.",
            )
        if not table.documents or not len(table):
            raise InputError(
                f"The idf table {path} is empty.", hint="build it from a collection of documents."
            )
        return table

    def counter(self) -> IdfCounter:
        return IdfCounter(self.filter, self.text)
