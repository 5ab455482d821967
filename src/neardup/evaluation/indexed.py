"""The store of an index as a result, so that its pairs can be judged as those of a run.

An index knows of each duplicate the one document that it was set aside for: these are its pairs,
and they are not all there are. Its texts have to be stored, or nobody could judge them.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from neardup import schema
from neardup.documents import collect
from neardup.errors import InputError
from neardup.online.store import Row, no_index, open_store
from neardup.outputs.result import Result

FILE = "input"  # what documents in memory are said to stand in


def result_of_index(url: str) -> Result:
    description, rows = _read(url)
    texts = {row.id: row.text for row in rows if row.text is not None}
    if rows and not texts:
        raise InputError(
            f"The index {url} does not store the texts of its documents, so nobody can judge them.",
            hint="`neardup index build --texts` makes one that does.",
        )
    pairs = [row for row in rows if row.kept_id in texts and row.id in texts]
    documents = [{"id": one, "text": text} for one, text in texts.items()]
    parameters = description["parameters"]
    info = {
        "settings": {
            "method": description["method"],
            "parameters": parameters,
            "text": "text",
            "id": "id",
        },
        "pairs": "partial",
        "against": None,
    }
    return Result(
        _decisions({row.id: row for row in rows if row.id in texts}),
        _pairs(pairs),
        info,
        collection=lambda: collect(documents),
    )


def _read(url: str) -> tuple[dict[str, Any], list[Row]]:
    store = open_store(url, create=False)
    try:
        description = store.description()
        if description is None:
            raise no_index(store.url)
        rows: list[Row] = []
        while page := store.rows(rows[-1].seq if rows else 0):
            rows += [row for row, _ in page]
        return description, rows
    finally:
        store.close()


def _pairs(rows: list[Row]) -> pa.Table:
    given: dict[str, list[Any]] = {
        "a": [row.kept_id for row in rows],
        "b": [row.id for row in rows],
        "score": [row.score for row in rows],
        "kind": [row.kind for row in rows],
    }
    return _table(given, len(rows), schema.PAIRS)


def _decisions(rows: dict[str, Row]) -> pa.Table:
    aside = [row.kept_seq is not None for row in rows.values()]
    given: dict[str, list[Any]] = {
        "id": list(rows),
        "file": [FILE] * len(rows),
        "row": list(range(1, len(rows) + 1)),
        "decision": [schema.DUPLICATE if one else schema.KEPT for one in aside],
        "reason": [row.reason for row in rows.values()],
        "kept_id": [row.kept_id for row in rows.values()],
        "score": [row.score for row in rows.values()],
        "kind": [row.kind for row in rows.values()],
    }
    return _table(given, len(rows), schema.DECISIONS)


def _table(given: dict[str, list[Any]], count: int, of: pa.Schema) -> pa.Table:
    columns = [pa.array(given.get(f.name, [None] * count), _plain(f.type)) for f in of]
    return pa.table(columns, names=of.names).cast(of)


def _plain(type_: pa.DataType) -> pa.DataType:
    return type_.value_type if pa.types.is_dictionary(type_) else type_
