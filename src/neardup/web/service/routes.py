"""The routes of the service, with all that ``/openapi.json`` says of them.

What ``/openapi.json`` says beside the models: bodies, and every status with its reason.
"""

from __future__ import annotations

import json
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST

import neardup
from neardup.methods import registry
from neardup.methods.registry import describe
from neardup.web.limits import busy
from neardup.web.problems import MEDIA
from neardup.web.service import responses
from neardup.web.service.bodies import Object, object_of
from neardup.web.service.document_stream import LINES_MEDIA, Stream
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
    """Of a route whose answer is no JSON."""
    schema = {"type": "string"}
    return {
        int(HTTPStatus.OK): {"description": description, "content": {media: {"schema": schema}}}
    }


CHECK, DOCUMENTS, STREAM = "/v1/check", "/v1/documents", "/v1/documents/stream"
BATCH, COMPARE, GROUP = "/v1/documents/batch", "/v1/compare", "/v1/group"
METHODS, STATS, HEALTH, READY = "/v1/methods", "/v1/stats", "/v1/health", "/v1/ready"
METRICS = "/metrics"
PATHS = (CHECK, DOCUMENTS, STREAM, BATCH, COMPARE, GROUP, METHODS, STATS, HEALTH, READY, METRICS)

# Described here, checked by the index, whose sentence is better.
Span = Annotated[str | None, Query(json_schema_extra={"pattern": "^[1-9][0-9]{0,5}[mhdw]$"})]
Id = Annotated[str, Query(min_length=1, max_length=1024)]


def add_all(router: APIRouter, service: Service) -> None:
    for add in (add_asking, add_writing, add_tools, add_state):
        add(router, service)


def add_asking(router: APIRouter, service: Service) -> None:
    @router.post(
        CHECK,
        summary="What a document would be a duplicate of; nothing is stored",
        response_model=responses.Answer,
        responses=problems(*BODY),
        openapi_extra=body(service.documents.schema(named=False)),
    )
    async def check(request: Request, max_age: Span = None, kind: bool | None = None) -> Response:
        return await service.checked(await request.body(), max_age, kind)

    @router.get(
        DOCUMENTS,
        summary="A document as it stands",
        response_model=responses.Document,
        responses=problems(404, 422),
    )
    def get(id: Id) -> Response:
        return respond(responses.document(found(service.index, id)))


def add_writing(router: APIRouter, service: Service) -> None:
    one = body(service.documents.schema(named=True))

    @router.post(
        DOCUMENTS,
        summary="Check and store; the same document once more gets the same answer",
        response_model=responses.Answer,
        responses=problems(*BODY, 409),
        openapi_extra=one,
    )
    async def add(request: Request) -> Response:
        document = service.documents.one(await request.body(), named=True)
        return respond(service.told(await service.writer.write(Add([document])))[0])

    @router.post(
        BATCH,
        summary="Check and store a list: all or none",
        response_model=list[responses.Answer],
        responses=problems(*BODY, 409),
        openapi_extra=body(
            {
                "type": "array",
                "minItems": 1,
                "maxItems": service.limits.batch,
                "items": service.documents.schema(named=True),
            }
        ),
    )
    async def add_all(request: Request) -> Response:
        documents = service.documents.many(await request.body())
        return respond(service.told(await service.writer.write(Add(documents))))

    @router.post(
        STREAM,
        summary="Check and store line by line, answered line by line",
        response_class=Response,
        responses={
            **problems(),
            **ok("One answer or problem a line, in order, when it is durable.", LINES_MEDIA),
        },
        openapi_extra=lines(LINES_MEDIA),
    )
    async def stream() -> Any:
        if service.stopping.is_set():
            raise busy("The server is stopping.", seconds=5)
        return Stream(service.writer, service.documents, service.stopping, service.told)

    @router.put(
        DOCUMENTS,
        summary="Store a new version in the place of the one with its id, or add it",
        response_model=responses.Answer,
        responses=problems(*BODY),
        openapi_extra=one,
    )
    async def update(request: Request) -> Response:
        document = service.documents.one(await request.body(), named=True)
        return respond(service.told([await service.writer.write(Update(document))])[0])

    @router.delete(
        DOCUMENTS,
        summary="Take a document out",
        response_model=responses.Removed,
        responses=problems(404, 422),
    )
    async def remove(id: Id) -> Response:
        return respond(await service.writer.write(Remove(id)))


def add_tools(router: APIRouter, service: Service) -> None:
    @router.post(
        COMPARE,
        summary="Two texts: measures, kind, passages, and what a method says",
        response_model=responses.Comparison,
        responses=problems(*BODY, 404, 501),
        openapi_extra=body(comparison(service.limits.text, service.limits.id)),
    )
    async def compare(request: Request) -> Response:
        body = object_of(await request.body())
        work = partial(compared, body, service.index, service.limits)
        return respond(await service.desk.run(work))

    @router.post(
        GROUP,
        summary="A ranked list in groups of near-duplicates",
        response_model=responses.Groups,
        responses=problems(*BODY, 501),
        openapi_extra=body(listing(service.limits.batch)),
    )
    async def group(request: Request) -> Response:
        body = object_of(await request.body())
        return respond(await service.desk.run(partial(grouped, body, service.limits)))

    @router.get(
        METHODS,
        summary="The methods and their parameters",
        response_model=list[responses.Method],
        responses=problems(),
    )
    def methods() -> Response:
        return respond([_plain(describe(registry.build(name))) for name in registry.names()])


def add_state(router: APIRouter, service: Service) -> None:
    @router.get(
        STATS, summary="Counts and sizes", response_model=responses.Stats, responses=problems()
    )
    def stats() -> Response:
        return respond(service.stats())

    @router.get(
        HEALTH,
        summary="Whether the server runs",
        response_model=responses.Health,
        responses=problems(),
    )
    async def health() -> Response:
        return respond({"status": "ok", "version": neardup.__version__})

    @router.get(
        READY,
        summary="Whether it takes documents",
        response_model=responses.Health,
        responses=problems(),
    )
    async def ready() -> Response:
        if not service.ready:
            raise busy("The server is stopping.", seconds=5)
        return respond({"status": "ok", "version": neardup.__version__})

    @router.get(
        METRICS,
        summary="For Prometheus",
        response_class=Response,
        responses={**problems(), **ok("Metrics.", "text/plain")},
    )
    async def metrics() -> Response:
        text = await run_in_threadpool(service.metrics.text)
        return Response(text, media_type=CONTENT_TYPE_LATEST)


def _plain(data: Object) -> Object:
    """Tuples and objects among defaults as JSON writes them."""
    made: Object = json.loads(json.dumps(data, default=list))
    return made
