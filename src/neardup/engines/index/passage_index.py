"""The passage index of a store: which documents may share a passage with a text.

Documents meet by anchors, a sample of their word grams (``native/passages/anchors.hpp``). The
anchors of most documents are in the rows of the store, each with a digest. Those of documents that
arrived later, at most an eighth, are computed from their texts when the index is first asked, and
held in memory. Rows are written when a whole collection has been added. The texts of the store
decide in the end: a row may name a document that is gone, and every copy is found in the texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, cast

import numpy as np

from neardup import _native
from neardup.engines.index.seals import damaged
from neardup.engines.index.store import Row, Store, Writer
from neardup.errors import IndexStoreError, SettingsError
from neardup.passages.provenance import ANCHOR, ANCHOR_WINDOW, Source
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text

VERSION = 1  # of the rows and of the anchors in them
FEWEST = 2000  # documents in memory that are worth writing
SHARE = 8  # rows are written if the documents in memory are one of so many
ROWS, ROWS_AT_ONCE = 1 << 18, 1 << 12
_LOW, _NUMBER = 16, 30  # bits of an anchor beside its row, and of the number of a document
_SLICE = 1 << 25  # postings that are merged into the rows at once
_KNOWN = 1 << 28  # bytes of rows that are held in memory
_ASKED = 20_000  # anchors that are looked up at once
_NOTHING = np.empty(0, np.uint32)
_FIRST = np.ones(1, np.bool_)


class PassageIndex:
    """Reads and writes the passage index of a store; the holder takes care of threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._upto = self._seen = 0
        self._recent: list[Array] = []  # sorted postings, each list at most half of the one before
        self._forget_rows()

    def sharing(self, anchors: Array) -> Iterator[Source]:
        """The documents that have one of the anchors, which are sorted, in order of arrival."""
        self._catch_up()
        found = [
            part
            for first in range(0, len(anchors), _ASKED)
            for part in self._found(anchors[first : first + _ASKED])
        ]
        # One part is sorted already, and has each document once.
        one = found[0] if len(found) == 1 else np.unique(np.concatenate([_NOTHING, *found]))
        numbers = one.tolist()
        for row in self._store.numbered(numbers):
            yield Source(row.seq, row.id, _text(row))

    def _found(self, anchors: Array) -> Iterator[Array]:
        if self._upto:
            yield self._stored(anchors)
        for postings in self._recent:
            begin = np.searchsorted(postings, anchors << _NUMBER)
            end = np.searchsorted(postings, (anchors + np.uint64(1)) << _NUMBER)
            for at in np.flatnonzero(end > begin).tolist():
                yield _numbers(postings[begin[at] : end[at]])

    def _stored(self, anchors: Array) -> Array:
        high = anchors >> _LOW  # sorted
        rows = high[np.concatenate([_FIRST, high[1:] != high[:-1]])[: len(high)]]
        data = self._rows(rows.tolist())
        try:
            return _native.find_anchors(data, rows, anchors)
        except ValueError as error:
            raise self._damaged(error) from error

    def _rows(self, numbers: list[int]) -> list[bytes]:
        """Rows of the store, those that were read before from memory."""
        known = self._known
        rows = list(map(known.get, numbers))
        if None in rows:
            missing = [n for n, row in zip(numbers, rows, strict=True) if row is None]
            known |= self._store.anchors(missing)
            rows = list(map(known.get, numbers))
            if None in rows:
                raise damaged(self._store.url, "its passage index lacks a row")
            self._known_bytes += sum(len(known[number]) for number in missing)
        if self._known_bytes > _KNOWN:
            self._forget_rows()
        return cast("list[bytes]", rows)

    def _forget_rows(self) -> None:
        self._known: dict[int, bytes] = {}
        self._known_bytes = 0

    def _damaged(self, error: ValueError) -> IndexStoreError:
        return damaged(self._store.url, f"{error} of its passage index is not what was stored")

    def _catch_up(self) -> None:
        """Takes in the documents that arrived since, and forgets those that are in rows now."""
        upto = self._covered()["upto"]
        if upto != self._upto:
            self._upto = self._seen = upto
            self._recent = []
            self._forget_rows()
        if self._store.counters().last > self._seen:
            for rows in self._pages(self._seen):
                self._take(_postings(rows))
                self._seen = rows[-1].seq

    def _covered(self) -> dict[str, Any]:
        about = self._store.passages() or {"version": VERSION, "upto": 0, "documents": 0}
        if about["version"] != VERSION:
            raise IndexStoreError(
                f"The passage index of {self._store.url} has version {about['version']}; this "
                f"version of neardup reads {VERSION}.",
                hint="build the index again, or make a new one with `neardup index refresh`.",
            )
        return about

    def _pages(self, since: int) -> Iterator[list[Row]]:
        while page := self._store.rows(since):
            yield [row for row, _ in page]
            since = page[-1][0].seq

    def _take(self, postings: Array) -> None:
        self._recent.append(postings)
        while len(self._recent) > 1 and len(self._recent[-2]) < 2 * len(self._recent[-1]):
            self._recent[-2:] = [np.sort(np.concatenate(self._recent[-2:]))]

    def write(self, writer: Writer, last: int) -> bool:
        """Writes rows for all documents up to number ``last``, if enough of them have none."""
        about, size = self._covered(), self._store.size()
        if size - about["documents"] < max(FEWEST, size // SHARE):
            return False
        alive = np.array(self._store.numbers(), np.uint64)
        some: list[Array] = []
        begun = bool(about["upto"])
        for rows in self._pages(about["upto"]):
            some.append(_postings(rows))
            if sum(map(len, some)) >= _SLICE:
                self._merge(writer, some, alive if begun else None)
                some, begun = [], True
        self._merge(writer, some, alive if begun else None)
        writer.put_passages({"version": VERSION, "upto": last, "documents": size})
        return True

    def _merge(self, writer: Writer, some: list[Array], alive: Array | None) -> None:
        """Adds postings to the rows; from rows that exist, only documents that are ``alive`` are
        kept."""
        new = np.sort(np.concatenate([np.empty(0, np.uint64), *some]))
        for first in range(0, ROWS, ROWS_AT_ONCE):
            begin, end = np.searchsorted(new, self._bounds(first))
            postings = new[begin:end]
            if alive is not None:
                old = self._row_postings(first)
                postings = np.concatenate([postings, old[np.isin(_numbers(old), alive)]])
            values, offsets = _native.pack_anchors(np.sort(postings), first, ROWS_AT_ONCE)
            data = values.tobytes()
            parts = (data[begin:end] for begin, end in pairwise(offsets.tolist()))
            writer.put_anchors(enumerate(parts, first))

    def _bounds(self, first: int) -> Array:
        return np.array([first, first + ROWS_AT_ONCE], np.uint64) << np.uint64(_LOW + _NUMBER)

    def _row_postings(self, first: int) -> Array:
        found = self._store.anchors(range(first, first + ROWS_AT_ONCE))
        if len(found) != ROWS_AT_ONCE:
            raise damaged(self._store.url, "its passage index lacks a row")
        numbers = np.array([number for number, _ in found], np.uint64)
        try:
            return _native.unpack_anchors([data for _, data in found], numbers)
        except ValueError as error:
            raise self._damaged(error) from error

    def check(self) -> None:
        """Raises an error if a row is damaged, or a document in them has other anchors."""
        if not (upto := self._covered()["upto"]):
            return
        stored = [self._row_postings(first) for first in range(0, ROWS, ROWS_AT_ONCE)]
        counts = np.bincount(_numbers(np.concatenate(stored)), minlength=upto + 1)
        for rows in self._pages(0):
            some = [row for row in rows if row.seq <= upto]
            found = np.bincount(_numbers(_postings(some)), minlength=upto + 1)
            there = np.array([row.seq for row in some], np.int64)
            if not np.array_equal(counts[there], found[there]):
                raise damaged(self._store.url, "its passage index has other anchors than its texts")


def _numbers(postings: Array) -> Array:
    return (postings & np.uint64((1 << _NUMBER) - 1)).astype(np.uint32)


def _postings(rows: list[Row]) -> Array:
    """The sorted postings of documents, from their texts."""
    if rows and rows[-1].seq >= 1 << _NUMBER:
        raise IndexStoreError(
            f"A passage index numbers {1 << _NUMBER:,} events, and there were more.",
            hint="make a new one with `neardup index refresh`.",
        )
    texts = Ragged.of_texts([_text(row) for row in rows])
    words = _native.word_hashes(texts.values, texts.offsets, Text().native())
    anchors, offsets = _native.anchors(*words, ANCHOR, ANCHOR_WINDOW)
    numbers = np.repeat(np.array([row.seq for row in rows], np.uint64), np.diff(offsets))
    return np.sort(anchors << np.uint64(_NUMBER) | numbers)


def _text(row: Row) -> str:
    if row.text is None:
        raise SettingsError(
            "The index has no texts, so passages cannot be found in it.",
            hint="make it with `neardup index build … --passages`, or passages=True.",
        )
    return row.text
