"""The routes of the service, with all that ``/openapi.json`` says of them."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST

import neardup
from neardup.methods import registry
from neardup.methods.described import describe
from neardup.web.limits import busy
from neardup.web.service import answers, described
from neardup.web.service.answers import respond
from neardup.web.service.bodies import Object, object_of
from neardup.web.service.described import BODY, problems
from neardup.web.service.finding import found
from neardup.web.service.streaming import MEDIA, Stream
from neardup.web.service.tools import compared, grouped
from neardup.web.service.works import Add, Remove, Update

if TYPE_CHECKING:
    from neardup.web.service.part import Service

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
        response_model=answers.Answer,
        responses=problems(*BODY),
        openapi_extra=described.body(service.documents.schema(named=False)),
    )
    async def check(request: Request, max_age: Span = None, kind: bool | None = None) -> Response:
        return await service.checked(await request.body(), max_age, kind)

    @router.get(
        DOCUMENTS,
        summary="A document as it stands",
        response_model=answers.Document,
        responses=problems(404, 422),
    )
    def get(id: Id) -> Response:
        return respond(answers.document(found(service.index, id)))


def add_writing(router: APIRouter, service: Service) -> None:
    one = described.body(service.documents.schema(named=True))

    @router.post(
        DOCUMENTS,
        summary="Check and store; the same document once more gets the same answer",
        response_model=answers.Answer,
        responses=problems(*BODY, 409),
        openapi_extra=one,
    )
    async def add(request: Request) -> Response:
        document = service.documents.one(await request.body(), named=True)
        return respond(service.told(await service.writer.write(Add([document])))[0])

    @router.post(
        BATCH,
        summary="Check and store a list: all or none",
        response_model=list[answers.Answer],
        responses=problems(*BODY, 409),
        openapi_extra=described.body(
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
            **described.ok("One answer or problem a line, in order, when it is durable.", MEDIA),
        },
        openapi_extra=described.lines(MEDIA),
    )
    async def stream() -> Any:
        if service.stopping.is_set():
            raise busy("The server is stopping.", seconds=5)
        return Stream(service.writer, service.documents, service.stopping, service.told)

    @router.put(
        DOCUMENTS,
        summary="Store a new version in the place of the one with its id, or add it",
        response_model=answers.Answer,
        responses=problems(*BODY),
        openapi_extra=one,
    )
    async def update(request: Request) -> Response:
        document = service.documents.one(await request.body(), named=True)
        return respond(service.told([await service.writer.write(Update(document))])[0])

    @router.delete(
        DOCUMENTS,
        summary="Take a document out",
        response_model=answers.Removed,
        responses=problems(404, 422),
    )
    async def remove(id: Id) -> Response:
        return respond(await service.writer.write(Remove(id)))


def add_tools(router: APIRouter, service: Service) -> None:
    @router.post(
        COMPARE,
        summary="Two texts: measures, kind, passages, and what a method says",
        response_model=answers.Comparison,
        responses=problems(*BODY, 404, 501),
        openapi_extra=described.body(described.comparison(service.limits.text, service.limits.id)),
    )
    async def compare(request: Request) -> Response:
        body = object_of(await request.body())
        work = partial(compared, body, service.index, service.limits)
        return respond(await service.desk.run(work))

    @router.post(
        GROUP,
        summary="A ranked list in groups of near-duplicates",
        response_model=answers.Groups,
        responses=problems(*BODY, 501),
        openapi_extra=described.body(described.listing(service.limits.batch)),
    )
    async def group(request: Request) -> Response:
        body = object_of(await request.body())
        return respond(await service.desk.run(partial(grouped, body, service.limits)))

    @router.get(
        METHODS,
        summary="The methods and their parameters",
        response_model=list[answers.Method],
        responses=problems(),
    )
    def methods() -> Response:
        return respond([_plain(describe(registry.build(name))) for name in registry.names()])


def add_state(router: APIRouter, service: Service) -> None:
    @router.get(
        STATS, summary="Counts and sizes", response_model=answers.Stats, responses=problems()
    )
    def stats() -> Response:
        return respond(service.stats())

    @router.get(
        HEALTH,
        summary="Whether the server runs",
        response_model=answers.Health,
        responses=problems(),
    )
    async def health() -> Response:
        return respond({"status": "ok", "version": neardup.__version__})

    @router.get(
        READY,
        summary="Whether it takes documents",
        response_model=answers.Health,
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
        responses={**problems(), **described.ok("Metrics.", "text/plain")},
    )
    async def metrics() -> Response:
        text = await run_in_threadpool(service.metrics.text)
        return Response(text, media_type=CONTENT_TYPE_LATEST)


def _plain(data: Object) -> Object:
    """Tuples and objects among defaults as JSON writes them."""
    made: Object = json.loads(json.dumps(data, default=list))
    return made
