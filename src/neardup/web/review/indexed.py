"""The store of an index as it is reviewed: its documents as they were when it was read."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from neardup import schema
from neardup.decisions.clusters import rule_clusters
from neardup.errors import NeardupError
from neardup.evaluation.judged_folder import judging_folder
from neardup.methods import registry
from neardup.methods.method import Method
from neardup.online.entries import entry_of, moment
from neardup.online.store import Row, no_index, open_store
from neardup.outputs.comparison import Comparison, compare
from neardup.outputs.tables import decision_column
from neardup.text.options import Text
from neardup.web.review.sources import About, Read

SHOWN_AS_FILE = ""  # documents of an index stand in no file


class IndexSource:
    """As it was when it was opened, but for texts, which are read when they are asked for."""

    policy, result, log = None, None, None

    def __init__(self, url: str) -> None:
        self._lock = threading.Lock()
        self._store = open_store(url, create=False)
        try:
            description = self._store.description()
            if description is None:
                raise no_index(self._store.url)
            self._rows = [
                (row._replace(text=None), copies) for page in self._pages() for row, copies in page
            ]
        except BaseException:
            self._store.close()
            raise
        self._stores_texts = bool(description["texts"])
        self._method = _method(description)
        file = Path(url.removeprefix("sqlite:"))
        judgeable = self._stores_texts and "://" not in url  # who judges reads
        self.judging: Path | None = judging_folder(file) if judgeable else None
        self.about = About(
            what="index",
            name=self._store.url,  # without a password
            method=description["method"],
            threshold=self._method.threshold if self._method else None,
            date="arrival" if description["date"] is None else description["date"],
            partial="An index knows of each duplicate only the document that it was set aside for.",
            command="",
        )

    def _pages(self) -> Iterator[list[tuple[Row, int]]]:
        last = 0
        while page := self._page(last):
            yield page
            last = page[-1][0].seq

    def _page(self, last: int) -> list[tuple[Row, int]]:
        with self._lock:
            return self._store.rows(last)

    @property
    def words(self) -> Text | None:
        return getattr(self._method, "text", None)

    def decided(self, first: Sequence[str]) -> tuple[pa.Table, pa.Table, None]:  # noqa: ARG002
        """Clusters: a kept document and what was set aside for it."""
        table = _decisions(self._rows)
        aside = table.filter(pa.compute.is_valid(table["kept_id"]))
        pairs = pa.table(
            {
                "a": aside["kept_id"],
                "b": aside["id"],
                **{name: aside[name] for name in ("score", "kind")},
                "direction": pa.nulls(len(aside), schema.PAIRS.field("direction").type),
                "confidence": pa.nulls(len(aside), pa.float64()),
            },
            schema=schema.PAIRS,
        )
        return table, pairs, None

    def texts(self, ids: Iterable[str]) -> dict[str, str]:
        with self._lock:
            found = self._store.get(list(ids))
        return {id: row.text for id, row in found.items() if row.text is not None}

    def compare(self, texts: tuple[str, str], names: tuple[str, str]) -> Comparison:
        return compare(*texts, names=names)

    def read(self) -> Iterator[Read]:
        """What came since is left out, and so is the text of what has gone or was replaced."""
        place = {row.seq: i for i, (row, _) in enumerate(self._rows)}
        done = 0
        for page in self._pages():
            known = [row for row, _ in page if row.seq in place]
            done += len(known)
            yield _read(known, place, done / max(len(place), 1))
        if place and not self._stores_texts:
            raise NeardupError(
                "The index does not store the texts of its documents.",
                hint="`neardup index build --texts` makes one that does.",
            )

    def close(self) -> None:
        with self._lock:
            self._store.close()


def _read(rows: list[Row], place: dict[int, int], share: float) -> Read:
    times = [moment(row.time).isoformat(timespec="seconds") for row in rows]
    return Read(
        np.array([place[row.seq] for row in rows], np.int64),
        pa.array([row.text for row in rows], pa.large_string()),
        pa.array(times, pa.large_string()),
        pa.array([row.within for row in rows], pa.large_string()),
        share,
    )


def _method(description: dict[str, object]) -> Method | None:
    try:
        return registry.build(str(description["method"]), description["parameters"])  # type: ignore[arg-type]
    except NeardupError:
        return None


def _decisions(rows: list[tuple[Row, int]]) -> pa.Table:
    entries = [entry_of(row, copies) for row, copies in rows]
    place = {row.seq: i for i, (row, _) in enumerate(rows)}
    # What a duplicate was set aside for may have left the index since.
    kept_of = np.array([place.get(row.kept_seq or -1, -1) for row, _ in rows], np.int64)
    cluster = rule_clusters(kept_of)
    aside = np.array([entry.decision == schema.DUPLICATE for entry in entries], np.bool_)
    count = len(rows)
    columns = {
        "id": [entry.id for entry in entries],
        "file": pa.array([SHOWN_AS_FILE] * count, pa.large_string()).dictionary_encode(),
        "row": pa.array([row.seq for row, _ in rows], pa.int64()),
        "source": pa.array([entry.within for entry in entries], pa.large_string()),
        "decision": decision_column(aside.astype(np.int64)),
        "reason": [entry.reason for entry in entries],
        "kept_id": [entry.kept_id for entry in entries],
        "score": [entry.score for entry in entries],
        "kind": pa.array([entry.kind for entry in entries], pa.string()),
        "cluster": pa.array(cluster, mask=cluster < 0),
        "ref": pa.array(np.zeros(count, np.bool_)),
    }
    for field in schema.DECISIONS:
        given = columns.setdefault(field.name, pa.nulls(count, field.type))
        columns[field.name] = given if isinstance(given, pa.Array) else pa.array(given, field.type)
    made = {
        name: column.cast(schema.DECISIONS.field(name).type) for name, column in columns.items()
    }
    return pa.table(made).select(schema.DECISIONS.names).cast(schema.DECISIONS)
