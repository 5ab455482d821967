"""Labelled pairs as gold, and how they are read.

A row has two ids and a label; the label makes the pair positive, negative or unknown. Rows come
from JSON Lines, CSV, TSV, Parquet or Arrow files, from Python, or from an Arrow table. A file has
one column for each document and, unless every row is a duplicate, one for the label.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather as feather
import pyarrow.parquet as pq

from neardup.decisions.clusters import components
from neardup.documents.columns import unknown_column
from neardup.documents.encodings import canonical, probable
from neardup.documents.file_formats import CODECS
from neardup.documents.streams import open_binary, unreadable
from neardup.errors import InputError, SettingsError
from neardup.files import from_json
from neardup.labels.gold import NEGATIVE, POSITIVE, UNKNOWN, Classes, Gold, Unused, is_hard, joint
from neardup.labels.label_store import DUPLICATE, NOT, SPELLINGS
from neardup.schema import Array

SHOWN_IDS = 3


@dataclass
class PairGold(Gold):
    """Labelled pairs as ``keys`` (a · documents + b, sorted), with their classes and label
    codes."""

    count: int
    keys: Array
    known: Classes
    label: Array
    labelled: list[str]
    complete: bool = False
    same: Array | None = None
    unused: Unused = field(default_factory=Unused)
    judged: bool = False  # people looked at returned pairs, so that all may be right

    @property
    def documents(self) -> int:
        return self.count

    @property
    def names(self) -> list[str]:
        return self.labelled

    def _rows(self, a: Array, b: Array) -> tuple[Array, Array]:
        """The index of each pair among the labelled ones, and whether it is labelled at all."""
        wanted = np.minimum(a, b) * self.documents + np.maximum(a, b)
        if not len(self.keys):
            return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
        row = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return row, self.keys[row] == wanted

    def classes(self, a: Array, b: Array) -> Classes:
        row, labelled = self._rows(a, b)
        unlisted = is_hard(self, a, b) if self.complete else np.zeros(len(a), bool)
        classes = np.where(unlisted, NEGATIVE, UNKNOWN).astype(np.int8)
        classes[labelled] = self.known[row[labelled]]
        return classes

    def label_codes(self, a: Array, b: Array) -> Array:
        row, labelled = self._rows(a, b)
        codes = np.full(len(a), -1, np.int64)
        codes[labelled] = self.label[row[labelled]]
        return codes

    def listed(self) -> tuple[Array, Array]:
        """All labelled pairs."""
        return self.keys // max(self.documents, 1), self.keys % max(self.documents, 1)

    def positives(self, limit: int | None = None) -> tuple[Array, Array]:
        a, b = self.listed()
        rows = np.flatnonzero(self.known == POSITIVE)
        if limit is not None and len(rows) > limit:
            rows = np.sort(np.random.default_rng(0).choice(rows, limit, replace=False))
        return a[rows], b[rows]

    def negatives_known(self) -> bool:
        return self.complete or self.judged or bool((self.known == NEGATIVE).any())

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
    positive: Sequence[str] | None = None,
    negative: Sequence[str] | None = None,
    complete: bool = False,
    same: Array | None = None,
) -> PairGold:
    """Gold from ``rows`` with the columns ``a``, ``b`` (ids) and ``label``. ``ids`` are those of
    all documents in order, None for rejected ones. Labels are compared in lower case; a label that
    is neither positive nor negative makes its pair unknown."""
    table = rows if isinstance(rows, pa.Table) else _table(rows)
    known = ids if isinstance(ids, pa.Array) else pa.array(ids, pa.large_string())
    unused = Unused()
    rows_used = _numbered(table, known, unused)
    label, names = _label_codes(table["label"], rows_used.usable)
    meanings = label_meanings(positive, negative)
    meaning = np.array([meanings.get(plain_label(name), UNKNOWN) for name in names], np.int8)
    gold = _paired(rows_used, label, names, meaning, len(known), complete, same, unused)
    return replace(gold, judged=ASSESSOR in table.column_names)


@dataclass(frozen=True)
class _Numbered:
    """Document numbers of the rows that can be used; ``usable`` are the indices of these rows."""

    a: Array
    b: Array
    usable: Array


def _table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    entries = list(rows)
    columns = {
        name: pa.array([as_label(row.get(name)) for row in entries], pa.large_string())
        for name in ("a", "b", "label")
    }
    return pa.table(columns)


def as_label(value: Any) -> str | None:
    """The value as JSON writes it, so that true, 1 and "1" are the same label in every format."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return None if value is None else str(value)


def plain_label(label: object) -> str:
    return str(label).strip().lower()


def label_meanings(
    positive: Sequence[str] | None = None, negative: Sequence[str] | None = None
) -> dict[str, int]:
    """``POSITIVE`` or ``NEGATIVE`` for each label in lower case; None means the default labels."""
    yes = {plain_label(label) for label in positive or _spelt(DUPLICATE)}
    no = {plain_label(label) for label in negative or _spelt(NOT)}
    if both := yes & no:
        raise SettingsError(
            f"The label {min(both)!r} is both positive and negative.",
            hint="name it once, with --positive or with --negative.",
        )
    return dict.fromkeys(yes, POSITIVE) | dict.fromkeys(no, NEGATIVE)


def _spelt(label: str) -> list[str]:
    return [spelling for spelling, means in SPELLINGS.items() if means == label]


def _numbered(table: pa.Table, ids: pa.Array, unused: Unused) -> _Numbered:
    names = ids.cast(pa.large_string())
    sides = []
    for name in ("a", "b"):
        column = table[name].cast(pa.large_string())
        # A missing id would match the rejected documents, whose id is None.
        place = pc.if_else(pc.is_valid(column), pc.index_in(column, names), None)
        number = np.asarray(place.combine_chunks().fill_null(-1)).astype(np.int64)
        unknown = column.filter(pa.array(number < 0)).unique()
        unused.examples += [str(name) for name in unknown.slice(0, SHOWN_IDS).to_pylist()]
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
        meant_class: np.bincount(place[meant == meant_class], minlength=len(keys)) > 0
        for meant_class in (POSITIVE, NEGATIVE)
    }
    classes = np.full(len(keys), UNKNOWN, np.int8)
    for meant_class, voted in votes.items():
        classes[voted] = meant_class
    both = votes[POSITIVE] & votes[NEGATIVE]
    classes[both] = UNKNOWN
    unused.contradicting = int(both.sum())
    counts = np.bincount(label[meant == UNKNOWN], minlength=len(names)).tolist()
    unused.other_labels = {n: c for n, c in zip(names, counts, strict=True) if c}
    # A pair with several labels is shown with one that decided its class.
    decided = np.flatnonzero(meant == classes[place])
    named = label[first]
    named[place[decided[::-1]]] = label[decided[::-1]]
    return PairGold(documents, keys, classes, named, names, complete, same, unused)


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
ASSESSOR = "assessor"  # a column of labels that people gave (``labels/label_store.py``)
ALL_POSITIVE = "duplicate"  # the label of every row in a file without a label column


class PairColumns(NamedTuple):
    """Names of the columns. A file may lack the ``label`` column unless the user named it."""

    a: str = "a"
    b: str = "b"
    label: str = "label"
    label_named: bool = False


def pair_columns(names: Sequence[str]) -> PairColumns:
    if len(names) not in (2, 3):
        raise SettingsError(
            f"columns are {list(names)}; expected those of a, b and the label.",
            hint="such as a,b,label.",
        )
    a, b, *label = names
    if not label:
        return PairColumns(a, b)
    return PairColumns(a, b, label[0], label_named=label != ["label"])


def read_pairs(
    pairs: Any, columns: PairColumns | None = None, encoding: str | None = None
) -> pa.Table:
    """A table with the string columns a, b and label, from paths, rows or a table. ``encoding`` is
    that of CSV and TSV files."""
    columns = columns or PairColumns()
    if isinstance(pairs, str | Path):
        pairs = [pairs]
    if hasattr(pairs, "__arrow_c_stream__") or isinstance(pairs, pa.Table):
        return _named(pa.table(pairs).to_pylist(), pa.table(pairs).column_names, columns, "pairs")
    entries = list(pairs)
    if entries and all(isinstance(entry, str | Path) for entry in entries):
        tables = [_read(Path(entry), columns, encoding) for entry in entries]
        shared = set.intersection(*({*table.column_names} for table in tables))
        return pa.concat_tables(
            table.select([name for name in table.column_names if name in shared])
            for table in tables
        )
    if not all(isinstance(entry, Mapping) for entry in entries):
        raise InputError(
            "The labelled pairs are neither files nor rows.",
            hint="give paths, or dicts such as {'a': 'x', 'b': 'y', 'label': True}.",
        )
    return _named(entries, _keys(entries), columns, "pairs")


def _read(path: Path, columns: PairColumns, encoding: str | None) -> pa.Table:
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
            text = _text(stream.read(), path, encoding)
            head, _, _ = text.partition("\n")
            if form == "," and head.count(";") > head.count(","):  # as spreadsheets write it
                form = ";"
            reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=form)
            return _named(list(reader), list(reader.fieldnames or ()), columns, str(path))
    except (OSError, UnicodeDecodeError, csv.Error, pa.ArrowException) as error:
        raise unreadable(path, error) from error


def _text(data: bytes, path: Path, encoding: str | None) -> str:
    if data.startswith(codecs.BOM_UTF8):
        encoding = None
    try:
        return data.decode(canonical(encoding) if encoding else "utf-8-sig")
    except UnicodeDecodeError as error:
        guess = None if encoding else probable(data)
        raise InputError(
            f"Cannot read {path}: it is not {encoding or 'UTF-8'} at byte {error.start + 1:,}"
            f"{f', but probably {guess}' if guess else ''}.",
            hint=f"give --encoding {guess or 'NAME'} (in Python encoding=), or save it as UTF-8.",
        ) from None


def _json_rows(stream: Iterable[bytes], path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(stream, 1):
        if not line.strip():
            continue
        try:
            row = from_json(line)
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
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], columns: PairColumns, file: str
) -> pa.Table:
    for name in (columns.a, columns.b, *([columns.label] if columns.label_named else [])):
        if rows and name not in names:
            raise unknown_column(name, names, file, option="--columns A,B,LABEL")
    ids = {
        ours: pa.array([as_label(row.get(theirs)) for row in rows], pa.large_string())
        for ours, theirs in (("a", columns.a), ("b", columns.b))
    }
    if columns.label in names:
        labels = [as_label(row.get(columns.label)) for row in rows]
    else:
        labels = [ALL_POSITIVE] * len(rows)
    table = pa.table({**ids, "label": pa.array(labels, pa.large_string())})
    if not (rows and all(row.get(ASSESSOR) for row in rows)):
        return table
    return table.append_column(ASSESSOR, pa.array([str(row[ASSESSOR]) for row in rows]))
