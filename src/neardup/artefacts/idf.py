"""idf tables: in how many documents of a collection each term occurs (Conrad et al., §5, §6.2).

Terms are never stemmed. They stand in the order of their rank: rarest first, equally rare ones by
code point, so that a rank is a name of the term and an order at once. A frozen table has a digest
of everything that matters, and refuses to be used with other options than it was made with.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.errors import InputError, SettingsError, SignatureError
from neardup.features.terms import DocumentTerms, document_terms
from neardup.schema import Ragged
from neardup.text.options import Text

FORMAT = 1
FILTERS = ("words", "alpha", "alnum+")
_DESCRIPTION = b"neardup idf"


@dataclass(frozen=True, eq=False)
class IdfTable:
    """``counts[rank]`` of ``documents`` documents hold ``terms[rank]``."""

    terms: pa.LargeStringArray
    counts: npt.NDArray[np.uint32]
    documents: int
    filter: str
    text: Text

    kind: ClassVar[str] = "idf"

    def __len__(self) -> int:
        return len(self.counts)

    @functools.cached_property
    def digest(self) -> str:
        names = Ragged.of_strings(self.terms)
        digest = hashlib.sha256(json.dumps(self._options(), sort_keys=True).encode())
        for part in (names.offsets - names.offsets[:1], self.counts):
            digest.update(np.ascontiguousarray(part).data)
        digest.update(names.values[names.offsets[0] : names.offsets[-1]].data)
        return digest.hexdigest()[:32]

    def _options(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "documents": self.documents,
            "filter": self.filter,
            "text": asdict(self.text),
        }

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, **self._options(), "terms": len(self), "digest": self.digest}

    @functools.cached_property
    def idf(self) -> npt.NDArray[np.float64]:
        """Normalised, by rank: log((N + .5) / n) / log(N + 1)."""
        distinct, where = np.unique(self.counts, return_inverse=True)
        values = [normalised_idf(int(n), self.documents) for n in distinct]
        return np.array(values, np.float64)[where.reshape(-1)]

    @functools.cached_property
    def feature_counts(self) -> npt.NDArray[np.uint32]:
        """Numbers of documents by the low bits of a term's feature (the upper half of its hash): a
        frozen order for prefix filters. Terms that fall together are counted together."""
        names = Ragged.of_strings(self.terms)
        slots = 1 << min(max(len(self).bit_length() + 1, 8), 22)
        at = (_native.hash_words(names.values, names.offsets) >> np.uint64(32)) % np.uint64(slots)
        counts = np.bincount(at.astype(np.int64), weights=self.counts, minlength=slots)
        return np.minimum(counts, 0xFFFFFFFF).astype(np.uint32)

    @functools.cached_property
    def lookup(self) -> _native.TermTable:
        names = Ragged.of_strings(self.terms)
        return _native.TermTable(names.values, names.offsets)

    def ranks(self, *, min_count: int = 1, idf_min: float = 0.0, idf_max: float = 1.0) -> range:
        """The ranks of terms in ``min_count`` documents or more with an idf within the limits."""
        first = int(np.searchsorted(self.counts, min_count))
        falling = -self.idf
        low = max(first, int(np.searchsorted(falling, -idf_max)))
        return range(low, max(low, int(np.searchsorted(falling, -idf_min, side="right"))))

    def terms_of(self, texts: pa.LargeStringArray, ranks: range | None = None) -> DocumentTerms:
        """The distinct terms of each text that the table knows, rarest first."""
        wanted = range(len(self)) if ranks is None else ranks
        filter_ = FILTERS.index(self.filter)
        return document_terms(texts, self.text.native(), filter_, self.lookup, wanted)

    def save(self, path: Path) -> None:
        described = json.dumps({**self._options(), "digest": self.digest}).encode()
        schema = pa.schema(
            [("term", pa.large_string()), ("documents", pa.uint32())],
            metadata={_DESCRIPTION: described},
        )
        table = pa.table([self.terms, pa.array(self.counts)], schema=schema)
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            writer.write_table(table)


def normalised_idf(n: int, documents: int) -> float:
    """1 at most; below 0 only for a term of every document of a tiny collection, which gives 0."""
    if documents < 1:
        return 0.0
    return min(max(math.log((documents + 0.5) / n) / math.log(documents + 1), 0.0), 1.0)


def load_idf(path: Path) -> IdfTable:
    """A table as :meth:`IdfTable.save` wrote it, its digest checked."""
    try:
        with pa.OSFile(str(path), "rb") as source:
            table = pa.ipc.open_file(source).read_all()
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or "it is no Arrow file"
        raise InputError(
            f"The idf table {path} cannot be read: {reason}.",
            hint="make one with `neardup idf build DOCUMENTS -o TABLE`.",
        ) from error
    said = json.loads((table.schema.metadata or {}).get(_DESCRIPTION, b"{}"))
    if said.get("format") != FORMAT:
        raise InputError(
            f"{path} is no idf table of format {FORMAT}; got {said.get('format')!r}.",
            hint="make one with `neardup idf build DOCUMENTS -o TABLE`.",
        )
    options = said["text"]
    made = IdfTable(
        table["term"].combine_chunks(),
        table["documents"].to_numpy().astype(np.uint32),
        said["documents"],
        said["filter"],
        Text(**{**options, "stop_words": tuple(options["stop_words"])}),
    )
    if made.digest != said["digest"]:
        raise SignatureError(
            f"The idf table {path} is not what it was when it was saved: its digest is "
            f"{made.digest}, expected {said['digest']}.",
            hint="restore the file, or build the table again.",
        )
    return made


class IdfCounter:
    """Counts terms by document; ``finish`` gives the table."""

    def __init__(self, filter_: str, text: Text) -> None:
        self._filter, self._text = filter_, text
        self._counts = _native.TermCounts()

    def count(self, batch: pa.RecordBatch) -> _native.TermCounts:
        part = _native.TermCounts()
        texts = Ragged.of_strings(batch.column("text"))
        filter_ = FILTERS.index(self._filter)
        part.add(texts.values, texts.offsets, self._text.native(), filter_)
        return part

    def add(self, part: _native.TermCounts) -> None:
        self._counts.merge(part)

    def finish(self) -> IdfTable:
        return _table(self._counts, self._counts.documents, self._filter, self._text)


def merge_idf(tables: Sequence[IdfTable]) -> IdfTable:
    """A meta-collection: numbers of documents are added, for each term and in all."""
    first = tables[0]
    counts = _native.TermCounts()
    for table in tables:
        if (table.filter, table.text) != (first.filter, first.text):
            raise SignatureError(
                "Tables of unlike terms cannot be merged: "
                f"{first.filter}, {first.text} and {table.filter}, {table.text}.",
                hint="build them with the same --filter and text options.",
            )
        names = Ragged.of_strings(table.terms)
        counts.add_counted(names.values, names.offsets, table.counts)
    return _table(counts, sum(t.documents for t in tables), first.filter, first.text)


def _table(counts: _native.TermCounts, documents: int, filter_: str, text: Text) -> IdfTable:
    values, offsets, each = counts.sorted()
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(values)]
    terms = pa.Array.from_buffers(pa.large_string(), len(each), buffers)
    return IdfTable(terms, each, documents, filter_, text)


@dataclass(frozen=True)
class IdfNeed:
    """``file=None``: counted from the input."""

    file: str | None
    filter: str
    text: Text
    name: str = "idf"
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.filter not in FILTERS:
            raise SettingsError(
                f"terms are {self.filter!r}; expected {', '.join(map(repr, FILTERS))}."
            )
        if self.text.stem is not None or self.text.stop_words:
            raise SettingsError(
                "Terms of an idf table are neither stemmed nor left out by a list.",
                hint="leave text.stem and text.stop_words out; a low idf tells stop words.",
            )

    def load(self, path: Path) -> IdfTable:
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
