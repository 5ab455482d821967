"""Edited copies of documents, and the collection with them in it.

Each edit gets its own originals, as far as there are enough, and makes a copy of each at every
rate: so curves over rates are of the same documents, and no document is planted so often that the
collection is another one. A copy depends on its original, edit, rate and seed, and on the documents
that were drawn, whose words it may be given.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from neardup.documents import Collection, Columns, collect
from neardup.documents.inputs import Inputs
from neardup.documents.tables import arrow_source
from neardup.errors import InputError
from neardup.planting.choose import FEWEST_UNITS, draw
from neardup.planting.edits import Edit, edits_named
from neardup.planting.material import Material
from neardup.progress import Progress, Silent

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
