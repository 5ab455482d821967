"""A store that lives as long as the process: the index without durability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from neardup.online.store import Counters, Gone, Row


class VolatileStore:
    def __init__(self, url: str = "memory:") -> None:
        self.url = url
        self._description: dict[str, Any] | None = None
        self._artefacts: dict[str, bytes] = {}
        self._counters = Counters()
        self._rows: dict[int, Row] = {}  # by seq, ascending
        self._by_id: dict[str, int] = {}
        self._linked: dict[int, list[int]] = {}

    def description(self) -> dict[str, Any] | None:
        return self._description

    def create(self, description: Mapping[str, Any], artefacts: Mapping[str, bytes]) -> None:
        self._description, self._artefacts = dict(description), dict(artefacts)

    def artefacts(self) -> dict[str, bytes]:
        return self._artefacts

    @contextmanager
    def writing(self) -> Iterator[_Journal]:
        journal = _Journal(self, self._counters)
        yield journal
        for step in journal.steps:
            step()
        self._counters = journal.counters

    def changed(self) -> bool:
        return False

    def counters(self) -> Counters:
        return self._counters

    def changes(self, since: int, *, duplicates: bool) -> Iterator[Row | Gone]:
        for seq, row in self._rows.items():
            if seq > since and (duplicates or row.kept_seq is None):
                yield row

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        return {id_: self._rows[self._by_id[id_]] for id_ in ids if id_ in self._by_id}

    def linked(self, seq: int) -> list[Row]:
        return [self._rows[one] for one in sorted(self._linked.get(seq, ()))]

    def rows(self) -> Iterator[tuple[Row, int]]:
        for row in list(self._rows.values()):
            yield row._replace(signature=b""), len(self._linked.get(row.seq, ()))

    def totals(self) -> dict[str, int]:
        kept = sum(row.kept_seq is None for row in self._rows.values())
        count = len(self._rows)
        return {"documents": count, "kept": kept, "duplicates": count - kept, "bytes": 0}

    def close(self) -> None:
        pass

    def _put(self, row: Row) -> None:
        self._rows[row.seq] = row
        self._by_id[row.id] = row.seq
        if row.kept_seq is not None:
            self._linked.setdefault(row.kept_seq, []).append(row.seq)

    def _remove(self, seq: int) -> None:
        row = self._rows.pop(seq)
        del self._by_id[row.id]
        self._linked.pop(seq, None)
        if row.kept_seq in self._linked:
            self._linked[row.kept_seq].remove(seq)

    def _relink(self, old: int, new: int) -> None:
        for seq in (linked := self._linked.pop(old, [])):
            self._rows[seq] = self._rows[seq]._replace(kept_seq=new)
        self._linked.setdefault(new, []).extend(linked)


class _Journal:
    """Steps that are taken at the end, so that a failure before leaves no trace."""

    def __init__(self, store: VolatileStore, counters: Counters) -> None:
        self._store = store
        self.counters = counters
        self.steps: list[Callable[[], object]] = []

    def put(self, rows: Sequence[Row]) -> None:
        self.steps += [lambda row=row: self._store._put(row) for row in rows]  # type: ignore[misc]

    def remove(self, seq: int, rows: Iterable[int]) -> None:  # noqa: ARG002  # no log: no one else reads
        self.steps += [lambda one=one: self._store._remove(one) for one in rows]  # type: ignore[misc]

    def expire(self, seq: int, before: int) -> int:  # noqa: ARG002
        rows = self._store._rows.values()
        old = [row.seq for row in rows if row.time < before]
        self.steps += [lambda one=one: self._store._remove(one) for one in old]  # type: ignore[misc]
        return len(old)

    def relink(self, old: int, new: int) -> None:
        self.steps.append(lambda: self._store._relink(old, new))
