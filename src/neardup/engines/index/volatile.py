"""A store that lasts as long as the process: an index without durability."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from neardup.engines.index.store import PAGE, Counters, Gone, Row


class VolatileStore:
    def __init__(self, url: str = "memory:") -> None:
        self.url = url
        self._description: dict[str, Any] | None = None
        self._artefacts: dict[str, bytes] = {}
        self._counters = Counters()
        self._rows: dict[int, Row] = {}
        self._by_id: dict[str, int] = {}
        self._linked: dict[int, list[int]] = {}
        self._passages: dict[str, Any] | None = None
        self._anchors: dict[int, bytes] = {}
        self._order: list[int] | None = None  # numbers, ascending; None after a change

    def description(self) -> dict[str, Any] | None:
        return self._description

    def create(self, description: Mapping[str, Any], artefacts: Mapping[str, bytes]) -> None:
        self._description, self._artefacts = dict(description), dict(artefacts)

    def artefacts(self) -> dict[str, bytes]:
        return self._artefacts

    @contextmanager
    def writing(self) -> Iterator[_Writer]:
        writer = _Writer(self, self._counters)
        try:
            yield writer
        except BaseException:
            writer.undo()
            raise
        self._counters = writer.counters

    def changed(self) -> bool:
        return False

    def counters(self) -> Counters:
        return self._counters

    def changes(self, since: int, *, duplicates: bool) -> Iterator[Row | Gone]:
        for row in [self._rows[number] for number in self._numbers()]:
            if row.seq > since and (duplicates or row.kept_seq is None):
                yield row

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        return {id_: self._rows[self._by_id[id_]] for id_ in ids if id_ in self._by_id}

    def known(self, ids: Sequence[str]) -> set[str]:
        return self._by_id.keys() & set(ids)

    def linked(self, seq: int) -> list[Row]:
        return [self._rows[one] for one in sorted(self._linked.get(seq, ()))]

    def rows(self, since: int = 0, *, texts: bool = True) -> list[tuple[Row, int]]:
        numbers = self._numbers()
        first = bisect_right(numbers, since)
        light = [self._rows[n]._replace(signature=b"") for n in numbers[first : first + PAGE]]
        light = light if texts else [row._replace(text=None) for row in light]
        return [(row, len(self._linked.get(row.seq, ()))) for row in light]

    def numbered(self, numbers: Sequence[int]) -> list[Row]:
        return [self._rows[n]._replace(signature=b"") for n in sorted(numbers) if n in self._rows]

    def numbers(self) -> list[int]:
        return list(self._numbers())

    def size(self) -> int:
        return len(self._rows)

    def passages(self) -> dict[str, Any] | None:
        return self._passages

    def anchors(self, numbers: Sequence[int]) -> list[tuple[int, bytes]]:
        return [(n, self._anchors[n]) for n in numbers if n in self._anchors]

    def _numbers(self) -> list[int]:
        if self._order is None:
            self._order = sorted(self._rows)
        return self._order

    def totals(self) -> dict[str, int]:
        kept = sum(row.kept_seq is None for row in self._rows.values())
        count = len(self._rows)
        return {"documents": count, "kept": kept, "duplicates": count - kept, "bytes": 0}

    def structure_faults(self) -> list[str]:
        return []

    def close(self) -> None:
        pass

    def _put(self, row: Row) -> None:
        self._order = None
        self._rows[row.seq] = row
        self._by_id[row.id] = row.seq
        if row.kept_seq is not None:
            self._linked.setdefault(row.kept_seq, []).append(row.seq)

    def _remove(self, seq: int) -> Row:
        self._order = None
        row = self._rows.pop(seq)
        del self._by_id[row.id]
        if row.kept_seq is not None:
            self._linked[row.kept_seq].remove(seq)
            if not self._linked[row.kept_seq]:
                del self._linked[row.kept_seq]
        return row


class _Writer:
    """Records how to undo each of its changes, so that a failure leaves no trace."""

    def __init__(self, store: VolatileStore, counters: Counters) -> None:
        self._store = store
        self._undo: list[Callable[[], object]] = []
        self.counters = counters

    def undo(self) -> None:
        for step in reversed(self._undo):
            step()

    def put(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self._store._put(row)
            self._undo.append(partial(self._store._remove, row.seq))

    def remove(self, seq: int, rows: Iterable[int]) -> None:  # noqa: ARG002  # no one reads a log
        for one in rows:
            self._undo.append(partial(self._store._put, self._store._remove(one)))

    def expire(self, seq: int, before: int) -> int:
        old = [row.seq for row in self._store._rows.values() if row.time < before]
        self.remove(seq, old)
        return len(old)

    def put_anchors(self, rows: Iterable[tuple[int, bytes]]) -> None:
        self._undo.append(partial(setattr, self._store, "_anchors", dict(self._store._anchors)))
        self._store._anchors |= dict(rows)

    def put_passages(self, description: Mapping[str, Any]) -> None:
        self._undo.append(partial(setattr, self._store, "_passages", self._store._passages))
        self._store._passages = dict(description)
