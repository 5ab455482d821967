"""Feeds and other XML files of many items: every item is a document. Nothing is fetched.

``news_items.py`` reads the items. The id is that of the item, else its address, else file and row.
If a run reads several feeds, the id is prefixed with the file, because many feeds may have the same
item. Kept items are lines of ``kept.jsonl``, whose field ``xml`` has the whole item.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from neardup.documents.columns import Columns, DocumentBatch, Mask, refuse_others
from neardup.documents.extraction.extractor import Extractor
from neardup.documents.lists import json_line
from neardup.documents.lost import Watch
from neardup.documents.memory_tables import TableChunk
from neardup.documents.news_items import FeedItem, feed_items, iso_date
from neardup.documents.open_files import OpenFiles
from neardup.documents.pieces import Piece, Trial
from neardup.documents.remote import Place
from neardup.documents.source import LineWriter, Source
from neardup.documents.streams import unreadable
from neardup.errors import UnreadableError

NO_ITEM = "there is no item in it"
NO_TEXT = "item has no text"
CHUNK_ITEMS = 1000
NAMES = FeedItem._fields
# The item is rejected because of its text, as the whole feed is in a run.
_LOST = FeedItem(None, None, None, None, None, None, None, None, "")


@dataclass(frozen=True)
class FeedChunk:
    """Some items of a feed, beginning with number ``first_row``."""

    file: str
    items: Sequence[FeedItem]
    first_row: int
    columns: Columns

    def read(self) -> DocumentBatch:
        table = _arrays(self.items)
        of = (self.file, self.first_row, self.columns)
        extra = {name: table[name] for name in self.columns.found(NAMES)}
        batch = TableChunk(*of, table["text"], table[self.columns.id_name], extra).read()
        return replace(batch, rejected=[replace(lost, reason=NO_TEXT) for lost in batch.rejected])


@dataclass
class FeedSource(Source):
    """``several``: the run reads other feeds too. Like pages, it has an ``extractor``, so that its
    texts are not extracted again."""

    path: Place
    file: str
    encoding: str | None = None
    extractor: Extractor = field(default_factory=Extractor)
    several: bool = False
    watch: Watch = field(default_factory=Watch)
    files: OpenFiles = field(default_factory=OpenFiles)
    name_group = "feeds"

    def items(self) -> list[FeedItem]:
        """Items with the ids and dates of documents. Unreadable content is an error of the file."""
        try:
            data = self.files.read_bytes(self.path)
            self.watch.check_block(1, data, self.file)
            items = feed_items(data, self.encoding)
        except UnreadableError as error:
            raise unreadable(self.path, OSError(error.reason)) from None
        except OSError as error:
            raise unreadable(self.path, error) from error
        if not items:
            raise unreadable(self.path, OSError(NO_ITEM))
        dated = [item._replace(date=iso_date(item.date)) for item in items]
        return list(self._named(dated))

    def _named(self, items: Sequence[FeedItem]) -> Iterator[FeedItem]:
        """A name that occurred before in the file gets its row, like an item without a name."""
        known: set[str] = set()
        for row, item in enumerate(items, 1):
            id_ = f"{self.file}#{item.id}" if self.several and item.id else item.id
            id_ = id_ if id_ and id_ not in known else f"{self.file}:{row}"
            known.add(id_)
            yield item._replace(id=id_)

    def name_apart(self, sources: Sequence[FeedSource]) -> None:
        for feed in sources:
            feed.several = True

    def chunks(self, columns: Columns) -> Iterator[FeedChunk]:
        refuse_others(columns, NAMES, self.file)
        items = self.items()
        for start in range(0, len(items), CHUNK_ITEMS):
            part = items[start : start + CHUNK_ITEMS]
            yield FeedChunk(self.file, part, start + 1, columns)

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:  # noqa: ARG002 (protocol)
        items = self.items()
        return [items[row - 1].text or "" for row in rows]

    def kept(self, keep: Mask) -> tuple[pa.Table, int]:
        items = self.items()
        return pa.table(_arrays(self.chosen(items, keep))), len(items)

    def chosen(self, items: Sequence[FeedItem], keep: Mask) -> list[FeedItem]:
        return [item for item, kept in zip(items, keep, strict=False) if kept]

    def copy(self, keep: Mask, out: LineWriter) -> int:
        items = self.items()
        for item in self.chosen(items, keep):
            out.write(item_line(item))
        return len(items)

    def size(self) -> float:
        return self.path.stat().st_size

    def pieces(self, columns: Columns, budget: float) -> Iterator[Piece]:
        """The start of the file, which is small."""
        items, taken = self._items_or_lost(), 0.0
        share = self.size() / len(items)
        for start in range(0, len(items), CHUNK_ITEMS):
            part = items[start : start + CHUNK_ITEMS]
            yield Piece(FeedChunk(self.file, part, 1, columns), share * len(part), [len(part)])
            taken += share * len(part)
            if taken >= budget:
                return

    def trial(self, limit: float) -> Trial:
        """Writes into memory."""
        items, written = self._items_or_lost(), 0
        for done, item in enumerate(items, 1):
            written += len(item_line(item)) if item is not _LOST else 0
            if written >= limit:
                return Trial(done / len(items), written)
        return Trial(1.0, written)

    def _items_or_lost(self) -> list[FeedItem]:
        try:
            return self.items()
        except UnreadableError:
            return [_LOST]


def item_fields(item: FeedItem) -> dict[str, str]:
    return {name: value for name, value in item._asdict().items() if value is not None}


def item_line(item: FeedItem) -> bytes:
    return json_line(item_fields(item))


def _arrays(items: Sequence[FeedItem]) -> dict[str, pa.Array]:
    columns = zip(*items, strict=True) if items else [[] for _ in NAMES]
    return {
        name: pa.array(values, pa.large_string())
        for name, values in zip(NAMES, columns, strict=True)
    }
