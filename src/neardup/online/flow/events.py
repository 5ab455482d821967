"""What a flow tells while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from neardup.names import shortened

PROBLEM = "problem"


@dataclass(frozen=True)
class Event:
    """An item has come to its place, or (``problem``) something has to be tried again."""

    what: str
    name: str = ""
    id: str = ""
    to: str | None = None
    note: dict[str, Any] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        found = {"event": self.what, "name": self.name, "id": self.id, "to": self.to, **self.note}
        return {name: value for name, value in found.items() if value not in ("", None)}

    def __str__(self) -> str:
        """A line of a log."""
        if self.what == PROBLEM:
            return str(self.note["problem"])
        of = (
            f" of {shortened(self.note['of'])} ({self.note['score']:.4f})"
            if "of" in self.note
            else ""
        )
        reason = f": {self.note['reason']}" if "reason" in self.note else ""
        return f"{shortened(self.name)}: {self.what}{of}{reason}"


def sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f" {error.filename}" if error.filename else ""
        return f"The system says{where}: {error.strerror}. It will be tried again."
    return str(error)
