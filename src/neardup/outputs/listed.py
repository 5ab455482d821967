"""A grouped list as a file: JSON Lines, CSV or Parquet, by the name of the file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from neardup.documents.lists import json_line
from neardup.documents.streams import whole_file
from neardup.errors import InputError, UsageError
from neardup.outputs.grouped import Grouped

FORMS = (".jsonl", ".csv", ".parquet")


def check_target(out: Path, results: str, *, overwrite: bool) -> None:
    """Refuses before any work what could not be written, or would be written over."""
    if out.suffix not in FORMS:
        raise UsageError(
            f"{out} has no format that a list is written in; expected {', '.join(FORMS)}.",
            hint="name another file with -o.",
        )
    if out.exists() and Path(results).exists() and out.samefile(results):
        raise UsageError(f"{out} is the list itself.", hint="name another file with -o.")
    if out.exists() and not overwrite:
        raise UsageError(
            f"{out} is already there.", hint="name another file with -o, or give --overwrite."
        )
    if not out.parent.is_dir():
        raise UsageError(f"{out.parent} is no folder.", hint="make it, or name another file.")


def json_lines(made: Grouped) -> bytes:
    return b"".join(json_line(row) for row in made.to_list())


def write_list(made: Grouped, out: Path) -> None:
    """All results, or the representatives where ``collapse`` says so."""
    with whole_file(out) as part:
        if out.suffix == ".jsonl":
            part.write_bytes(json_lines(made))
        elif out.suffix == ".parquet":
            pq.write_table(_table(made), part)
        else:
            _write_csv(_table(made), part, out)


def _table(made: Grouped) -> pa.Table:
    found = made.collapsed() if made.collapse else made.flat()
    return pa.Table.from_pylist(found) if isinstance(found, list) else pa.table(found)


def _write_csv(table: pa.Table, part: Path, out: Path) -> None:
    try:
        pyarrow.csv.write_csv(table, part)
    except pa.ArrowException as error:
        raise InputError(
            f"The list cannot be written as {out.name}: {error}.", hint="write .jsonl or .parquet."
        ) from error
