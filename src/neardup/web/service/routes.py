"""The doors of the service: every URL under ``/v1`` and ``/metrics``, each declared once.

``service_doors`` is the table: path, method, handler, who may use it, the body, the answer and
every problem with its reason, as ``/openapi.json`` describes them.
"""

from __future__ import annotations

import json
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST

import neardup
from neardup.methods import registry
from neardup.methods.registry import describe
from neardup.web.doors import Door
from neardup.web.limits import busy
from neardup.web.pages import MEDIA
from neardup.web.service import responses
from neardup.web.service.bodies import LINES_MEDIA, Object, Stream, object_of
from neardup.web.service.responses import Problem, found, respond
from neardup.web.service.tools import compared, grouped
from neardup.web.service.writer import Add, Remove, Update

if TYPE_CHECKING:
    from neardup.web.service.service import Service

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
    """The description of an answer that is no JSON."""
    schema = {"type": "string"}
    return {
        int(HTTPStatus.OK): {"description": description, "content": {media: {"schema": schema}}}
    }


# Described here, checked by the index, whose sentence is better.
Span = Annotated[str | None, Query(json_schema_extra={"pattern": "^[1-9][0-9]{0,5}[mhdw]$"})]
Id = Annotated[str, Query(min_length=1, max_length=1024)]


def service_doors(service: Service) -> list[Door]:
    use = Handlers(service)
    return [*_document_doors(service, use), *_question_doors(service, use), *_state_doors(use)]


def _document_doors(service: Service, use: Handlers) -> list[Door]:
    """Documents that are checked, stored, replaced and removed."""
    document = service.documents.schema(named=True)
    most = service.limits.batch
    many = {"type": "array", "minItems": 1, "maxItems": most, "items": document}
    lines_answer = ok("One answer or problem a line, in order, when it is durable.", LINES_MEDIA)
    return [
        Door(
            "/v1/check",
            use.check,
            "POST",
            reads=True,
            lane=service.checked,
            summary="What a document would be a duplicate of; nothing is stored",
            model=responses.Answer,
            responses=problems(*BODY),
            body=body(service.documents.schema(named=False)),
        ),
        Door(
            "/v1/documents",
            use.get,
            summary="A document as it stands",
            model=responses.Document,
            responses=problems(404, 422),
        ),
        Door(
            "/v1/documents",
            use.add,
            "POST",
            summary="Check and store; the same document once more gets the same answer",
            model=responses.Answer,
            responses=problems(*BODY, 409),
            body=body(document),
        ),
        Door(
            "/v1/documents/batch",
            use.add_all,
            "POST",
            summary="Check and store a list: all or none",
            model=list[responses.Answer],
            responses=problems(*BODY, 409),
            body=body(many),
        ),
        Door(
            "/v1/documents/stream",
            use.stream,
            "POST",
            stream=True,
            summary="Check and store line by line, answered line by line",
            responses={**problems(), **lines_answer},
            body=lines(LINES_MEDIA),
        ),
        Door(
            "/v1/documents",
            use.update,
            "PUT",
            summary="Store a new version in the place of the one with its id, or add it",
            model=responses.Answer,
            responses=problems(*BODY),
            body=body(document),
        ),
        Door(
            "/v1/documents",
            use.remove,
            "DELETE",
            summary="Take a document out",
            model=responses.Removed,
            responses=problems(404, 422),
        ),
    ]


def _question_doors(service: Service, use: Handlers) -> list[Door]:
    """Questions that need no index."""
    limits = service.limits
    return [
        Door(
            "/v1/compare",
            use.compare,
            "POST",
            reads=True,
            summary="Two texts: measures, kind, passages, and the verdict of a method",
            model=responses.Comparison,
            responses=problems(*BODY, 404, 501),
            body=body(comparison(limits.text, limits.id)),
        ),
        Door(
            "/v1/group",
            use.group,
            "POST",
            reads=True,
            summary="A ranked list in groups of near-duplicates",
            model=responses.Groups,
            responses=problems(*BODY, 501),
            body=body(listing(limits.batch)),
        ),
        Door(
            "/v1/methods",
            use.methods,
            summary="The methods and their parameters",
            model=list[responses.Method],
            responses=problems(),
        ),
    ]


def _state_doors(use: Handlers) -> list[Door]:
    """How the server and its index are."""
    return [
        Door(
            "/v1/stats",
            use.stats,
            summary="Counts and sizes",
            model=responses.Stats,
            responses=problems(),
        ),
        Door(
            "/v1/health",
            use.health,
            everyone=True,
            summary="Whether the server runs",
            model=responses.Health,
            responses=problems(),
        ),
        Door(
            "/v1/ready",
            use.ready,
            everyone=True,
            summary="Whether it takes documents",
            model=responses.Health,
            responses=problems(),
        ),
        Door(
            "/metrics",
            use.metrics,
            summary="For Prometheus",
            responses={**problems(), **ok("Metrics.", "text/plain")},
        ),
    ]


class Handlers:
    """What happens behind the doors."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def check(
        self, request: Request, max_age: Span = None, kind: bool | None = None
    ) -> Response:
        return await self._service.checked(await request.body(), max_age, kind)

    def get(self, id: Id) -> Response:
        return respond(responses.document(found(self._service.index, id)))

    async def add(self, request: Request) -> Response:
        document = self._service.documents.one(await request.body(), named=True)
        return respond((await self._write(Add([document])))[0])

    async def add_all(self, request: Request) -> Response:
        return respond(await self._write(Add(self._service.documents.many(await request.body()))))

    async def stream(self) -> Any:
        service = self._service
        if service.stopping.is_set():
            raise busy("The server is stopping.", seconds=5)
        return Stream(service.writer, service.documents, service.stopping, service.told)

    async def update(self, request: Request) -> Response:
        document = self._service.documents.one(await request.body(), named=True)
        return respond(self._service.told([await self._service.writer.write(Update(document))])[0])

    async def remove(self, id: Id) -> Response:
        return respond(await self._service.writer.write(Remove(id)))

    async def compare(self, request: Request) -> Response:
        body = object_of(await request.body())
        work = partial(compared, body, self._service.index, self._service.limits)
        return respond(await self._service.desk.run(work))

    async def group(self, request: Request) -> Response:
        work = partial(grouped, object_of(await request.body()), self._service.limits)
        return respond(await self._service.desk.run(work))

    def methods(self) -> Response:
        return respond([_plain(describe(registry.build(name))) for name in registry.names()])

    def stats(self) -> Response:
        return respond(self._service.stats())

    async def health(self) -> Response:
        return respond({"status": "ok", "version": neardup.__version__})

    async def ready(self) -> Response:
        if not self._service.ready:
            raise busy("The server is stopping.", seconds=5)
        return await self.health()

    async def metrics(self) -> Response:
        text = await run_in_threadpool(self._service.metrics.text)
        return Response(text, media_type=CONTENT_TYPE_LATEST)

    async def _write(self, work: Add) -> list[Object]:
        return self._service.told(await self._service.writer.write(work))


def _plain(data: Object) -> Object:
    """Tuples and objects among defaults as JSON writes them."""
    return dict(json.loads(json.dumps(data, default=list)))
