"""Ids that occur in more than one file: their documents are named ``file:id``.

An id must be unique only within its file. Files that all number their documents from 0 are common,
so an id that several files have is prefixed with the file, in the shortest form that is
unambiguous: its name, or if several files have that name, its path from their common folder. All
other ids stay as they are. A document without an id is named ``file:row``; if another document of
the file has that as its id, the document without one gets a name with more colons.
"""

from __future__ import annotations

import itertools
import os
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.classes import dataclass
from neardup.documents.columns import Chunk, DocumentBatch, Rejected
from neardup.schema import Ragged

Digests = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]


def digests_of(ids: pa.Array) -> Digests:
    rows = Ragged.of_strings(ids)
    return np.asarray(_native.bytes_digests(rows.values, rows.offsets, 0))


@dataclass(eq=False)
class Ledger:
    """The ids of documents in the order of reading, one file after the other. ``unnamed`` has the
    rows, by file, of documents without an id whose name is the id of another document."""

    unnamed: dict[str, set[int]] = field(default_factory=dict)
    clashed: bool = False
    _all: _native.IdSet = field(default_factory=_native.IdSet)
    _again: _native.IdSet = field(default_factory=_native.IdSet)  # also in an earlier file
    _file: str | None = None
    _begin: int = 0
    _count: int = 0
    _places: list[Numbers] = field(default_factory=list)
    # The first number, the file, the rows.
    _batches: list[tuple[int, str, Numbers | range]] = field(default_factory=list)
    # The document with the id that another was named by.
    _owners: dict[int, int] = field(default_factory=dict)

    def add(self, records: pa.RecordBatch, file: str) -> Numbers:
        """For each document, −1 or the number of the document of the same file that has the id
        already; documents are numbered from 0 as they are added."""
        if file != self._file:
            self._file, self._begin = file, self._count
            self._again, self._places = _native.IdSet(), []
        ids = records.column("id")
        digests = digests_of(ids)
        self._batches.append((self._count, file, _short(records.column("row").to_numpy())))
        first = np.array(self._all.add(digests), np.int64)
        elsewhere = np.flatnonzero((first >= 0) & (first < self._begin))
        if len(elsewhere):
            self.clashed = True
            self._places.append(self._count + elsewhere)
            known = np.asarray(self._again.add(digests[elsewhere]), np.int64)
            places = np.concatenate(self._places) if (known >= 0).any() else elsewhere
            first[elsewhere] = np.where(known < 0, -1, places[np.maximum(known, 0)])
        for i in np.flatnonzero(first >= 0).tolist():
            first[i] = self._owner(ids[i].as_py(), self._count + i, int(first[i]))
        self._count += len(digests)
        return first

    def place(self, number: int) -> tuple[str, int]:
        """The file and the row of a document."""
        begin, file, rows = self._batches[
            bisect_right(self._batches, number, key=itemgetter(0)) - 1
        ]
        return file, int(rows[number - begin])

    def _owner(self, id: str, number: int, first: int) -> int:
        """The earlier document that has the id, or −1 if only one of the two was given it."""
        for unnamed, owner in ((number, first), (first, number)):
            file, row = self.place(unnamed)
            if id == f"{file}:{row}" and unnamed not in self._owners:
                self._owners[unnamed] = owner
                self.unnamed.setdefault(file, set()).add(row)
                self.clashed = True
                return -1
        return self._owners.get(first, first)


def _short(rows: Numbers) -> Numbers | range:
    """The rows; those that follow each other, as they mostly do, take no memory."""
    run = range(int(rows[0]), int(rows[-1]) + 1) if len(rows) else range(0)
    return run if len(run) == len(rows) else rows


class Shared(NamedTuple):
    """The number of ids that several files have, the number of documents with such an id, and an
    example of a new name; ``unnamed`` documents have no id, and file:row is the id of another."""

    ids: int
    documents: int
    example: str
    unnamed: int = 0

    def sentence(self) -> str:
        sentences = []
        if self.ids:
            occur = "1 id occurs" if self.ids == 1 else f"{self.ids:,} ids occur"
            sentences.append(
                f"{occur} in more than one file; the {self.documents:,} documents with such an id "
                f"are named file:id, e.g. {self.example}."
            )
        if self.unnamed:
            have = "1 document has" if self.unnamed == 1 else f"{self.unnamed:,} documents have"
            example = "" if self.ids else f", e.g. {self.example}"
            sentences.append(
                f"{have} no id, and another document has file:row as its id; the name got more "
                f"colons{example}."
            )
        return " ".join(sentences)


class Naming(Protocol):
    """Names of documents that replace those in their files."""

    def names(self, records: pa.RecordBatch, file: str) -> pa.Array: ...

    def renamed(self, rejected: Sequence[Rejected]) -> list[Rejected]: ...


@dataclass(frozen=True)
class Clashes:
    """The ids that several files have, as sorted digests; ``labels`` name the files. ``sign``
    separates both; it is a longer run of colons if one colon would give the name of a different
    document."""

    digests: Digests
    labels: Mapping[str, str]
    sign: str = ":"
    unnamed: Mapping[str, set[int]] = field(default_factory=dict)

    def name(self, id: str, file: str) -> str:
        return f"{self.labels[file]}{self.sign}{id}"

    def names(self, records: pa.RecordBatch, file: str) -> pa.Array:
        ids, rows = records.column("id"), records.column("row")
        unnamed = np.isin(rows.to_numpy(), list(self.unnamed.get(file, ())))
        among = self._among(ids) & ~unnamed
        ids = told_apart(ids, among, pa.scalar(self.labels[file]), self.sign)
        return _named_by_place(ids, unnamed, pa.scalar(file), rows, self.sign)

    def renamed(self, rejected: Sequence[Rejected]) -> list[Rejected]:
        among = self._among(
            pa.array([document.id or "" for document in rejected], pa.large_string())
        )
        return [
            replace(document, id=self.name(document.id, document.file))
            if clashes and document.id is not None
            else document
            for document, clashes in zip(rejected, among.tolist(), strict=True)
        ]

    def _among(self, ids: pa.Array) -> npt.NDArray[np.bool_]:
        return np.isin(digests_of(ids), self.digests)


def told_apart(
    ids: pa.Array, chosen: npt.NDArray[np.bool_], labels: pa.Array | pa.Scalar, sign: str
) -> pa.Array:
    import pyarrow.compute as pc

    if not chosen.any():
        return ids
    long = pa.large_string()
    named = pc.binary_join_element_wise(labels.cast(long), ids, pa.scalar(sign, long))
    return pc.if_else(pa.array(chosen), named, ids)


def _named_by_place(
    ids: pa.Array, chosen: npt.NDArray[np.bool_], file: Any, rows: pa.Array, sign: str
) -> pa.Array:
    """Twice the sign: so no id that begins with colons makes the two forms equal for every sign."""
    import pyarrow.compute as pc

    if not chosen.any():
        return ids
    named = told_apart(rows.cast(pa.large_string()), chosen, file, 2 * sign)
    return pc.if_else(pa.array(chosen), named, ids)


class Names(NamedTuple):
    """The names of all documents."""

    ids: pa.Array
    clashes: Clashes
    shared: Shared


def tell_apart(
    ids: pa.Array,
    file: npt.NDArray[np.int32],
    files: Sequence[str],
    others: Sequence[str] = (),
    rows: npt.NDArray[np.int64] | None = None,
    unnamed: Mapping[str, set[int]] | None = None,
) -> Names | None:
    """The names of documents in numbered files, each with an id that is unique in its file, but for
    the ``unnamed`` ones at some ``rows``; None if all ids are unique already. ``others`` are files
    of which nothing was read; they have labels too, so that labels do not depend on where reading
    ended."""
    numbers = np.zeros(len(ids), np.int64) if rows is None else rows
    by_place = np.zeros(len(ids), bool)
    for name, some in (unnamed or {}).items():
        by_place |= (file == files.index(name)) & np.isin(numbers, list(some))
    digests = digests_of(ids)
    values, inverse, counts = np.unique(digests, return_inverse=True, return_counts=True)
    counts -= np.bincount(inverse.reshape(-1), by_place, len(values)).astype(np.int64)
    clashing = counts > 1
    chosen = clashing[inverse.reshape(-1)] & ~by_place
    if not (chosen | by_place).any():
        return None
    labels = labels_of([*dict.fromkeys([*others, *files])])
    of_document = pa.array([labels[name] for name in files], pa.large_string()).take(pa.array(file))
    places = pa.array(files, pa.large_string()).take(pa.array(file))

    def named(sign: str) -> pa.Array:
        apart = told_apart(ids, chosen, of_document, sign)
        return _named_by_place(apart, by_place, places, pa.array(numbers), sign)

    sign = ":"
    while not _unique(names := named(sign)):
        sign += ":"
    example = names[int(np.argmax(chosen if chosen.any() else by_place))].as_py()
    shared = Shared(int(clashing.sum()), int(chosen.sum()), example, int(by_place.sum()))
    return Names(names, Clashes(values[clashing], labels, sign, unnamed or {}), shared)


def _unique(ids: pa.Array) -> bool:
    digests = digests_of(ids)
    return len(np.unique(digests)) == len(digests)


def labels_of(files: Sequence[str]) -> dict[str, str]:
    """The shortest form of each file's name that no other file has."""
    alike: dict[str, list[str]] = {}
    for file in files:
        alike.setdefault(_parts(file)[-1], []).append(file)
    labels: dict[str, str] = {}
    for name, some in alike.items():
        labels |= {some[0]: name} if len(some) == 1 else _from_common_folder(some)
    return labels


def _from_common_folder(files: Sequence[str]) -> dict[str, str]:
    folders = [_parts(file) for file in files]
    columns = zip(*(folder[:-1] for folder in folders), strict=False)
    common = sum(1 for _ in itertools.takewhile(lambda parts: len(set(parts)) == 1, columns))
    return {f: "/".join(p[common:]) for f, p in zip(files, folders, strict=True)}


def _parts(file: str) -> list[str]:
    """The parts of a path in normal form; addresses of stores stay as they are."""
    path = file if "://" in file else os.path.abspath(file).replace(os.sep, "/")
    return path.split("/")


@dataclass(frozen=True)
class NamedApart:
    """A chunk whose documents have different names than in their file."""

    chunk: Chunk
    naming: Naming

    def read(self) -> DocumentBatch:
        batch = self.chunk.read()
        records, at = batch.records, batch.records.schema.get_field_index("id")
        names = self.naming.names(records, batch.file)
        records = records.set_column(at, records.schema.field(at), names)
        return replace(batch, records=records, rejected=self.naming.renamed(batch.rejected))


@dataclass
class Book:
    """The ids of the documents of some files, in order, up to a limit."""

    inputs: Sequence[str] = ()
    limit: int | None = None
    ids: list[pa.Array] = field(default_factory=list)
    rows: list[pa.Array] = field(default_factory=list)
    numbers: list[npt.NDArray[np.int32]] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)
    _ledger: Ledger = field(default_factory=Ledger)
    _total: int = 0

    def add(self, batch: DocumentBatch) -> npt.NDArray[np.bool_]:
        """Which of the documents before the limit have an id that is new in their file."""
        records = batch.records.select(["row", "id"])
        if self.limit is not None:
            records = records.slice(0, int((self._total + batch.positions() < self.limit).sum()))
        self._total += len(batch)
        fresh: npt.NDArray[np.bool_] = self._ledger.add(records, batch.file) < 0
        records = records if fresh.all() else records.filter(pa.array(fresh))
        number = self.files.setdefault(batch.file, len(self.files))
        self.ids.append(records.column("id"))
        self.rows.append(records.column("row"))
        self.numbers.append(np.full(len(records), number, np.int32))
        return fresh

    @property
    def full(self) -> bool:
        return self.limit is not None and self._total >= self.limit

    def names(self) -> Names | None:
        if not self._ledger.clashed:
            return None
        ids, numbers = pa.concat_arrays(self.ids), np.concatenate(self.numbers)
        rows = pa.concat_arrays(self.rows).to_numpy()
        unnamed = self._ledger.unnamed
        return tell_apart(ids, numbers, [*self.files], self.inputs, rows, unnamed)
