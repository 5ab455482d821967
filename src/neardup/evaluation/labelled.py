"""Labelled pairs as users have them: JSON Lines, CSV, TSV, Parquet or Arrow files, or rows.

Each has a column for either document and, unless every row is a duplicate, one for the label.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from neardup.documents.columns import unknown_column
from neardup.documents.streams import CODECS, open_binary, unreadable
from neardup.errors import InputError
from neardup.evaluation.gold.pairs import as_label

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
