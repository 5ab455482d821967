"""Checksums in a store: of every row, of the description, and of the counters with a tally.

A row has two CRC-32: one of its short columns, and one of its text, so that a reader can check what
it reads without the rest. The signature has its own (``signing.py``). The tally has the number and
the sum of the checksums of all documents and of the kept ones, so that a row that vanishes is
noticed too. SQLite has no checksums of its own, and PostgreSQL only where the server is set so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple
from zlib import crc32

from neardup.engines.index.store import LOG, Counters, Gone, Row
from neardup.errors import IndexStoreError

PASSAGES = "SELECT value FROM meta WHERE name = 'passages'"
LOW = 0xFFFFFFFF  # the bits of a checksum that do not depend on the text
CHECKSUM = "checksum"  # the column, which comes last
# Of the documents that a condition selects, what ``Tally.without`` needs.
TALLY = (
    f"SELECT kept_seq IS NULL, count(*), sum({CHECKSUM} & {LOW}) "
    "FROM documents WHERE {} GROUP BY 1"
)


def seal_of(row: Row) -> int:
    """The checksums of a row in 64 bits, as the signed number that SQL stores."""
    both = _crc(row.text) << 32 | _short_crc(row)
    return both - (1 << 64) if both >> 63 else both


def _short_crc(row: Row) -> int:
    score = None if row.score is None else float(row.score)
    return _crc(repr(row._replace(signature=b"", text=None, score=score)))


def _crc(text: str | None) -> int:
    return crc32((text or "").encode("utf-8", "surrogatepass"))


def seal_of_gone(gone: Gone) -> int:
    return _crc(repr(gone))


def check_row(row: Row, seal: Any, url: str, *, text: bool = True) -> Row:
    """The row, if it is what was stored; without ``text``, that column was not read."""
    short = isinstance(seal, int) and seal & LOW == _short_crc(row)
    if not short or (text and seal >> 32 & LOW != _crc(row.text)):
        raise damaged(url, f"the row of document {row.id!r} is not what was stored")
    return row


def check_gone(gone: Gone, seal: Any, url: str) -> Gone:
    if seal != seal_of_gone(gone):
        raise damaged(url, f"entry {gone.seq} of its log is not what was stored")
    return gone


class Tally(NamedTuple):
    """The number of documents and the sum of their checksums, and of the kept ones alone."""

    documents: int = 0
    sum: int = 0
    kept: int = 0
    kept_sum: int = 0

    def plus(self, count: int, seals: int, *, kept: bool) -> Tally:
        documents, total = self.documents + count, self.sum + seals
        if not kept:
            return self._replace(documents=documents, sum=total)
        return Tally(documents, total, self.kept + count, self.kept_sum + seals)

    def with_rows(self, rows: Iterable[Row]) -> Tally:
        tally = self
        for row in rows:
            tally = tally.plus(1, _short_crc(row), kept=row.kept_seq is None)
        return tally

    def without(self, removed: Iterable[tuple[Any, Any, Any]]) -> Tally:
        """The tally after a deletion; rows have whether documents are kept, their number, and the
        sum of their checksums."""
        tally = self
        for kept, count, seals in removed:
            tally = tally.plus(-int(count), -int(seals), kept=bool(kept))
        return tally


Counted = tuple[Counters, Tally]


class SqlWriter:
    """Removes rows in a transaction, and keeps the tally and the log of them. A store says how its
    database is asked, and which ``mark`` stands for a value in a query."""

    mark: ClassVar[str]

    def __init__(self, counters: Counters, tally: Tally) -> None:
        self.counters, self.tally = counters, tally

    def ask(self, query: str, values: Sequence[Any]) -> Iterable[tuple[Any, ...]]:
        raise NotImplementedError

    def run(self, query: str, values: Sequence[Any]) -> int:
        """How many rows it changed."""
        raise NotImplementedError

    def remove(self, seq: int, rows: Iterable[int]) -> None:
        for number, one in enumerate(rows, seq):
            self._delete("seq = ", one)
            self._log(Gone(number, one, None))
        self._prune(seq)

    def expire(self, seq: int, before: int) -> int:
        count = self._delete("time < ", before)
        self._log(Gone(seq, None, before))
        self._prune(seq)
        return count

    def _delete(self, where: str, value: int) -> int:
        self.tally = self.tally.without(self.ask(TALLY.format(where + self.mark), [value]))
        return self.run(f"DELETE FROM documents WHERE {where}{self.mark}", [value])

    def _log(self, gone: Gone) -> None:
        marks = ", ".join([self.mark] * 4)
        self.run(f"INSERT INTO gone VALUES ({marks})", [*gone, seal_of_gone(gone)])

    def put_passages(self, description: Mapping[str, Any]) -> None:
        self.run("DELETE FROM meta WHERE name = 'passages'", [])
        marks = f"{self.mark}, {self.mark}"
        self.run(
            f"INSERT INTO meta VALUES ({marks})", ["passages", written_description(description)]
        )

    def _prune(self, seq: int) -> None:
        self.run(f"DELETE FROM gone WHERE seq <= {self.mark}", [seq - LOG])


def written_counters(counters: Counters, tally: Tally) -> str:
    numbers = [*counters, *tally]
    return json.dumps([*numbers, _crc(repr(numbers))])


def read_counters(written: str, url: str) -> Counted:
    try:
        *numbers, crc = json.loads(written)
        if crc != _crc(repr(numbers)):
            raise ValueError("checksum")
        return Counters(*numbers[:2]), Tally(*numbers[2:])
    except (ValueError, TypeError) as error:
        raise damaged(url, "its counters are not what was stored") from error


def written_description(description: Mapping[str, Any]) -> str:
    written = json.dumps(description)
    return json.dumps([_crc(written), written])


def read_passages(values: Sequence[tuple[Any, ...]], url: str) -> dict[str, Any] | None:
    """What the passage index covers, from the row that ``meta`` has of it."""
    return read_description(values[0][0], url) if values else None


def read_description(written: str | None, url: str) -> dict[str, Any]:
    try:
        crc, inner = json.loads(written or "")
        if crc != _crc(inner):
            raise ValueError("checksum")
        description: dict[str, Any] = json.loads(inner)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise damaged(url, "its description is not what was stored") from error
    return description


def tallied(
    rows: Iterable[Row], counted: Callable[[], Counted], url: str, *, duplicates: bool
) -> Iterator[Row]:
    """All rows of an index. Raises an error at the end if some are missing, unless somebody wrote
    meanwhile."""
    before, number, total = counted(), 0, 0
    for row in rows:
        number, total = number + 1, total + _short_crc(row)
        yield row
    tally = before[1]
    expected = (tally.documents, tally.sum) if duplicates else (tally.kept, tally.kept_sum)
    if (number, total) != expected and counted() == before:
        raise damaged(url, f"it has {number:,} of {expected[0]:,} documents, or different ones")


def damaged(url: str, what: str) -> IndexStoreError:
    return IndexStoreError(
        f"The index {url} is damaged: {what}.",
        hint="restore it from a copy, or build it again; `neardup verify` checks all of it.",
    )
