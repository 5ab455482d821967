"""JSON Lines that come through a pipe.

A line is safe from the moment it is staged. What a killed process had read but not staged is lost
with the pipe; one that is stopped finishes the lines it has read.
"""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from dataclasses import dataclass, field

from neardup.online.flow.items import Fields, Item
from neardup.online.flow.reading import line_item

_AT_ONCE = 1 << 18


@dataclass
class LinesSource:
    handle: int  # a file descriptor
    fields: Fields
    clock: Callable[[], float]
    name: str = "stdin"
    pending: int = 1  # a pipe that is open may bring more
    ended: bool = False
    _parts: list[bytes] = field(default_factory=list)
    _row: int = 0

    def look(self) -> list[Item]:
        """What has come by now; nothing is waited for."""
        if self.ended or not self._ready(0):
            return []
        data = os.read(self.handle, _AT_ONCE)
        self.ended = not data
        self.pending = int(not self.ended)
        return [item for line in self._whole(data) if (item := self._item(line))]

    def _whole(self, data: bytes) -> list[bytes]:
        """The lines that end in ``data``; the rest is kept in parts, as a line may be long."""
        self._parts.append(data)
        if b"\n" not in data and not self.ended:
            return []
        lines = b"".join(self._parts).split(b"\n")
        self._parts = [] if self.ended else [lines.pop()]
        return lines

    def wait(self, seconds: float) -> None:
        """Until a line comes, at most so long."""
        if not self.ended:
            self._ready(seconds)

    def _item(self, line: bytes) -> Item | None:
        self._row += 1
        if not line.strip():
            return None
        return line_item(line + b"\n", f"{self.name}:{self._row}", self.fields, self.clock())

    def _ready(self, seconds: float) -> bool:
        try:
            return bool(select.select([self.handle], [], [], seconds)[0])
        except (OSError, ValueError):  # Windows asks only sockets: reading waits instead
            return True
