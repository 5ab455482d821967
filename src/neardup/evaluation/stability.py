"""Counts the signatures that change if an idf table is replaced by another (Conrad et al.,
§6.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.artefacts.idf import IdfTable
from neardup.artefacts.idf_agreement import LONGEST, Signatures
from neardup.decisions.order import plain
from neardup.documents.collection import collect
from neardup.documents.columns import Columns
from neardup.engines.batch.table_pass import Pass, Seen, count
from neardup.progress import Progress, Silent
from neardup.settings import check_positive, worker_count

Counts = npt.NDArray[np.int64]


@dataclass
class Changes:
    """The number of ``documents`` whose signature changes; entry *n* − 1 is for *n* terms."""

    documents: int
    as_set: Counts
    as_list: Counts

    def add(self, other: Changes) -> None:
        self.documents += other.documents
        self.as_set += other.as_set
        self.as_list += other.as_list

    def shares(self) -> list[dict[str, float | int]]:
        """A row for each length of signature."""
        total = max(self.documents, 1)
        pairs = zip(self.as_set.tolist(), self.as_list.tolist(), strict=True)
        return [
            {"n": n, "as_set": s / total, "as_list": ranked / total}
            for n, (s, ranked) in enumerate(pairs, 1)
        ]


@dataclass
class Stability:
    """``unknown`` counts documents without a term in either table; they are in no other count."""

    total: Changes
    groups: dict[str, Changes] = field(default_factory=dict)
    unknown: int = 0
    seen: Seen = field(default_factory=Seen)

    def data(self) -> dict[str, Any]:
        groups = {
            name: {"documents": changes.documents, "changed": changes.shares()}
            for name, changes in self.groups.items()
        }
        return {
            "documents": self.total.documents,
            "without_terms": self.unknown,
            "rejected": self.seen.rejected,
            "changed": self.total.shares(),
            **({"within": groups} if groups else {}),
        }


class _Tally:
    def __init__(self, signatures: Signatures, within: str | None) -> None:
        self._signatures, self._within = signatures, within
        self.result = Stability(self._nothing())

    def _nothing(self) -> Changes:
        length = self._signatures.longest
        return Changes(0, np.zeros(length, np.int64), np.zeros(length, np.int64))

    def count(self, batch: pa.RecordBatch) -> Stability:
        changed = self._signatures.changed(batch.column("text"))
        part = Stability(_summed(changed.as_set, changed.as_list))
        part.unknown = int((~changed.known).sum())
        if self._within:
            column = batch.column(self._within).filter(pa.array(changed.known))
            for name, rows in _groups(column, self._within):
                part.groups[name] = _summed(changed.as_set[rows], changed.as_list[rows])
        return part

    def add(self, part: Stability) -> None:
        self.result.total.add(part.total)
        self.result.unknown += part.unknown
        for name, changes in part.groups.items():
            self.result.groups.setdefault(name, self._nothing()).add(changes)


def _summed(as_set: npt.NDArray[np.bool_], as_list: npt.NDArray[np.bool_]) -> Changes:
    return Changes(len(as_set), as_set.sum(axis=0), as_list.sum(axis=0))


def _groups(column: pa.Array, name: str) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    encoded = pc.dictionary_encode(plain(column, name), null_encoding="encode")
    codes = np.asarray(encoded.indices)
    for code, value in enumerate(encoded.dictionary.to_pylist()):
        yield "(none)" if value is None else str(value), codes == code


def stability(
    a: IdfTable,
    b: IdfTable,
    documents: Any,
    *,
    longest: int = LONGEST,
    column: str = "text",
    within: str | None = None,
    workers: int | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Stability:
    """Changes of signatures of 1 to ``longest`` terms, also for each value of ``within``."""
    for name, value in (("longest", longest), ("limit", limit)):
        check_positive(name, value)
    columns = Columns(text=column, extra=(within,) if within else ())
    collection, reporter = collect(documents), progress or Silent()
    reporter.stage("signing", limit, unit="documents", total_bytes=collection.plain_size())
    tally = _Tally(Signatures(a, b, longest), within)
    seen = count(collection, [tally], Pass(columns, worker_count(workers), limit), reporter)
    tally.result.seen = seen
    tally.result.groups = dict(sorted(tally.result.groups.items()))
    return tally.result
