"""The names of a run's documents in the files of its kept ones, whose lines are as they came.

Where several inputs had an id, a kept file has it more than once. The decisions say which document
is which: kept documents stand in a file in the order of the input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.classes import dataclass
from neardup.documents.collection import Collection
from neardup.documents.columns import Columns, Rejected
from neardup.runs.checksums import Checksums, read_table
from neardup.schema import Array

KEPT_OF = "kept_of"  # in run.json: the kept file of each input


def named_as_in_run(
    collection: Collection, folder: Path, info: Mapping[str, Any], columns: Columns
) -> Collection:
    """``collection``: kept files of the run in ``folder``."""
    if "shared_ids" not in info:
        return collection
    table = read_table(Checksums(folder).check("decisions.parquet"), schema.DECISIONS)
    table = table.filter(pc.equal(table["decision"].cast(pa.string()), schema.KEPT))
    files = table["file"].cast(pa.large_string())
    known: dict[str, tuple[Array, pa.Array]] = {}
    for source in collection.sources:
        name = PurePath(source.file).relative_to(folder.as_posix()).as_posix()
        inputs = [file for file, to in info[KEPT_OF].items() if to == name]
        here = pc.is_in(files, pa.array(inputs, pa.large_string()))
        ids = table["id"].filter(here).combine_chunks().cast(pa.large_string())
        rows = _rows(Collection([source]), columns)
        if len(rows) == len(ids):  # else the file is not what the run wrote
            known[source.file] = rows, ids
    return collection.named(_KeptNames(known))


def _rows(collection: Collection, columns: Columns) -> Array:
    parts = [chunk.read().records.column("row").to_numpy() for chunk in collection.chunks(columns)]
    return np.concatenate([np.empty(0, np.int64), *parts])


@dataclass(frozen=True)
class _KeptNames:
    """The names of kept documents: for each file the rows of its documents, ascending, and what the
    run calls them."""

    known: Mapping[str, tuple[Array, pa.Array]]

    def names(self, records: pa.RecordBatch, file: str) -> pa.Array:
        if file not in self.known:
            return records.column("id")
        rows, ids = self.known[file]
        return ids.take(pa.array(np.searchsorted(rows, records.column("row").to_numpy())))

    def renamed(self, rejected: Sequence[Rejected]) -> list[Rejected]:
        return list(rejected)
