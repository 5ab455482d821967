"""The doors of the server: each URL is declared once, with all that anyone has to know of it.

A :class:`Door` says path, method and handler, who may use it, whether it changes anything, how its
body is read, what it shows, and how it is described. The application makes its routes from them,
the guard asks them whom to let in, the metrics count by them, and ``/openapi.json`` and the page of
the service list them. A path without a door needs a token, and changes something unless the method
says otherwise.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fastapi.responses import Response

SAFE = ("GET", "HEAD", "OPTIONS")
JSON = ".json"

Lane = Callable[[bytes], Awaitable[Response]]  # of a body


@dataclass(frozen=True)
class Door:
    """``template``: a page, which has a JSON twin beside it. ``everyone``: also without a token.
    ``reads``: it changes nothing, though it is sent with a body. ``stream``: the handler reads the
    body itself. ``lane`` answers a request without a query from its body, past the framework.
    ``login``: where people are sent who have no token yet.

    A door with a ``summary`` is described in ``/openapi.json``: the ``model`` of its answer where
    that is JSON, the ``responses`` by status, and the body."""

    path: str
    handler: Callable[..., Any]
    method: str = "GET"
    template: str = ""
    everyone: bool = False
    reads: bool = False
    stream: bool = False
    lane: Lane | None = None
    login: bool = False
    summary: str = ""
    model: Any = None
    responses: Mapping[int | str, dict[str, Any]] = field(default_factory=dict)
    body: dict[str, Any] | None = None

    @property
    def changes(self) -> bool:
        return self.method not in SAFE and not self.reads


@dataclass(frozen=True)
class Doors:
    """All doors of a server, and ``folders`` of files that everyone may read."""

    doors: Sequence[Door] = ()
    folders: Sequence[str] = ()
    _known: dict[tuple[str, str], Door] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        known = {(door.method, door.path): door for door in self.doors}
        object.__setattr__(self, "_known", known)

    def at(self, method: str, path: str) -> Door | None:
        return self._known.get(("GET" if method == "HEAD" else method, path))

    def for_everyone(self, method: str, path: str) -> bool:
        door = self.at(method, path)
        return bool(door and door.everyone) or path.startswith(tuple(self.folders))

    def changes(self, method: str, path: str) -> bool:
        door = self.at(method, path)
        return door.changes if door else method not in SAFE

    def methods(self, path: str) -> list[str]:
        return [door.method for door in self.doors if door.path == path]

    def for_programs(self, path: str) -> bool:
        """Whether answers there are data: twins of pages, and all that lies beside what is
        described (``/v1/…``), also where there is no door."""
        described = (door.path.split("/") for door in self.doors if door.summary)
        return path.endswith(JSON) or path.split("/")[1:2] in [p[1:2] for p in described if p[2:]]

    @property
    def login(self) -> str | None:
        return next((door.path for door in self.doors if door.login), None)

    @property
    def streams(self) -> list[str]:
        return [door.path for door in self.doors if door.stream]

    @property
    def reading(self) -> list[str]:
        """Paths that are asked with a body and change nothing, in words."""
        return [f"{d.method} {d.path}" for d in self.doors if d.reads and d.summary]
