"""The id under which an item is added, and the name of its file where it goes.

An item whose id the index has already is a new item with the time of its claim added to the id: it
is compared like any other, and is a duplicate of the first if it says the same.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath

from neardup.online.flow.items import Item
from neardup.online.index import Index

_LONGEST = 180  # bytes of a file name, of the 255 there are: a note adds to it
_UNSAFE = re.compile(r"[^\w.~-]+")


@dataclass
class Naming:
    """For the items of one batch: none of them gets the id of another."""

    index: Index
    now: float
    _given: set[str] = field(default_factory=set)

    def of(self, item: Item) -> tuple[str, str]:
        wanted = item.id.encode("utf-8", "replace").decode()
        id_ = next(one for one in self._tries(wanted) if self._is_free(one))
        self._given.add(id_)
        return id_, _file_name(item.name, id_, id_.removeprefix(wanted))

    def _tries(self, wanted: str) -> itertools.chain[str]:
        moment = datetime.fromtimestamp(self.now, UTC)
        timed = f"{wanted}~{moment:%Y%m%dT%H%M%S}"
        return itertools.chain([wanted, timed], (f"{timed}-{n}" for n in itertools.count(2)))

    def _is_free(self, id: str) -> bool:
        return id not in self._given and id not in self.index


def _file_name(name: str, id: str, added: str) -> str:
    """The name it had, else one made of its id."""
    if not name:
        return f"{_cut(_UNSAFE.sub('_', id).strip('._')) or 'item'}.json"
    path = PurePosixPath(name)
    return str(path.with_name(f"{_cut(path.stem)}{added}{_cut(path.suffix)}"))


def _cut(name: str) -> str:
    return name.encode("utf-8", "surrogateescape")[:_LONGEST].decode("utf-8", "ignore")
