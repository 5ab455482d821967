"""Decisions of an index as the bulk requests of search engines.

Each document gets two fields. ``near_dup_of`` is the id of the kept document that it is a duplicate
of, or null. ``cluster`` is the id of the kept document, its own if it is kept, so that a query can
collapse results by it. Requests update these two fields and create what is missing; they leave
other fields as they are. Elasticsearch and OpenSearch take lines of JSON, Solr one object of
commands whose keys repeat.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from neardup.integrations import FIELD

CLUSTER = "cluster"


class Bulk(Protocol):
    """The lines of a request: those of ``begin``, of every document, and of ``end``."""

    def begin(self) -> Iterator[str]: ...
    def update(self, id: str, kept_id: str | None) -> Iterator[str]: ...
    def delete(self, id: str) -> Iterator[str]: ...
    def end(self) -> Iterator[str]: ...


class Lines:
    """``POST /INDEX/_bulk`` of Elasticsearch and OpenSearch."""

    def begin(self) -> Iterator[str]:
        return iter(())

    def update(self, id: str, kept_id: str | None) -> Iterator[str]:
        yield _json({"update": {"_id": id}})
        yield _json({"doc": _fields(id, kept_id), "doc_as_upsert": True})

    def delete(self, id: str) -> Iterator[str]:
        yield _json({"delete": {"_id": id}})

    def end(self) -> Iterator[str]:
        return iter(())


class Commands:
    """``POST /solr/COLLECTION/update`` of Solr, with atomic updates."""

    def __init__(self) -> None:
        self._comma = ""

    def begin(self) -> Iterator[str]:
        yield "{"

    def update(self, id: str, kept_id: str | None) -> Iterator[str]:
        fields = {name: {"set": value} for name, value in _fields(id, kept_id).items()}
        yield self._command("add", {"doc": {"id": id, **fields}})

    def delete(self, id: str) -> Iterator[str]:
        yield self._command("delete", {"id": id})

    def _command(self, name: str, value: dict[str, Any]) -> str:
        line = f"{self._comma}{_json(name)}: {_json(value)}"
        self._comma = ","
        return line

    def end(self) -> Iterator[str]:
        yield "}"


ENGINES: dict[str, type[Lines] | type[Commands]] = {
    "elasticsearch": Lines,
    "opensearch": Lines,
    "solr": Commands,
}


def updates(bulk: Bulk, ids: Sequence[str], kept_ids: Sequence[str | None]) -> Iterator[str]:
    for id, kept_id in zip(ids, kept_ids, strict=True):
        yield from bulk.update(id, kept_id)


def _fields(id: str, kept_id: str | None) -> dict[str, str | None]:
    return {FIELD: kept_id, CLUSTER: id if kept_id is None else kept_id}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
