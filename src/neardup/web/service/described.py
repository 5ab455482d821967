"""What ``/openapi.json`` says beside the models: bodies, and every status with its reason."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from neardup.methods import registry
from neardup.web.problems import MEDIA
from neardup.web.service.answers import Problem

STATUSES = {
    400: "The body is no JSON, or a setting is wrong.",
    401: "A token is needed.",
    403: "The token or the server may only read, or the request comes from elsewhere.",
    404: "There is no such document.",
    408: "The body did not come in time.",
    409: "The id is taken by another text.",
    413: "The body is too large.",
    422: "The request is JSON, but not what is described here.",
    429: "More often than one client may ask; Retry-After says when to come back.",
    501: "Something that this needs is not installed.",
    503: "Too much waits, the server is stopping, or the store is busy; Retry-After says when.",
}
ALWAYS = (401, 403, 429, 503)  # of every route that is not open to all
BODY = (400, 408, 413, 422)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    schema = Problem.model_json_schema()
    return {
        status: {"description": STATUSES[status], "content": {MEDIA: {"schema": schema}}}
        for status in sorted({*statuses, *ALWAYS})
    }


def body(schema: dict[str, Any]) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


def lines(media: str) -> dict[str, Any]:
    """No line is a stream, too."""
    return {"requestBody": {"content": {media: {"schema": {"type": "string"}}}}}


_SETTINGS: dict[str, Any] = {
    "method": {"type": "string", "enum": registry.names()},
    "threshold": {"type": "number"},
    "set": {"type": "object", "description": "parameters of the method; none that names a file"},
}


def comparison(text: int, id: int) -> dict[str, Any]:
    by_id = {
        "type": "object",
        "required": ["id"],
        "properties": {"id": {"type": "string", "minLength": 1, "maxLength": id}},
    }
    side = {"anyOf": [{"type": "string", "maxLength": text}, by_id]}
    return {
        "type": "object",
        "required": ["a", "b"],
        "properties": {"a": side, "b": side, **_SETTINGS},
        "additionalProperties": False,
        "example": {"a": "one text", "b": "another text"},
    }


def listing(batch: int) -> dict[str, Any]:
    columns = {
        name: {"type": "string", "description": f"the column of the {name}"}
        for name in ("text", "id", "rank", "score", "date")
    }
    who = {"type": "string", "enum": ["rank", "first", "last", "longest"]}
    item = {"anyOf": [{"type": "string"}, {"type": "object"}]}
    return {
        "type": "object",
        "required": ["results"],
        "properties": {
            "results": {"type": "array", "maxItems": batch, "items": item},
            "representative": who,
            **columns,
            **_SETTINGS,
        },
        "additionalProperties": False,
        "example": {"results": ["best result", "next result"]},
    }


def ok(description: str, media: str) -> dict[int | str, dict[str, Any]]:
    """Of a route whose answer is no JSON."""
    schema = {"type": "string"}
    return {
        int(HTTPStatus.OK): {"description": description, "content": {media: {"schema": schema}}}
    }
