"""Planted copies of the texts of a collection, and traps beside them (``neardup.planting``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from neardup.documents import Columns, collect
from neardup.planting.decoys import decoys, forms
from neardup.planting.edits import edits_named
from neardup.planting.plant import Planted, plant
from tools.general_model.document import Document

PER_EDIT = 40  # a collection of so many documents has one original for each edit and rate
FEWEST, MOST = 2, 12
FILLINGS = 4  # of a form: a frame that two documents have could be a quotation
LONGEST = 60_000  # characters of a text that is copied; longer ones only cost time


def with_copies(documents: Sequence[Document], seed: int) -> list[Document]:
    """The documents, edited copies of some of them, and pairs that share only a template."""
    rows = [{"id": one.id, "text": one.text} for one in documents if len(one.text) <= LONGEST]
    count = min(max(FEWEST, len(documents) // PER_EDIT), MOST)
    made = plant(collect(rows), Columns(), edits_named(None), count, seed)
    known = {one.id: one for one in documents}
    framed = [decoys(made, 2 * count), forms(made, 2 * count, FILLINGS)]
    trapped = [one for table in framed for one in _traps(table, known)]
    return [*documents, *_copies(made, known), *trapped]


def _copies(made: Planted, known: dict[str, Document]) -> Iterator[Document]:
    for row in made.copies.to_pylist():
        original = known[row["of"]]
        yield _document(row, original, original.group, of=row["of"], kind=row["kind"])


def _traps(table: pa.Table, known: dict[str, Document]) -> Iterator[Document]:
    """Neighbouring rows are a pair; each is a text of its own."""
    rows = table.to_pylist()
    for number, row in enumerate(rows):
        other = rows[number ^ 1]["id"]
        yield _document(row, known[row["donors"][0]], row["id"], trap_of=other)


def _document(row: dict[str, Any], near: Document, group: str, **more: Any) -> Document:
    return Document(
        row["id"],
        row["text"],
        group,
        "planted",
        near.licence,
        near.lang,
        edit=row["edit"],
        rate=row["rate"],
        donors=tuple(row["donors"]),
        **more,
    )
