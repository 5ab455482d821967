"""Planted copies: edited copies of documents, and the collection together with them.

``draw`` chooses the originals by a seeded digest of their text, in proportion to classes of length
and each text once; the draw does not depend on the size of chunks. Each edit has its own originals
if there are enough, and makes a copy of each at every rate. Curves over rates therefore refer to
the same documents, and no document is copied so often that the copies change the collection. A copy
depends on its original, edit, rate and seed, and on the drawn documents, which supply its words.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native, schema
from neardup.documents.clashes import Book
from neardup.documents.collection import Collection, collect
from neardup.documents.columns import Columns, DocumentBatch
from neardup.documents.inputs import SOURCE, Inputs
from neardup.documents.memory_tables import arrow_source
from neardup.errors import InputError
from neardup.planting.edits import Edit, edits_named
from neardup.planting.material import Material, unit_count
from neardup.progress import Progress, Silent
from neardup.schema import Array, Ragged

FEWEST_UNITS = 20  # a shorter text cannot be edited at a small rate
UNIT_BYTES = 32  # bytes per required unit beyond which the units of a text are not counted


def draw(
    collection: Collection,
    columns: Columns,
    wanted: int,
    seed: int,
    *,
    avoid: Container[str] = (),
    progress: Progress,
) -> tuple[pa.Table, int]:
    """At most ``wanted`` documents, in an order in which every run of them contains all lengths;
    and the number of documents in the collection.

    The first pass stores 17 bytes per document, its row and its id; the second pass reads the drawn
    documents.
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
    eligible = np.concatenate(usable)
    order = _order(np.concatenate(digests), np.concatenate(lengths), eligible)
    if names := book.names():
        collection = collection.named(names.clashes)
    return _documents(collection, columns, order[:wanted]), len(eligible)


def _batches(
    collection: Collection, columns: Columns
) -> Iterator[tuple[DocumentBatch, pa.RecordBatch]]:
    """Batches, each with its records before the limit, which carry the name of their input."""
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
    """Records with the name of their input, which the copies, in a file of their own, inherit."""
    at = records.schema.get_field_index(SOURCE)
    if at < 0 or records.column(at).null_count < records.num_rows:
        return records
    values = pa.array([name] * records.num_rows, records.schema.field(at).type)
    return records.set_column(at, SOURCE, values)


def _usable(records: pa.RecordBatch, length: Array, usable: Array, avoid: Container[str]) -> Array:
    """``usable`` without texts that are too short and ids to avoid. It already excludes ids that
    their file repeats, because a run rejects these."""
    text, name = records.column("text"), records.column("id")
    for i in np.flatnonzero(length < FEWEST_UNITS * UNIT_BYTES).tolist():
        usable[i] &= unit_count(text[i].as_py()) >= FEWEST_UNITS
    if avoid:
        usable &= np.array([id not in avoid for id in name.to_pylist()], bool)
    return usable


def _order(digests: npt.NDArray[np.uint64], length: Array, usable: Array) -> Array:
    """Document numbers: by digest within a class of length (powers of two), classes interleaved."""
    candidates = np.flatnonzero(usable)
    _, first = np.unique(digests[candidates], return_index=True)  # by digest, equal texts once
    distinct = candidates[first]
    length_class = np.log2(np.maximum(length[distinct], 1)).astype(np.int64)
    place = np.empty(len(distinct))
    for number in np.unique(length_class):
        rows = np.flatnonzero(length_class == number)
        place[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
    order: Array = distinct[np.argsort(place, kind="stable")]
    return order


def _documents(collection: Collection, columns: Columns, order: Array) -> pa.Table:
    """The documents with these numbers, in this order."""
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


PER_EDIT = 50
FILE = "planted"
PREFIX = "planted:"
SPARE = 2  # originals drawn per copy wanted, because some texts have no numbers or paragraphs

PLANTED = pa.schema(
    [
        pa.field("id", pa.large_string()),
        pa.field("text", pa.large_string()),
        pa.field("of", pa.large_string()),
        pa.field("edit", pa.string()),
        pa.field("rate", pa.float64()),
        pa.field("kind", pa.string()),
        pa.field("donors", pa.list_(pa.large_string())),
    ]
)


@dataclass(frozen=True)
class Planted:
    """``copies`` has the columns of ``PLANTED`` and the extra columns of the originals; ``drawn``
    are the drawn documents, more than were copied."""

    copies: pa.Table
    drawn: pa.Table
    material: Material
    seed: int
    documents: int  # of the collection


def planted(
    documents: Any,
    edits: Sequence[str | Edit] | None = None,
    per_edit: int = PER_EDIT,
    seed: int = 0,
    *,
    text: str = "text",
    id: str | None = None,
    avoid: Container[str] = (),
) -> pa.Table:
    """Edited copies of ``documents``, as a table of id, text, of, edit, rate, kind and donors.

    They are known duplicates for a collection without labels. ``avoid`` are ids of documents that
    must not be copied, for example because they are known to have duplicates."""
    columns = Columns(text=text, id=id)
    return plant(
        collect(documents), columns, edits_named(edits), per_edit, seed, avoid=avoid
    ).copies


def plant(
    collection: Collection,
    columns: Columns,
    edits: Sequence[Edit],
    per_edit: int = PER_EDIT,
    seed: int = 0,
    *,
    avoid: Container[str] = (),
    longest: int | None = None,
    progress: Progress | None = None,
) -> Planted:
    """``longest`` is the number of characters to which the drawn texts are shortened."""
    progress = progress or Silent()
    drawn, documents = draw(
        collection, columns, SPARE * per_edit * len(edits), seed, avoid=avoid, progress=progress
    )
    if not len(drawn):
        raise InputError(
            f"No document has the {FEWEST_UNITS} words that an edited copy needs.",
            hint="plant in a collection of longer documents.",
        )
    if longest is not None:
        at = drawn.schema.get_field_index("text")
        drawn = drawn.set_column(at, "text", pc.utf8_slice_codeunits(drawn["text"], 0, longest))
    ids, texts = drawn["id"].to_pylist(), drawn["text"].to_pylist()
    material = Material(list(zip(ids, texts, strict=True)))
    progress.stage("planting", len(edits) * per_edit, unit="originals")
    rows: list[dict[str, Any]] = []
    originals: list[int] = []
    for number, edit in enumerate(edits):
        begin = number * len(ids) // len(edits)
        order = [*range(begin, len(ids)), *range(begin)]
        for original, copies in _of_edit(edit, order, material, per_edit, seed):
            rows += copies
            originals += [original] * len(copies)
            progress.advance(1)
    copies = table_of(rows, drawn.take(pa.array(originals, pa.int64())))
    return Planted(copies, drawn, material, seed, documents)


def _of_edit(
    edit: Edit, order: Sequence[int], material: Material, per_edit: int, seed: int
) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """The first originals in this order that the edit changes, each with its copies."""
    edited = 0
    for original in order:
        if edited == per_edit:
            return
        id, text = material.texts[original]
        copies = [_row(edit, rate, id, text, material, seed) for rate in edit.rates]
        if all(copy["text"].strip() != text.strip() for copy in copies):
            edited += 1
            yield original, copies


def _row(
    edit: Edit, rate: float, id: str, text: str, material: Material, seed: int
) -> dict[str, Any]:
    name = f"{PREFIX}{edit.name}:{rate:g}:{id}"
    # JSON, so that different pairs (seed, name) never give the same string.
    copy = edit.copy(text, rate, json.dumps([seed, name]), material)
    return {
        "id": name,
        "text": copy.text,
        "of": id,
        "edit": edit.name,
        "rate": rate,
        "kind": edit.kind_at(rate),
        "donors": list(copy.donors),
    }


def table_of(rows: list[dict[str, Any]], originals: pa.Table) -> pa.Table:
    """Copies inherit dates and groups of their originals, because methods and --within use them."""
    table = pa.Table.from_pylist(rows, PLANTED)
    for name in originals.column_names:
        if name not in ("row", *PLANTED.names):
            table = table.append_column(name, originals[name])
    return table


def with_copies(collection: Collection, columns: Columns, copies: pa.Table) -> Collection:
    """The copies first, then the collection, so that a limit still ends at the same document."""
    names = {"id": columns.id_name, "text": columns.text}
    kept = [name for name in copies.column_names if name in names or name in columns.delivered]
    table = copies.select(kept).rename_columns([names.get(name, name) for name in kept])
    sources = [replace(arrow_source(table), file=FILE), *collection.sources]
    inputs = collection.inputs
    limit = None if collection.limit is None else collection.limit + len(copies)
    named = Inputs((FILE, *inputs.names), inputs.offered, inputs.mapped)
    return Collection(sources, limit, named, collection.extractor)


def worth(recall: float, wrong: float) -> float:
    """F1 in a collection with as many decoys as copies, if the share ``recall`` of the copies is
    found and the share ``wrong`` of the decoys is accepted."""
    return 2 * recall / (1 + recall + wrong)
