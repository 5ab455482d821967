"""The answers of the service: models for the description, and plain data made as fast as possible.

The names are those of ``neardup index add --lines`` and of the decisions of a run. A document that
the index does not have is a 404 with the sentence of the index.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Literal

from fastapi.responses import Response
from pydantic import BaseModel, Field

from neardup.engines.index.arrival_rule import Match
from neardup.engines.index.entries import Entry, unknown
from neardup.engines.index.index import Index
from neardup.engines.index.store import Row
from neardup.errors import RejectedError
from neardup.schema import DUPLICATE, KEPT
from neardup.web.pages import ProblemError, not_found

JSON = "application/json"


class Answer(BaseModel):
    """The decision about a document; for a duplicate, its kept document and why."""

    id: str | None
    decision: Literal["kept", "duplicate"]
    kept_id: str | None = Field(description="the document that it is a duplicate of")
    score: float | None
    reason: str | None
    kind: str | None = Field(description="null if it was not determined")
    by: list[str] | None = Field(
        description="the methods that accept the pair, if there are several"
    )


class Removed(BaseModel):
    """A removed document, and the new decisions about its former duplicates."""

    id: str
    again: list[Answer]


class Document(Answer):
    """A document of the index, as it stands now."""

    id: str
    time: datetime
    text: str | None = Field(description="null if the index does not store texts")
    within: str | None


class Member(BaseModel):
    row: int = Field(description="its place in the request, from 0")
    position: int = Field(description="its rank, from 1")
    id: str
    score: float | None
    kind: str | None
    flags: str


class Group(BaseModel):
    representative: Member
    others: list[Member]


class Groups(BaseModel):
    results: int
    groups: list[Group]


class Comparison(BaseModel):
    """The comparison as `neardup compare --json` gives it."""

    names: list[str]
    kind: str
    direction: str | None
    confidence: float
    words: list[int]
    characters: list[int]
    measures: dict[str, Any]
    edit_similarity: float
    edits_exact: bool
    moved_words: int
    verdict: dict[str, Any] | None
    note: str | None
    whole: bool
    passages: list[dict[str, Any]]


class Method(BaseModel):
    name: str
    summary: str
    threshold: float
    complete: bool
    miss_rate: float
    resolved: dict[str, Any]
    parameters: list[dict[str, Any]]


class Stats(BaseModel):
    """The figures that `neardup index stats --json` gives, and how many documents wait to be
    written."""

    documents: int
    kept: int
    duplicates: int
    bytes: int
    matchable: int
    evidence_bytes: int
    postings_bytes: int
    newest: datetime | None
    checks: int
    check_seconds: float | None
    duplicate_share: float
    pays_from_seconds: float | None
    method: str
    waiting: int


class Health(BaseModel):
    status: Literal["ok"]
    version: str


class Problem(BaseModel):
    """RFC 9457. ``detail`` is the whole sentence."""

    type: str
    title: str
    status: int
    detail: str
    hint: str | None = None


def answer(id: str | None, match: Match | None) -> dict[str, Any]:
    if match is None:
        return _answer(id, KEPT)
    return _answer(id, DUPLICATE, *match[:5])  # the direction is not stored


def answer_of_row(row: Row) -> dict[str, Any]:
    """The same of a document that is there."""
    if row.kept_seq is None:
        return _answer(row.id, KEPT)
    by = tuple(json.loads(row.by)) if row.by else None
    return _answer(row.id, DUPLICATE, row.kept_id, row.score, row.reason, row.kind, by)


def document(entry: Entry) -> dict[str, Any]:
    said = entry.kept_id, entry.score, entry.reason, entry.kind, entry.by
    more = {"time": entry.time.isoformat(), "text": entry.text, "within": entry.within}
    return {**_answer(entry.id, entry.decision, *said), **more}


def _answer(
    id: str | None,
    decision: str,
    of: str | None = None,
    score: float | None = None,
    reason: str | None = None,
    kind: str | None = None,
    by: tuple[str, ...] | None = None,
) -> dict[str, Any]:
    return {
        "id": id,
        "decision": decision,
        "kept_id": of,
        "score": score,
        "reason": reason,
        "kind": kind,
        "by": by,
    }


def written(data: Any) -> bytes:
    """JSON; an unpaired surrogate, which UTF-8 cannot write, is escaped."""
    try:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(data, separators=(",", ":")).encode()


def respond(data: Any, status: int = 200) -> Response:
    return Response(written(data), status, media_type=JSON)


def found(index: Index, id: str) -> Entry:
    try:
        return index.get(id)
    except RejectedError as error:
        raise not_found(error.message, hint=error.hint) from None


def missing(id: str) -> ProblemError:
    said = unknown(id)
    return not_found(said.message, hint=said.hint)
