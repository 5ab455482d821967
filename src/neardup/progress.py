"""How long work tells that it is alive. The library is silent; the command line draws bars."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    def stage(
        self,
        name: str,
        total: int | None = None,
        unit: str = "documents",
        total_bytes: int | None = None,
    ) -> None:
        """A new stage begins; the one before it is done. Totals are None where not known; where
        both are, the bytes say better how much is left."""
        ...

    def advance(self, amount: int, done_bytes: int = 0) -> None: ...

    def finish(self) -> None: ...


class Silent:
    def stage(
        self,
        name: str,
        total: int | None = None,
        unit: str = "documents",
        total_bytes: int | None = None,
    ) -> None:
        pass

    def advance(self, amount: int, done_bytes: int = 0) -> None:
        pass

    def finish(self) -> None:
        pass
