"""Compare and group over HTTP: they need only texts, no index.

Settings come from strangers. A parameter that names a file or a module of this machine is refused,
and so is a number that would only cost time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from fastapi.concurrency import run_in_threadpool

from neardup.engines.index.index import Index
from neardup.engines.ranked import group
from neardup.errors import SettingsError
from neardup.methods import registry
from neardup.methods.base import Method
from neardup.methods.parameters import parameters
from neardup.runs.comparison import compare
from neardup.web.limits import Limits, busy
from neardup.web.service.bodies import Object, id_of, named, text_of, unfit
from neardup.web.service.responses import found

T = TypeVar("T")

AT_ONCE, WAITING = 2, 32
GREATEST = 10_000  # of a number among the settings
PLAIN = {"int", "float", "bool", "None"}
SETTINGS = ("method", "threshold", "set")
LISTING = ("representative", "text", "id", "rank", "score", "date")


class Desk:
    """Work that may take long: a few at once, some waiting, the others are told to come back."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._places = asyncio.Semaphore(AT_ONCE)
        self._here = 0

    async def run(self, work: Callable[[], T]) -> T:
        if self._here >= AT_ONCE + WAITING:
            raise busy(f"{WAITING} others wait for an answer already.")
        self._here += 1
        try:
            async with asyncio.timeout(self._seconds), self._places:
                return await run_in_threadpool(work)
        except TimeoutError:
            raise busy(
                f"The answer took longer than {self._seconds:g} seconds.", seconds=10
            ) from None
        finally:
            self._here -= 1


def compared(body: Object, index: Index, limits: Limits) -> Object:
    """Two texts, or documents of the index by ``{"id": …}``. Without a method that of the index
    says whether they are duplicates."""
    _check_names(body, ("a", "b", *SETTINGS))
    a, b = (_text(body.get(side), side, index, limits) for side in "ab")
    asked = _method(body)
    if asked is None:
        return compare(a, b, index.method, artefacts=index.artefacts).to_dict()
    return compare(a, b, asked).to_dict()


def _text(value: Any, side: str, index: Index, limits: Limits) -> str:
    if type(value) is not dict:
        return text_of(value, repr(side), limits)
    text = found(index, id_of(value.get("id"), f"The id of {side!r}", limits)).text
    if text is None:
        raise unfit("The index does not store texts, so it cannot compare by id.")
    return text


def grouped(body: Object, limits: Limits) -> Object:
    _check_names(body, ("results", *LISTING, *SETTINGS))
    results = body.get("results")
    if type(results) is not list:
        raise unfit(f"'results' is {named(results)}; expected a list, best result first.")
    if len(results) > limits.batch:
        raise unfit(f"There are {len(results):,} results; at most {limits.batch:,} are taken.")
    for n, one in enumerate(results):
        if type(one) not in (str, dict):
            raise unfit(f"Result {n} is {named(one)}; expected a string or an object.")
    settings: dict[str, Any] = {
        name: text_of(body[name], repr(name), limits) for name in LISTING if name in body
    }
    if (method := _method(body)) is not None:
        settings["method"] = method
    made = group(results, **settings)
    groups = [
        {
            "representative": one.representative._asdict(),
            "others": [other._asdict() for other in one.others],
        }
        for one in made
    ]
    return {"results": made.results, "groups": groups}


def _check_names(body: Object, known: tuple[str, ...]) -> None:
    if wrong := [name for name in body if name not in known]:
        raise unfit(f"{wrong[0]!r} is not known here; expected {', '.join(known)}.")


def _method(body: Object) -> Method | None:
    """The method that a request describes; None if it names none."""
    if not any(name in body for name in SETTINGS):
        return None
    name, set_ = body.get("method", "shingles"), body.get("set", {})
    if type(name) is not str or type(set_) is not dict:
        raise unfit("'method' is a name and 'set' an object of parameters.")
    given = _flat(set_)
    if "threshold" in body:
        if type(body["threshold"]) not in (int, float):
            raise unfit(f"'threshold' is {named(body['threshold'])}; expected a number.")
        given["threshold"] = body["threshold"]
    cls = registry.method_class(name)
    kinds = {one.name: {*one.type.split(" | ")} for one in parameters(cls)}
    if wrong := [key for key in given if any(one.startswith(f"{key}.") for one in kinds)]:
        raise unfit(f"{wrong[0]!r} is {named(given[wrong[0]])}; expected an object.")
    for key, value in given.items():
        _check_parameter(key, value, kinds.get(key), name)
    return registry.build(name, _nested(given))


def _flat(given: Object) -> Object:
    """``{"text": {"case": "keep"}}`` as ``text.case``."""
    made: Object = {}
    for key, value in given.items():
        inner = value.items() if type(value) is dict else [(None, value)]
        made |= {key if name is None else f"{key}.{name}": one for name, one in inner}
    return made


def _nested(flat: Object) -> Object:
    made: Object = {}
    for key, value in flat.items():
        outer, dot, inner = key.partition(".")
        if dot:
            made.setdefault(outer, {})[inner] = value
        else:
            made[key] = value
    return made


def _check_parameter(key: str, value: Any, kinds: set[str] | None, name: str) -> None:
    """A plain string of a method of ours is one of a few words; all others may name a file."""
    words = {"str"} if name in registry.METHODS else set()
    if kinds is not None and not kinds <= PLAIN | words:
        raise SettingsError(
            f"{name}: {key} cannot be set over HTTP.",
            hint="it may name a file; start the server on an index that is made with it.",
        )
    if isinstance(value, int | float) and abs(value) > GREATEST:
        raise SettingsError(f"{name}: {key} is {value!r}; at most {GREATEST:,} is taken here.")
    if not isinstance(value, bool | int | float | str | None):
        raise unfit(f"{key!r} is {named(value)}; expected a number, a string, true or false.")
