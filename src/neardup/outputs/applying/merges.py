"""Merging: empty metadata of a kept document is filled from the copies that are merged into it.

Copies are asked in the order of the policy, and the first that has a value gives it; a value that
is there is never changed. Only the metadata of documents that take part is held in memory.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.documents import Collection
from neardup.documents.columns import DEFAULT_ID, Mask
from neardup.outputs.applying.actions import Acted, merging
from neardup.outputs.applying.edits import is_empty
from neardup.outputs.applying.filled import Fills, filled_source
from neardup.schema import Array

From = dict[int, dict[str, int]]


class FilledCollection(Collection):
    """The documents of a collection, some of them with values filled in."""

    def __init__(self, collection: Collection, fills: Fills, files: pa.ChunkedArray) -> None:
        self._original = collection  # its spooled standard input lives as long as it does
        self.fills = fills
        twins = [filled_source(source, fills) for source in collection.sources]
        super().__init__(twins, collection.limit, collection.inputs)
        self._starts = _starts(files, self.files)

    def metadata(self, wanted: Mask) -> Iterator[tuple[int, dict[str, Any]]]:
        """Document and its fields, a file at a time."""
        for source, begin, end in zip(self.sources, self._starts, self._starts[1:], strict=False):
            rows = np.flatnonzero(wanted[begin:end]) + begin
            if len(rows) and hasattr(source, "metadata"):
                mask = np.zeros(len(wanted) - begin, np.bool_)
                mask[rows - begin] = True
                yield from zip(rows.tolist(), source.metadata(mask), strict=True)

    def fit(self, row: int, name: str, value: Any) -> Any:
        """The value as the file of a document can hold it; None if it cannot."""
        source = self.sources[bisect_right(self._starts, row) - 1]
        return source.fit(name, value) if hasattr(source, "fit") else None


def _starts(files: pa.ChunkedArray, names: list[str]) -> list[int]:
    """Where the documents of each file begin: they are together, in the order of the files."""
    counts = {one["values"]: one["counts"] for one in pc.value_counts(files).to_pylist()}
    return [0, *itertools.accumulate(counts.get(name, 0) for name in names)]


def fill(acted: Acted) -> tuple[FilledCollection, From]:
    """The collection with what merges fill, and where each value comes from."""
    result = acted.ordered.result
    settings, total = result.info["settings"], len(result.decisions)
    fills = Fills(total, {}, (settings["text"], settings["id"] or DEFAULT_ID))
    made = FilledCollection(acted.ordered.collection, fills, result.decisions["file"])
    copies, kept = merging(acted)
    if not len(copies):
        return made, {}
    return made, _filled(made, copies, kept, acted.policy.fields)


def _filled(
    made: FilledCollection, copies: Array, kept: Array, fields: tuple[str, ...] | None
) -> From:
    wanted = np.zeros(made.fills.total, np.bool_)
    wanted[copies] = wanted[kept] = True
    metadata = dict(made.metadata(wanted))
    given_by: From = {}
    for copy, into in zip(copies.tolist(), kept.tolist(), strict=True):
        own = metadata.get(into)
        if own is None:
            continue
        for name, value in metadata.get(copy, {}).items():
            asked = fields is None or name in fields
            if not asked or is_empty(value) or not is_empty(own.get(name)):
                continue
            fitting = made.fit(into, name, value)
            if fitting is not None:
                own[name] = fitting
                made.fills.values.setdefault(into, {})[name] = fitting
                given_by.setdefault(into, {})[name] = copy
    return given_by
