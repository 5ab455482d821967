"""An item of a flow: its bytes, its id and its file name, and the events that a flow reports.

If the index already has the id of an item, the item is added under this id with the time of its
claim appended. It is then compared like any other item, and is a duplicate of the first if it has
the same content.

Reads items from files and pipes that hold several: JSON Lines, JSON, feeds and mailboxes.

A file that is one item as a whole stays a file. A line or entry that cannot be read is an item with
a problem, and so is a whole file of which nothing can be read. An item without an id of its own is
named by file and row, as in a run.

``LinesSource`` reads JSON Lines from a pipe. A line is safe once it is staged: what a killed
process had read but not staged is lost with the pipe. A process that is stopped finishes the lines
it has read.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import select
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from neardup.documents.feeds import NO_ITEM
from neardup.documents.file_formats import EML, KINDS, MSG
from neardup.documents.file_formats import XML as FEEDS
from neardup.documents.inputs import SOURCE
from neardup.documents.jsonl import parsed
from neardup.documents.message import MESSAGE, messages, parsed_message, unescaped
from neardup.documents.news_items import FeedItem, feed_items
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


LINES = (".jsonl", ".ndjson")
MBOX = ".mbox"
WHOLE = {".txt": TEXT, ".text": TEXT, ".md": TEXT, "": TEXT, **KINDS, EML: MESSAGE, MSG: MSG}
SEVERAL = (".json", *LINES, *FEEDS, MBOX)
READ = (*filter(None, WHOLE), *SEVERAL)


def ending(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def is_whole(name: str) -> bool:
    """Whether the file is a single item, or of a format that has no reader."""
    return ending(name) not in SEVERAL


def whole_problem(name: str) -> str | None:
    if ending(name) in WHOLE:
        return None
    return f"there is no reader for {ending(name)}; there are those for {', '.join(READ)}"


def items(path: Path, name: str, fields: Fields) -> Iterator[Item]:
    """The items of the file at ``path``, which arrived as ``name``. A file without items gives one
    item with a problem."""
    read = _items(path, name, fields)
    first = next(read, None)
    if first is None:
        yield Item(name, path.read_bytes(), name=name, problem=NO_ITEM)
        return
    yield first
    yield from read


def _items(path: Path, name: str, fields: Fields) -> Iterator[Item]:
    try:
        if ending(name) in LINES:
            with path.open("rb") as file:
                yield from of_lines(file, name, fields)
        elif ending(name) in FEEDS:
            yield from feed_entries(path.read_bytes(), name, fields)
        elif ending(name) == MBOX:
            yield from _of_mailbox(path, name)
        else:
            yield from _of_json(path, name, fields)
    except UnreadableError as error:
        yield Item(name, path.read_bytes(), name=name, problem=error.reason)


def _of_mailbox(path: Path, name: str) -> Iterator[Item]:
    """Its messages, each a file of its own."""
    place = PurePosixPath(name)
    with path.open("rb") as index, path.open("rb") as file:
        for row, (begin, size) in enumerate(messages(index), 1):
            file.seek(begin)
            data = unescaped(file.read(size))
            id_ = parsed_message(data).id or f"{name}:{row}"
            yield Item(id_, data, MESSAGE, str(place.with_name(f"{place.stem}-{row}{EML}")))


def feed_entries(data: bytes, name: str, fields: Fields) -> Iterator[Item]:
    entries = [feed_fields(entry, fields) for entry in feed_items(data)]
    return _of_objects(entries, name, fields, FEED)


def feed_fields(item: FeedItem, fields: Fields) -> dict[str, str]:
    """An item of a feed under the field names of the index."""
    values = {fields.source: item.feed, fields.id: item.id, "title": item.title}
    values |= {fields.text: item.text, "link": item.url, fields.date: item.date, "xml": item.xml}
    return {name: value for name, value in values.items() if value is not None}


def of_lines(
    lines: Iterator[bytes] | Any, name: str, fields: Fields, first: int = 1
) -> Iterator[Item]:
    for row, line in enumerate(lines, first):
        if line.strip():
            yield line_item(line, f"{name}:{row}", fields)


def line_item(
    line: bytes, place: str, fields: Fields, since: float = 0.0, form: str = JSON
) -> Item:
    try:
        document = object_of(line)
    except UnreadableError as error:
        return Item(place, line, problem=error.reason, since=since)
    return Item(own_id(document, fields) or place, line, form, since=since)


def _of_json(path: Path, name: str, fields: Fields) -> Iterator[Item]:
    """One object, a list of objects, or JSON Lines with the wrong file extension."""
    data = path.read_bytes()
    try:
        document = parsed(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, list):
        yield from _of_objects(document, name, fields)
    elif document is None and _are_lines(data):
        yield from of_lines(data.splitlines(keepends=True), name, fields)
    else:
        whole = object_of(data)
        yield Item(own_id(whole, fields) or name, data, JSON, name)


def _are_lines(data: bytes) -> bool:
    try:
        return bool(object_of(data.lstrip().partition(b"\n")[0]))
    except UnreadableError:
        return False


def _of_objects(objects: list[Any], name: str, fields: Fields, form: str = JSON) -> Iterator[Item]:
    for row, document in enumerate(objects, 1):
        line = json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        yield line_item(line, f"{name}:{row}", fields, form=form)


_AT_ONCE = 1 << 18


@dataclass
class LinesSource:
    """JSON Lines from a file descriptor."""

    handle: int
    fields: Fields
    clock: Callable[[], float]
    name: str = "stdin"
    pending: int = 1  # an open pipe may bring more lines
    ended: bool = False
    _parts: list[bytes] = field(default_factory=list)
    _row: int = 0

    def look(self) -> list[Item]:
        """The items that have arrived so far, without waiting."""
        if self.ended or not self._ready(0):
            return []
        data = os.read(self.handle, _AT_ONCE)
        self.ended = not data
        self.pending = int(not self.ended)
        return [item for line in self._whole(data) if (item := self._item(line))]

    def settle(self) -> None:
        """A line that was read is gone from the pipe."""

    def _whole(self, data: bytes) -> list[bytes]:
        """The lines that end in ``data``. The rest is kept in parts, because a line may be long."""
        self._parts.append(data)
        if b"\n" not in data and not self.ended:
            return []
        lines = b"".join(self._parts).split(b"\n")
        self._parts = [] if self.ended else [lines.pop()]
        return lines

    def wait(self, seconds: float) -> None:
        """Wait until a line arrives, at most ``seconds``."""
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
        except (OSError, ValueError):  # on Windows select() takes only sockets; reading blocks
            return True
