"""The routes of the service.

The hot one is ``/v1/check``: it takes a tenth of a millisecond, so it is answered in the event loop
where that is sure to be short, and in a thread otherwise. Everything that writes goes through one
writer (``writing.py``).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from fastapi.routing import APIRoute
from prometheus_client import CONTENT_TYPE_LATEST

import neardup
from neardup.methods import registry
from neardup.methods.described import describe
from neardup.online.index import Index
from neardup.web.app import Link
from neardup.web.guard import Guard
from neardup.web.limits import Limits, busy
from neardup.web.pages import Data, Pages
from neardup.web.service import answers, described
from neardup.web.service.answers import respond
from neardup.web.service.bodies import Documents, Object, object_of
from neardup.web.service.checking import Checker
from neardup.web.service.described import BODY, problems
from neardup.web.service.finding import found
from neardup.web.service.metrics import Metrics
from neardup.web.service.streaming import MEDIA, Stream
from neardup.web.service.tools import Desk, compared, grouped
from neardup.web.service.works import Add, Remove, Update
from neardup.web.service.writing import Writer

CHECK, DOCUMENTS, STREAM = "/v1/check", "/v1/documents", "/v1/documents/stream"
BATCH, COMPARE, GROUP = "/v1/documents/batch", "/v1/compare", "/v1/group"
METHODS, STATS, HEALTH, READY = "/v1/methods", "/v1/stats", "/v1/health", "/v1/ready"
PATHS = (CHECK, DOCUMENTS, STREAM, BATCH, COMPARE, GROUP, METHODS, STATS, HEALTH, READY, "/metrics")

# Described here, checked by the index, whose sentence is better.
Span = Annotated[str | None, Query(json_schema_extra={"pattern": "^[1-9][0-9]{0,5}[mhdw]$"})]
Id = Annotated[str, Query(min_length=1, max_length=1024)]


class Service:
    """A part: the index is open when it comes here, and is closed with it."""

    def __init__(self, index: Index, limits: Limits) -> None:
        self.index, self.limits = index, limits
        self.metrics = Metrics(PATHS, self.stats)
        self._documents = Documents(index.columns, limits)
        self._writer = Writer(index, most=limits.waiting, wrote=self.metrics.wrote)
        self._checker = Checker(index, self._writer)
        self._ready = False

    @property
    def links(self) -> Sequence[Link]:
        return [Link("/service", "Service")]

    def open(self) -> None:
        self._stopping = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._desk = Desk(self.limits.seconds)
        self.index.stats()  # reads it into memory before the first question
        self._writer.open()
        self._ready = True

    def stop(self) -> None:
        """When the server is told to stop: what was accepted is finished, nothing new is taken."""
        self._ready = False
        self._writer.stop()
        self._loop.call_soon_threadsafe(self._stopping.set)

    def close(self) -> None:
        self._ready = False
        self._writer.close()
        self.index.close()

    def stats(self) -> Object:
        said = self.index.stats()
        newest = said["newest"] and said["newest"].isoformat()
        more = {"method": self.index.method.name, "waiting": self._writer.waiting}
        return {**said, "newest": newest, **more}

    def router(self, pages: Pages) -> APIRouter:
        router = APIRouter()
        self._add_asking(router)
        self._add_writing(router)
        self._add_tools(router)
        self._add_state(router)
        routes = [_listed(one) for one in router.routes if isinstance(one, APIRoute)]

        def page() -> Data:
            return {"title": "Service", "stats": self.stats(), "routes": routes}

        pages.add(router, "/service", "service.html", page)
        return router

    def _add_asking(self, router: APIRouter) -> None:
        @router.post(
            CHECK,
            summary="What a document would be a duplicate of; nothing is stored",
            response_model=answers.Answer,
            responses=problems(*BODY),
            openapi_extra=described.body(self._documents.schema(named=False)),
        )
        async def check(
            request: Request, max_age: Span = None, kind: bool | None = None
        ) -> Response:
            return await self._checked(await request.body(), max_age, kind)

        @router.get(
            DOCUMENTS,
            summary="A document as it stands",
            response_model=answers.Document,
            responses=problems(404, 422),
        )
        def get(id: Id) -> Response:
            return respond(answers.document(found(self.index, id)))

    def behind(self, guard: Guard) -> Guard:
        """The guard as this service needs it: counted, with its stream, and with a lane for checks
        past FastAPI, which takes three times as long as a check."""
        limits = replace(self.limits, streams=frozenset({STREAM}))
        lanes = {CHECK: self._checked}
        return replace(guard, limits=limits, watch=self.metrics.request, lanes=lanes)

    async def _checked(
        self, body: bytes, max_age: str | None = None, kind: bool | None = None
    ) -> Response:
        document = self._documents.one(body, named=False)
        match = await self._checker.check(document, max_age=max_age, kind=kind)
        made = answers.answer(document.get(self._documents.columns.id_name), match)
        self.metrics.decided("check", made["decision"])
        return respond(made)

    def _add_writing(self, router: APIRouter) -> None:
        one = described.body(self._documents.schema(named=True))

        @router.post(
            DOCUMENTS,
            summary="Check and store; the same document once more gets the same answer",
            response_model=answers.Answer,
            responses=problems(*BODY, 409),
            openapi_extra=one,
        )
        async def add(request: Request) -> Response:
            document = self._documents.one(await request.body(), named=True)
            return respond(self._told(await self._writer.write(Add([document])))[0])

        @router.post(
            BATCH,
            summary="Check and store a list: all or none",
            response_model=list[answers.Answer],
            responses=problems(*BODY, 409),
            openapi_extra=described.body(
                {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": self.limits.batch,
                    "items": self._documents.schema(named=True),
                }
            ),
        )
        async def add_all(request: Request) -> Response:
            documents = self._documents.many(await request.body())
            return respond(self._told(await self._writer.write(Add(documents))))

        @router.post(
            STREAM,
            summary="Check and store line by line, answered line by line",
            response_class=Response,
            responses={
                **problems(),
                **described.ok(
                    "One answer or problem a line, in order, when it is durable.", MEDIA
                ),
            },
            openapi_extra=described.lines(MEDIA),
        )
        async def stream() -> Any:
            if self._stopping.is_set():
                raise busy("The server is stopping.", seconds=5)
            return Stream(self._writer, self._documents, self.limits, self._stopping)

        @router.put(
            DOCUMENTS,
            summary="Store a new version in the place of the one with its id, or add it",
            response_model=answers.Answer,
            responses=problems(*BODY),
            openapi_extra=one,
        )
        async def update(request: Request) -> Response:
            document = self._documents.one(await request.body(), named=True)
            return respond(self._told([await self._writer.write(Update(document))])[0])

        @router.delete(
            DOCUMENTS,
            summary="Take a document out",
            response_model=answers.Removed,
            responses=problems(404, 422),
        )
        async def remove(id: Id) -> Response:
            return respond(await self._writer.write(Remove(id)))

    def _told(self, made: list[Object]) -> list[Object]:
        for one in made:
            self.metrics.decided("add", one["decision"])
        return made

    def _add_tools(self, router: APIRouter) -> None:
        @router.post(
            COMPARE,
            summary="Two texts: measures, kind, passages, and what a method says",
            response_model=answers.Comparison,
            responses=problems(*BODY, 404, 501),
            openapi_extra=described.body(described.comparison(self.limits.text, self.limits.id)),
        )
        async def compare(request: Request) -> Response:
            body = object_of(await request.body())
            work = partial(compared, body, self.index, self.limits)
            return respond(await self._desk.run(work))

        @router.post(
            GROUP,
            summary="A ranked list in groups of near-duplicates",
            response_model=answers.Groups,
            responses=problems(*BODY, 501),
            openapi_extra=described.body(described.listing(self.limits.batch)),
        )
        async def group(request: Request) -> Response:
            body = object_of(await request.body())
            return respond(await self._desk.run(partial(grouped, body, self.limits)))

        @router.get(
            METHODS,
            summary="The methods and their parameters",
            response_model=list[answers.Method],
            responses=problems(),
        )
        def methods() -> Response:
            return respond([_plain(describe(registry.build(name))) for name in registry.names()])

    def _add_state(self, router: APIRouter) -> None:
        @router.get(
            STATS, summary="Counts and sizes", response_model=answers.Stats, responses=problems()
        )
        def stats() -> Response:
            return respond(self.stats())

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
            if not self._ready:
                raise busy("The server is stopping.", seconds=5)
            return respond({"status": "ok", "version": neardup.__version__})

        @router.get(
            "/metrics",
            summary="For Prometheus",
            response_class=Response,
            responses={**problems(), **described.ok("Metrics.", "text/plain")},
        )
        async def metrics() -> Response:
            text = await run_in_threadpool(self.metrics.text)
            return Response(text, media_type=CONTENT_TYPE_LATEST)


def _listed(route: APIRoute) -> Object:
    return {"method": "".join(route.methods or ()), "path": route.path, "summary": route.summary}


def _plain(data: Object) -> Object:
    """Tuples and objects among defaults as JSON writes them."""
    made: Object = json.loads(json.dumps(data, default=list))
    return made
