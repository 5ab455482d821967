"""Edited copies of documents, and the collection with them in it.

Each edit gets its own originals, as far as there are enough, and makes a copy of each at every
rate: so curves over rates are of the same documents, and no document is planted so often that the
collection is another one. A copy depends on its original, edit, rate and seed, and on the documents
that were drawn, whose words it may be given.

Which documents are planted: drawn by a seeded digest of their text, in proportion to the classes
of length, equal texts once. The draw does not depend on the size of chunks.

What a cut is worth on known answers.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native, schema
from neardup.documents import Collection, Columns, DocumentBatch, collect
from neardup.documents.clashes import Book
from neardup.documents.inputs import SOURCE, Inputs
from neardup.documents.memory_tables import arrow_source
from neardup.errors import InputError
from neardup.planting.edits import Edit, edits_named
from neardup.planting.material import Material, unit_count
from neardup.progress import Progress, Silent
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


PER_EDIT = 50
FILE = "planted"
PREFIX = "planted:"
SPARE = 2  # originals drawn for each that is wanted: not every text has numbers or paragraphs

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
    """``copies`` has the columns of ``PLANTED`` and the extra ones of the originals; ``drawn`` are
    documents of the collection, more than were copied."""

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
    """Edited copies of ``documents`` as a table of id, text, of, edit, rate, kind and donors: known
    duplicates where no labels are. ``avoid`` are ids that are not to be copied, such as those of
    documents that are known to have duplicates."""
    columns = Columns(text=text, id=id)
    made = plant(collect(documents), columns, edits_named(edits), per_edit, seed, avoid=avoid)
    return made.copies


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
    """``longest``: of a longer text only so many characters are there to be copied."""
    told = progress or Silent()
    drawn, documents = draw(
        collection, columns, SPARE * per_edit * len(edits), seed, avoid=avoid, progress=told
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
    told.stage("planting", len(edits) * per_edit, unit="originals")
    rows: list[dict[str, Any]] = []
    taken: list[int] = []
    for number, edit in enumerate(edits):
        begin = number * len(ids) // len(edits)
        order = [*range(begin, len(ids)), *range(begin)]
        for original, copies in _of_edit(edit, order, material, per_edit, seed):
            rows += copies
            taken += [original] * len(copies)
            told.advance(1)
    copies = table_of(rows, drawn.take(pa.array(taken, pa.int64())))
    return Planted(copies, drawn, material, seed, documents)


def _of_edit(
    edit: Edit, order: Sequence[int], material: Material, per_edit: int, seed: int
) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """The first originals in this order that the edit changes, each with its copies."""
    made = 0
    for original in order:
        if made == per_edit:
            return
        id, text = material.texts[original]
        copies = [_row(edit, rate, id, text, material, seed) for rate in edit.rates]
        if all(copy["text"].strip() != text.strip() for copy in copies):
            made += 1
            yield original, copies


def _row(
    edit: Edit, rate: float, id: str, text: str, material: Material, seed: int
) -> dict[str, Any]:
    name = copy_id(edit.name, rate, id)
    # As JSON, so that no two of (seed, name) are written alike.
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


def copy_id(edit: str, rate: float, id: str) -> str:
    return f"{PREFIX}{edit}:{rate:g}:{id}"


def table_of(rows: list[dict[str, Any]], originals: pa.Table) -> pa.Table:
    """Dates and groups of the originals go with their copies: methods and --within read them."""
    table = pa.Table.from_pylist(rows, PLANTED)
    for name in originals.column_names:
        if name not in ("row", *PLANTED.names):
            table = table.append_column(name, originals[name])
    return table


def with_copies(collection: Collection, columns: Columns, copies: pa.Table) -> Collection:
    """The copies first, then the collection: so a limit still cuts where it did."""
    names = {"id": columns.id_name, "text": columns.text}
    kept = [name for name in copies.column_names if name in names or name in columns.delivered]
    table = copies.select(kept).rename_columns([names.get(name, name) for name in kept])
    sources = [_named(arrow_source(table)), *collection.sources]
    inputs = collection.inputs
    limit = None if collection.limit is None else collection.limit + len(copies)
    named = Inputs((FILE, *inputs.names), inputs.offered, inputs.mapped)
    return Collection(sources, limit, named, collection.extractor)


def _named(source: Any) -> Any:
    from dataclasses import replace

    return replace(source, file=FILE)


def worth(recall: float, wrong: float) -> float:
    """F1 in a collection with as many traps as copies, where ``recall`` of the copies are found and
    ``wrong`` is the share of traps that pass."""
    return 2 * recall / (1 + recall + wrong)
