"""How long work tells that it is alive. The library is silent; the command line draws bars."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    def stage(self, name: str, total: int | None = None, unit: str = "documents") -> None:
        """A new stage begins; the one before it is done. ``total`` None: not known."""
        ...

    def advance(self, amount: int, done_bytes: int = 0) -> None: ...

    def finish(self) -> None: ...


class Silent:
    def stage(self, name: str, total: int | None = None, unit: str = "documents") -> None:
        pass

    def advance(self, amount: int, done_bytes: int = 0) -> None:
        pass

    def finish(self) -> None:
        pass
