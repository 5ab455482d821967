"""Pages: data → a template, and the same data as JSON beside it.

A page is made of plain data and nothing else, so ``/clusters`` has a twin ``/clusters.json`` that
says the same. Everything that a template shows is escaped, and characters that act instead of being
seen are made visible: documents are hostile. Markup that is safe as it stands has to be ``Html``.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.meta import find_referenced_templates

from neardup.report.html_page import Html, interval
from neardup.web.doors import JSON, Door
from neardup.wording import score_text, shortened, visible

if TYPE_CHECKING:
    from neardup.web.app import Link

TEMPLATES = Path(__file__).parent / "templates"

Data = dict[str, Any]


class Pages:
    """``links`` are the bar of every page."""

    def __init__(self, links: Sequence[Link]) -> None:
        self.links = links

    def add(self, app: FastAPI, door: Door) -> None:
        """Its handler returns what the template shows, or a response where there is nothing to
        show. It is called for the page and for its twin."""
        path, template, data = door.path, door.template, door.handler

        @functools.wraps(data)
        def page(*arguments: Any, **named: Any) -> Response:
            made = data(*arguments, **named)
            return made if isinstance(made, Response) else self.html(template, path, made)

        @functools.wraps(data)
        def twin(*arguments: Any, **named: Any) -> Response:
            made = data(*arguments, **named)
            if isinstance(made, RedirectResponse):
                return _to_twin(made)
            return made if isinstance(made, Response) else JSONResponse(_plain(made))

        _compile(template)
        given: dict[str, Any] = {"include_in_schema": False, "response_model": None}
        app.add_api_route(path, page, response_class=HTMLResponse, **given)
        app.add_api_route((path.rstrip("/") or "/index") + JSON, twin, **given)

    def html(self, template: str, path: str, data: Data, *, status: int = 200) -> HTMLResponse:
        made = _environment().get_template(template).render(data, here=path, links=self.links)
        return HTMLResponse(made, status)


def _to_twin(made: RedirectResponse) -> RedirectResponse:
    """Where a page leads to another one, its twin leads to the twin of that."""
    path, question, query = made.headers["location"].partition("?")
    return RedirectResponse(f"{path.rstrip('/')}{JSON}{question}{query}", made.status_code)


@functools.cache
def _compile(template: str) -> None:
    """Now, with those it is built on: the first reader need not wait for it."""
    environment = _environment()
    environment.get_template(template)
    source = (TEMPLATES / template).read_text("utf-8")
    for other in find_referenced_templates(environment.parse(source)):
        if other:
            environment.get_template(other)


@functools.cache
def _environment() -> Environment:
    """One for all applications of a process, so that each template is compiled once."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.globals["interval"] = interval
    made.filters["short"] = shortened
    made.filters["count"] = lambda number: f"{number:,}"
    made.filters["score"] = _score
    return made


def _score(score: float | None, kind: str | None = None) -> str:
    return "–" if score is None else score_text(score, kind, 3)


def _plain(data: Any) -> Any:
    """Markup is for the page; what it says stands beside it as data."""
    if isinstance(data, dict):
        return {name: _plain(one) for name, one in data.items() if not isinstance(one, Html)}
    return [_plain(one) for one in data] if isinstance(data, list | tuple) else data


def _shown(value: Any) -> Any:
    if value is None:
        return ""
    return visible(value) if type(value) is str else value
