"""Reads items from files and pipes that hold several: JSON Lines, JSON, feeds and mailboxes.

A file that is one item as a whole stays a file. A line or entry that cannot be read is an item with
a problem, and so is a whole file of which nothing can be read. An item without an id of its own is
named by file and row, as in a run.

``LinesSource`` reads JSON Lines from a pipe. A line is safe once it is staged: what a killed
process had read but not staged is lost with the pipe. A process that is stopped finishes the lines
it has read.
"""

from __future__ import annotations

import json
import os
import select
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from neardup.documents.feeds import NO_ITEM
from neardup.documents.file_formats import EML, KINDS, MSG
from neardup.documents.file_formats import XML as FEEDS
from neardup.documents.jsonl import parsed
from neardup.documents.mail import messages, unescaped
from neardup.documents.message import MESSAGE, parsed_message
from neardup.documents.news_items import FeedItem, feed_items
from neardup.engines.index.flow.items import FEED, JSON, TEXT, Fields, Item, object_of, own_id
from neardup.errors import UnreadableError

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
