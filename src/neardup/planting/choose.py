"""Which documents are planted: drawn by a seeded digest of their text, in proportion to the classes
of length, equal texts once. The draw does not depend on the size of chunks."""

from __future__ import annotations

from collections.abc import Container, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native, schema
from neardup.documents import Collection, Columns, DocumentBatch
from neardup.documents.clashes import Book
from neardup.documents.inputs import SOURCE
from neardup.planting.units import unit_count
from neardup.progress import Progress
from neardup.schema import Array, Ragged

FEWEST_UNITS = 20  # of a text that can be edited at a small rate
UNIT_BYTES = 32  # a text with more bytes a unit than this is taken on trust


def draw(
    collection: Collection,
    columns: Columns,
    wanted: int,
    seed: int,
    *,
    avoid: Container[str] = (),
    progress: Progress,
) -> tuple[pa.Table, int]:
    """At most so many documents, in an order in which every run of them has all lengths; and how
    many there are.

    Two passes: the first keeps 17 bytes of every document, and its id where there are several
    files; the second takes what was drawn.
    """
    progress.stage("drawing", collection.limit, total_bytes=collection.plain_size())
    digests, lengths, usable = [], [], []
    if avoid:
        collection, _ = collection.told_apart(columns)
    book = Book(collection.files, collection.limit)
    for batch, records in _batches(collection, columns):
        text = Ragged.of_strings(records.column("text"))
        digests.append(_native.bytes_digests(text.values, text.offsets, seed))
        lengths.append(text.lengths)
        usable.append(_usable(records, text.lengths, book.add(batch), avoid))
        progress.advance(records.num_rows, batch.size)
    if not lengths:
        return _nothing(), 0
    there = np.concatenate(usable)
    order = _order(np.concatenate(digests), np.concatenate(lengths), there)
    if names := book.names():
        collection = collection.named(names.clashes)
    return _taken(collection, columns, order[:wanted]), len(there)


def _batches(
    collection: Collection, columns: Columns
) -> Iterator[tuple[DocumentBatch, pa.RecordBatch]]:
    """And their documents before the limit, with the name of their input."""
    left = collection.limit
    names = collection.source_names
    for chunk in collection.chunks(columns):
        batch = chunk.read()
        records = batch.records
        if left is not None:
            records = records.slice(0, int((batch.positions() < left).sum()))
            left -= len(batch)
        yield batch, _with_source(records, names.get(batch.file, ""))
        if left is not None and left <= 0:
            return


def _with_source(records: pa.RecordBatch, name: str) -> pa.RecordBatch:
    """A copy stands in another file: it takes the name of its original's input along."""
    at = records.schema.get_field_index(SOURCE)
    if at < 0 or records.column(at).null_count < records.num_rows:
        return records
    values = pa.array([name] * records.num_rows, records.schema.field(at).type)
    return records.set_column(at, SOURCE, values)


def _usable(records: pa.RecordBatch, length: Array, usable: Array, avoid: Container[str]) -> Array:
    """An id that its file repeats is rejected by a run; a few words cannot be edited at a small
    rate."""
    text, name = records.column("text"), records.column("id")
    for i in np.flatnonzero(length < FEWEST_UNITS * UNIT_BYTES).tolist():
        usable[i] &= unit_count(text[i].as_py()) >= FEWEST_UNITS
    if avoid:
        usable &= np.array([one not in avoid for one in name.to_pylist()], bool)
    return usable


def _order(digests: npt.NDArray[np.uint64], length: Array, usable: Array) -> Array:
    """Document numbers. Within a class of length (powers of two) by digest; classes interleaved."""
    candidates = np.flatnonzero(usable)
    _, first = np.unique(digests[candidates], return_index=True)  # by digest, equal texts once
    there = candidates[first]
    of_class = np.log2(np.maximum(length[there], 1)).astype(np.int64)
    place = np.empty(len(there))
    for one in np.unique(of_class):
        rows = np.flatnonzero(of_class == one)
        place[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
    order: Array = there[np.argsort(place, kind="stable")]
    return order


def _taken(collection: Collection, columns: Columns, order: Array) -> pa.Table:
    """These documents, in that order."""
    wanted, parts, begin = np.sort(order), [], 0
    for _, records in _batches(collection, columns):
        end = begin + records.num_rows
        first, last = np.searchsorted(wanted, [begin, end])
        rows = records.take(pa.array(wanted[first:last] - begin))
        parts.append(pa.Table.from_batches([rows]))
        begin = end
    table = pa.concat_tables(parts, promote_options="permissive") if parts else _nothing()
    return table.take(pa.array(np.searchsorted(wanted, order)))


def _nothing() -> pa.Table:
    return schema.documents().empty_table()
