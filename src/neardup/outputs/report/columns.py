"""Columns of the decisions as codes, to count with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.schema import Array

CODES = (schema.KEPT, schema.DUPLICATE, schema.REJECTED)
KEPT, DUPLICATE, REJECTED = range(3)


class Coded(NamedTuple):
    """``codes`` are places in ``names``; −1 where there is no value."""

    codes: Array
    names: list[str]


def coded(column: pa.ChunkedArray) -> Coded:
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # of no chunk at all
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], column.type)
    return Coded(pc.fill_null(whole.indices, -1).to_numpy(), whole.dictionary.to_pylist())


def decision_codes(decisions: pa.Table) -> Array:
    """0 kept, 1 duplicate, 2 rejected, whatever the order in the file."""
    found = coded(decisions["decision"])
    places = np.array([CODES.index(name) for name in found.names] or [0])
    return places[found.codes] if len(found.codes) else found.codes


def count_by(groups: Coded, decision: Array) -> Array:
    """Documents by group and decision; the last row is of those without a value."""
    size = len(groups.names) + 1
    place = np.where(groups.codes < 0, size - 1, groups.codes).astype(np.int64)
    return np.bincount(place * 3 + decision, minlength=3 * size).reshape(size, 3)


def cluster_numbers(decisions: pa.Table) -> Array:
    return np.asarray(pc.fill_null(decisions["cluster"], -1), dtype=np.int64)
