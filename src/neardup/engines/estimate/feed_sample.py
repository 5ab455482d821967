"""Samples of feeds: whole files, which are small."""

from __future__ import annotations

from collections.abc import Iterator

from neardup.documents import Columns
from neardup.documents.feeds import CHUNK_ITEMS, FeedChunk, FeedItem, FeedSource, item_line
from neardup.engines.estimate.pieces import Piece, Trial
from neardup.errors import UnreadableError

# Rejected for its text, as the whole feed is in a run.
_LOST = FeedItem(None, None, None, None, None, None, None, None, "")


def size(source: FeedSource) -> float:
    return source.path.stat().st_size


def each(source: FeedSource) -> float:  # noqa: ARG001 (as of other formats)
    """0: only reading would tell."""
    return 0.0


def pieces(source: FeedSource, columns: Columns, budget: float) -> Iterator[Piece]:
    items = _items(source)
    share, taken = size(source) / len(items), 0.0
    for start in range(0, len(items), CHUNK_ITEMS):
        part = items[start : start + CHUNK_ITEMS]
        yield Piece(FeedChunk(source.file, part, 1, columns), share * len(part), [len(part)])
        taken += share * len(part)
        if taken >= budget:
            return


def _items(source: FeedSource) -> list[FeedItem]:
    try:
        return source.items()
    except UnreadableError:
        return [_LOST]


def rewrite(source: FeedSource, limit: float) -> Trial:
    """Into memory."""
    written = 0
    items = _items(source)
    for done, item in enumerate(items, 1):
        written += len(item_line(item)) if item is not _LOST else 0
        if written >= limit:
            return Trial(done / len(items), written)
    return Trial(1.0, written)
