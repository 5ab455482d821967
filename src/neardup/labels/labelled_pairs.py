"""Gold as labelled pairs: rows of two ids and a label, of which some are positive or negative.

Labelled pairs as users have them: JSON Lines, CSV, TSV, Parquet or Arrow files, or rows.

Each has a column for either document and, unless every row is a duplicate, one for the label.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather as feather
import pyarrow.parquet as pq

from neardup.decisions.clusters import components
from neardup.documents.columns import unknown_column
from neardup.documents.streams import CODECS, open_binary, unreadable
from neardup.errors import InputError
from neardup.labels.gold import NEGATIVE, POSITIVE, UNKNOWN, Classes, Gold, Unused, is_hard, joint
from neardup.schema import Array

POSITIVE_LABELS = ("true", "1", "duplicate", "yes")
NEGATIVE_LABELS = ("false", "0", "not", "no")
SHOWN_IDS = 3


@dataclass
class PairGold(Gold):
    """Labelled pairs: ``keys`` (a · documents + b, sorted) with their classes and label numbers."""

    count: int
    keys: Array
    found: Classes
    label: Array
    labelled: list[str]
    complete: bool = False
    same: Array | None = None
    unused: Unused = field(default_factory=Unused)

    @property
    def documents(self) -> int:
        return self.count

    @property
    def names(self) -> list[str]:
        return self.labelled

    def _rows(self, a: Array, b: Array) -> tuple[Array, Array]:
        """Where each pair is among the labelled ones, and whether it is there at all."""
        wanted = np.minimum(a, b) * self.documents + np.maximum(a, b)
        if not len(self.keys):
            return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
        row = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return row, self.keys[row] == wanted

    def classes(self, a: Array, b: Array) -> Classes:
        row, there = self._rows(a, b)
        unlisted = is_hard(self, a, b) if self.complete else np.zeros(len(a), bool)
        found = np.where(unlisted, NEGATIVE, UNKNOWN).astype(np.int8)
        found[there] = self.found[row[there]]
        return found

    def label_codes(self, a: Array, b: Array) -> Array:
        row, there = self._rows(a, b)
        codes = np.full(len(a), -1, np.int64)
        codes[there] = self.label[row[there]]
        return codes

    def listed(self) -> tuple[Array, Array]:
        """All labelled pairs."""
        return self.keys // max(self.documents, 1), self.keys % max(self.documents, 1)

    def positives(self, limit: int | None = None) -> tuple[Array, Array]:
        a, b = self.listed()
        rows = np.flatnonzero(self.found == POSITIVE)
        if limit is not None and len(rows) > limit:
            rows = np.sort(np.random.default_rng(0).choice(rows, limit, replace=False))
        return a[rows], b[rows]

    def negatives_known(self) -> bool:
        return self.complete or bool((self.found == NEGATIVE).any())

    def positive_count(self, *, hard: bool = False) -> int:
        a, b = self.positives()
        return int(is_hard(self, a, b).sum()) if hard else len(a)

    def label_counts(self) -> dict[str, int]:
        counts = np.bincount(self.label, minlength=len(self.names)).tolist()
        return dict(zip(self.names, counts, strict=True))

    def clusters(self) -> Array | None:
        return self.units() if self.complete else None

    def units(self) -> Array:
        codes = components(self.documents, *self.positives())
        alone = self.documents + np.arange(self.documents)
        return joint(np.where(codes < 0, alone, codes))

    def unit_positives(self, *, hard: bool = False) -> Array:
        a, b = self.positives()
        units = self.units()
        counted = is_hard(self, a, b) if hard else np.ones(len(a), bool)
        return np.bincount(units[a[counted]], minlength=int(units.max(initial=-1)) + 1)


def from_pairs(
    rows: pa.Table | Iterable[Mapping[str, Any]],
    ids: pa.Array | Sequence[str],
    *,
    positive: Sequence[str] = POSITIVE_LABELS,
    negative: Sequence[str] = NEGATIVE_LABELS,
    complete: bool = False,
    same: Array | None = None,
) -> PairGold:
    """``rows`` have ``a``, ``b`` (ids) and ``label``; ``ids`` are those of all documents in order,
    None for rejected ones. Labels are compared in lower case; one that is neither positive nor
    negative makes its pair unknown."""
    table = rows if isinstance(rows, pa.Table) else _table(rows)
    known = ids if isinstance(ids, pa.Array) else pa.array(ids, pa.large_string())
    unused = Unused()
    there = _numbered(table, known, unused)
    label, names = _label_codes(table["label"], there.usable)
    meaning = _meanings(names, positive, negative)
    return _paired(there, label, names, meaning, len(known), complete, same, unused)


@dataclass(frozen=True)
class _Numbered:
    a: Array
    b: Array
    usable: Array  # rows of the table


def _table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    listed = list(rows)
    columns = {
        name: pa.array([as_label(row.get(name)) for row in listed], pa.large_string())
        for name in ("a", "b", "label")
    }
    return pa.table(columns)


def as_label(value: Any) -> str | None:
    """As JSON writes it, so that true, 1 and "1" are labels alike wherever they come from."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return None if value is None else str(value)


def _numbered(table: pa.Table, ids: pa.Array, unused: Unused) -> _Numbered:
    names = ids.cast(pa.large_string())
    sides = []
    for name in ("a", "b"):
        column = table[name].cast(pa.large_string())
        # A missing id would be found among the rejected documents, which have none either.
        found = pc.if_else(pc.is_valid(column), pc.index_in(column, names), None)
        number = np.asarray(found.combine_chunks().fill_null(-1)).astype(np.int64)
        lost = column.filter(pa.array(number < 0)).unique()
        unused.examples += [str(one) for one in lost.slice(0, SHOWN_IDS).to_pylist()]
        sides.append(number)
    unused.examples = list(dict.fromkeys(unused.examples))[:SHOWN_IDS]
    a, b = np.minimum(*sides), np.maximum(*sides)
    unused.unknown_ids = int((a < 0).sum())
    unused.with_itself = int(((a == b) & (a >= 0)).sum())
    usable = np.flatnonzero((a >= 0) & (a != b))
    return _Numbered(a[usable], b[usable], usable)


def _label_codes(column: pa.ChunkedArray, usable: Array) -> tuple[Array, list[str]]:
    written = column.take(pa.array(usable)).combine_chunks().cast(pa.large_string())
    encoded = pc.dictionary_encode(written.fill_null(""))
    names: list[str] = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.argsort(np.array(order, np.int64))
    return place[np.asarray(encoded.indices)], [names[i] for i in order]


def _meanings(names: Sequence[str], positive: Sequence[str], negative: Sequence[str]) -> Classes:
    yes, no = ({str(one).strip().lower() for one in some} for some in (positive, negative))
    plain_names = [name.strip().lower() for name in names]
    found = [POSITIVE if n in yes else NEGATIVE if n in no else UNKNOWN for n in plain_names]
    return np.array(found, np.int8)


def _paired(
    rows: _Numbered,
    label: Array,
    names: list[str],
    meaning: Classes,
    documents: int,
    complete: bool,
    same: Array | None,
    unused: Unused,
) -> PairGold:
    keys, first, place = np.unique(
        rows.a * documents + rows.b, return_index=True, return_inverse=True
    )
    meant = meaning[label] if len(label) else np.empty(0, np.int8)
    votes = {
        one: np.bincount(place[meant == one], minlength=len(keys)) > 0
        for one in (POSITIVE, NEGATIVE)
    }
    found = np.full(len(keys), UNKNOWN, np.int8)
    for one, voted in votes.items():
        found[voted] = one
    both = votes[POSITIVE] & votes[NEGATIVE]
    found[both] = UNKNOWN
    unused.contradicting = int(both.sum())
    counts = np.bincount(label[meant == UNKNOWN], minlength=len(names)).tolist()
    unused.other_labels = {n: c for n, c in zip(names, counts, strict=True) if c}
    # The name that a pair is called by is one that decided its class.
    decided = np.flatnonzero(meant == found[place])
    named = label[first]
    named[place[decided[::-1]]] = label[decided[::-1]]
    return PairGold(documents, keys, found, named, names, complete, same, unused)


FORMS = {
    ".jsonl": "lines",
    ".ndjson": "lines",
    ".csv": ",",
    ".tsv": "\t",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
ALL_POSITIVE = "duplicate"  # of a file without labels: a list of duplicates


class PairColumns(NamedTuple):
    """``label`` may be missing in a file unless the user named it."""

    a: str = "a"
    b: str = "b"
    label: str = "label"
    label_named: bool = False


def read_pairs(given: Any, columns: PairColumns | None = None) -> pa.Table:
    """Columns a, b and label, all strings; ``given`` is a path, several, rows or a table."""
    columns = columns or PairColumns()
    if isinstance(given, str | Path):
        given = [given]
    if hasattr(given, "__arrow_c_stream__") or isinstance(given, pa.Table):
        return _named(pa.table(given).to_pylist(), pa.table(given).column_names, columns, "pairs")
    listed = list(given)
    if listed and all(isinstance(one, str | Path) for one in listed):
        return pa.concat_tables([_read(Path(one), columns) for one in listed])
    if not all(isinstance(one, Mapping) for one in listed):
        raise InputError(
            "The labelled pairs are neither files nor rows.",
            hint="give paths, or dicts such as {'a': 'x', 'b': 'y', 'label': True}.",
        )
    return _named(listed, _keys(listed), columns, "pairs")


def _read(path: Path, columns: PairColumns) -> pa.Table:
    codec = CODECS.get(path.suffix.lower())
    form = FORMS.get((path.with_suffix("") if codec else path).suffix.lower())
    if form is None:
        raise InputError(
            f"{path} has no format that labelled pairs are read from.",
            hint=f"its name should end with {', '.join(FORMS)}; lines also with .gz or .zst.",
        )
    try:
        if form in ("parquet", "arrow"):
            read = pq.read_table if form == "parquet" else feather.read_table
            table: pa.Table = read(path)
            return _named(table.to_pylist(), table.column_names, columns, str(path))
        with open_binary(path, codec) as stream:
            if form == "lines":
                rows = list(_json_rows(stream, path))
                return _named(rows, _keys(rows), columns, str(path))
            reader = csv.DictReader(
                io.TextIOWrapper(stream, "utf-8-sig", newline=""), delimiter=form
            )
            return _named(list(reader), list(reader.fieldnames or ()), columns, str(path))
    except (OSError, UnicodeDecodeError, csv.Error, pa.ArrowException) as error:
        raise unreadable(path, error) from error


def _json_rows(stream: Iterable[bytes], path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(stream, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise InputError(
                f"{path}, line {number} is no JSON object.",
                hint='expected lines such as {"a": "x", "b": "y", "label": true}.',
            )
        yield row


def _keys(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(str(key) for row in rows for key in row))


def _named(
    rows: Sequence[Mapping[str, Any]], there: Sequence[str], columns: PairColumns, file: str
) -> pa.Table:
    for name in (columns.a, columns.b, *([columns.label] if columns.label_named else [])):
        if rows and name not in there:
            raise unknown_column(name, there, file)
    made = {
        ours: pa.array([as_label(row.get(theirs)) for row in rows], pa.large_string())
        for ours, theirs in (("a", columns.a), ("b", columns.b))
    }
    if columns.label in there:
        labels = [as_label(row.get(columns.label)) for row in rows]
    else:
        labels = [ALL_POSITIVE] * len(rows)
    return pa.table({**made, "label": pa.array(labels, pa.large_string())})
