"""An item of a flow: bytes under a name, and the fields an index reads of them.

The id under which an item is added, and the name of its file where it goes.

An item whose id the index has already is a new item with the time of its claim added to the id: it
is compared like any other, and is a duplicate of the first if it says the same.

What a flow tells while it runs.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from neardup.documents.extraction.page import HTML, PDF
from neardup.documents.inputs import SOURCE
from neardup.documents.jsonl import parsed
from neardup.engines.index.index import Index
from neardup.errors import UnreadableError
from neardup.wording import shortened

TEXT, JSON = "text", "json"
FEED = "feed"  # an entry as JSON; its text is no page any more
PAGES = (HTML, PDF)


class Fields(NamedTuple):
    """What the index calls text, id, date and source."""

    text: str = "text"
    id: str = "id"
    date: str = "date"
    source: str = SOURCE

    @classmethod
    def of(cls, index: Index) -> Fields:
        signer = index._rule.signer
        return cls(
            signer.columns.text, signer.columns.id_name, signer.date or "date", signer.source
        )


@dataclass(frozen=True, slots=True)
class Item:
    """``name`` is that of its file wherever it goes, below the folder of the place; empty: made of
    the id. ``form`` says how ``data`` is read, ``problem`` why it cannot be."""

    id: str
    data: bytes
    form: str = JSON
    name: str = ""
    problem: str | None = None
    since: float = 0.0  # when it came, in seconds since 1970


def object_of(data: bytes) -> dict[str, Any]:
    try:
        found = parsed(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise unreadable(f"not valid UTF-8 at byte {error.start + 1}") from None
    except (ValueError, RecursionError) as error:
        raise unreadable(f"not valid JSON: {error}") from None
    if not isinstance(found, dict):
        raise unreadable(f"expected a JSON object, got {type(found).__name__}")
    return found


def own_id(found: dict[str, Any], fields: Fields) -> str | None:
    """The id it brings, if it is one."""
    id_ = found.get(fields.id)
    if isinstance(id_, bool) or not isinstance(id_, str | int) or id_ == "":
        return None
    return str(id_)


def unreadable(reason: str) -> UnreadableError:
    return UnreadableError(f"The item cannot be read: {reason}.", reason=reason)


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
