"""The texts of some documents of a run, read again from its inputs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.documents import Columns

if TYPE_CHECKING:
    from neardup.outputs.result import Result


def texts_of(result: Result, ids: Iterable[str]) -> dict[str, str]:
    """By id, a file at a time. A rejected document may bear the id of another: it is not meant."""
    table = result.decisions
    wanted = pc.and_(
        pc.is_in(table["id"], pa.array(list(ids), pa.large_string())),
        pc.not_equal(table["decision"], schema.REJECTED),
    )
    rows = table.filter(wanted).select(["id", "file", "row"]).to_pylist()
    files: dict[str, list[tuple[str, int]]] = {}
    for row in rows:
        files.setdefault(row["file"], []).append((row["id"], row["row"]))
    columns = Columns(text=result.info["settings"]["text"])
    collection = result.collection()
    found: dict[str, str] = {}
    for file, some in files.items():
        texts = collection.texts(file, [row for _, row in some], columns)
        found |= {id: text for (id, _), text in zip(some, texts, strict=True)}
    return found
