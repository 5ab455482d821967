"""An item of a flow: its bytes, its id and its file name, and the events that a flow reports.

If the index already has the id of an item, the item is added under this id with the time of its
claim appended. It is then compared like any other item, and is a duplicate of the first if it has
the same content.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from neardup.documents.file_formats import KINDS
from neardup.documents.inputs import SOURCE
from neardup.documents.jsonl import parsed
from neardup.engines.index.index import Index
from neardup.errors import UnreadableError
from neardup.wording import score_text, shortened

TEXT, JSON = "text", "json"
FEED = "feed"  # an entry as JSON whose text is extracted already
PAGES = tuple(set(KINDS.values()))


class Fields(NamedTuple):
    """The field names of the index for text, id, date and source."""

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
    """``name`` is its file name below the folder of its place; if empty, the id gives the name.
    ``form`` is the format of ``data``; ``problem`` is the reason why it cannot be read."""

    id: str
    data: bytes
    form: str = JSON
    name: str = ""
    problem: str | None = None
    since: float = 0.0  # arrival in seconds since 1970


def object_of(data: bytes) -> dict[str, Any]:
    try:
        document = parsed(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise unreadable(f"not valid UTF-8 at byte {error.start + 1}") from None
    except (ValueError, RecursionError) as error:
        raise unreadable(f"not valid JSON: {error}") from None
    if not isinstance(document, dict):
        raise unreadable(f"expected a JSON object, got {type(document).__name__}")
    return document


def own_id(document: dict[str, Any], fields: Fields) -> str | None:
    """The id that the document has, if it is valid."""
    id_ = document.get(fields.id)
    if isinstance(id_, bool) or not isinstance(id_, str | int) or id_ == "":
        return None
    return str(id_)


def unreadable(reason: str) -> UnreadableError:
    return UnreadableError(f"The item cannot be read: {reason}.", reason=reason)


_LONGEST = 180  # bytes of a file name; 255 are allowed, and a note adds to it
_UNSAFE = re.compile(r"[^\w.~-]+")


@dataclass
class Naming:
    """Ids and file names for the items of one batch; no two items get the same id."""

    index: Index
    now: float
    _used: set[str] = field(default_factory=set)

    def of(self, item: Item) -> tuple[str, str]:
        wanted = item.id.encode("utf-8", "replace").decode()
        id_ = next(i for i in self._tries(wanted) if i not in self._used and i not in self.index)
        self._used.add(id_)
        return id_, _file_name(item.name, id_, id_.removeprefix(wanted))

    def _tries(self, wanted: str) -> itertools.chain[str]:
        moment = datetime.fromtimestamp(self.now, UTC)
        timed = f"{wanted}~{moment:%Y%m%dT%H%M%S}"
        return itertools.chain([wanted, timed], (f"{timed}-{n}" for n in itertools.count(2)))


def _file_name(name: str, id: str, added: str) -> str:
    """The name that the item has, otherwise one made from its id."""
    if not name:
        return f"{_cut(_UNSAFE.sub('_', id).strip('._')) or 'item'}.json"
    path = PurePosixPath(name)
    return str(path.with_name(f"{_cut(path.stem)}{added}{_cut(path.suffix)}"))


def _cut(name: str) -> str:
    return name.encode("utf-8", "surrogateescape")[:_LONGEST].decode("utf-8", "ignore")


PROBLEM = "problem"


@dataclass(frozen=True)
class Event:
    """An item has come to its place, or (``problem``) something will be tried again."""

    what: str
    name: str = ""
    id: str = ""
    to: str | None = None
    note: dict[str, Any] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        values = {"event": self.what, "name": self.name, "id": self.id, "to": self.to, **self.note}
        return {name: value for name, value in values.items() if value not in ("", None)}

    def __str__(self) -> str:
        """A line of a log."""
        if self.what == PROBLEM:
            return str(self.note["problem"])
        note, of = self.note, ""
        if "of" in note:
            of = f" of {shortened(note['of'])} ({score_text(note['score'], note.get('kind'))})"
        reason = f": {self.note['reason']}" if "reason" in self.note else ""
        return f"{shortened(self.name)}: {self.what}{of}{reason}"


def sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f" {error.filename}" if error.filename else ""
        return f"The system says{where}: {error.strerror}. It will be tried again."
    return str(error)
