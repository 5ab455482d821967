"""The source of a review: the folder of a run, or the store of an index.

Both give a table of decisions, a table of pairs, and the documents as far as they can be read. The
inputs of a run are used only if they did not change since. A run can be changed by hand
(``runs/history.py``). An index decides in the order of arrival and has its own ways to change, so
its review only shows the documents as they were when it was read.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.decisions.policy import Policy, read_policy
from neardup.decisions.rule import rule_clusters
from neardup.documents.columns import Columns, DocumentBatch
from neardup.documents.inputs import SOURCE
from neardup.engines.index.entries import entry_of, moment
from neardup.engines.index.store import Row, no_index, open_store
from neardup.errors import InputError, NeardupError, SettingsError
from neardup.labels.samples import judging_folder
from neardup.methods import registry
from neardup.methods.base import Method
from neardup.methods.preparation import text_digests
from neardup.runs.changes import ChangeLog
from neardup.runs.comparison import Comparison, compare
from neardup.runs.explanation import compare_texts
from neardup.runs.export import TITLE
from neardup.runs.policy_order import put_first
from neardup.runs.result import Result
from neardup.runs.texts_again import texts_of
from neardup.schema import Array
from neardup.text.text_options import Text


class Read(NamedTuple):
    """Some documents as they are read: rows of the decisions, their texts, and as texts their
    dates, their own sources and their titles; null where there is none. ``share`` of everything has
    been read with them, None where nobody knows."""

    rows: Array
    texts: pa.Array
    dates: pa.Array
    sources: pa.Array
    titles: pa.Array
    share: float | None


@dataclass(frozen=True)
class About:
    """``what`` is "run" or "index". ``threshold`` None: no score is one. ``date``: the name of the
    dates that documents have. ``partial``: why pairs say nothing of other thresholds, if so."""

    what: str
    name: str
    method: str
    threshold: float | None
    date: str | None
    partial: str | None
    command: str


class Source(Protocol):
    @property
    def about(self) -> About: ...

    @property
    def words(self) -> Text | None:
        """How the texts were cut into words."""
        ...

    @property
    def policy(self) -> Policy | None: ...

    @property
    def result(self) -> Result | None:
        """What a new threshold is asked of."""
        ...

    @property
    def log(self) -> ChangeLog | None: ...

    @property
    def judging(self) -> Path | None:
        """The folder of judgements."""
        ...

    def decided(self, first: Sequence[str]) -> tuple[pa.Table, pa.Table, pa.Table | None]:
        """Decisions and pairs when these documents come first, and the actions of the policy as
        they were written, where nobody was put first."""
        ...

    def texts(self, ids: Iterable[str]) -> dict[str, str]:
        """What is not found, or is not what it was, is left out."""
        ...

    def read(self) -> Iterator[Read]:
        """All documents. Stops with an error where they cannot be read."""
        ...

    def compare(self, texts: tuple[str, str], names: tuple[str, str]) -> Comparison: ...

    def close(self) -> None: ...


def open_source(target: str) -> Source:
    """A folder is a run; all else is the address of an index."""

    if Path(target).is_dir():
        return RunSource(Path(target))
    if "://" not in target and not Path(target.removeprefix("sqlite:")).exists():
        raise InputError(
            f"There is no {target}: expected the folder of a run or the store of an index.",
            hint="`neardup dedup INPUT -o RUN` makes a run, `neardup index build` an index.",
        )
    return IndexSource(target)


USUAL_DATE = "date"  # looked for where the run names no column


class RunSource:
    def __init__(self, folder: Path) -> None:
        self.result = Result.load(folder)
        settings = self.result.info["settings"]
        self.log: ChangeLog | None = ChangeLog(folder)
        self.log.read()  # what cannot be read is said now
        self.policy = read_policy(settings["policy"]) if settings.get("policy") else None
        self.judging: Path | None = judging_folder(folder)
        self._date = settings["date"] or (self.policy.date if self.policy else None)
        self.about = About(
            what="run",
            name=str(folder),
            method=settings["method"],
            threshold=self.result.threshold,
            date=self._date or USUAL_DATE,
            partial=_partial(self.result),
            command=_command(folder),
        )

    @property
    def words(self) -> Text | None:
        settings = self.result.info["settings"]
        try:
            method = registry.build(settings["method"], settings["parameters"])
        except SettingsError:  # a method that is not registered here
            return None
        return getattr(method, "text", None)

    def decided(self, first: Sequence[str]) -> tuple[pa.Table, pa.Table, pa.Table | None]:
        if first:
            made = put_first(self.result, first)
            return made.decisions, made.pairs, None
        actions = self.result.known_actions
        return self.result.decisions, self.result.pairs, actions() if actions else None

    def texts(self, ids: Iterable[str]) -> dict[str, str]:
        return texts_of(self.result, ids)

    def compare(self, texts: tuple[str, str], names: tuple[str, str]) -> Comparison:
        return compare_texts(self.result, texts, names)

    def read(self) -> Iterator[Read]:
        """Documents that are not what the run read are left out, and counted by an error."""
        collection, settings = self.result.collection(), self.result.info["settings"]
        names = (self._date or USUAL_DATE, SOURCE, TITLE)
        columns = Columns(settings["text"], settings["id"], names, optional=names)
        total, size, seen, whole = len(self.result.decisions), 0, 0, collection.plain_size()
        left = np.asarray(pc.not_equal(self.result.decisions["decision"], schema.REJECTED)).copy()
        for chunk in collection.chunks(columns):
            batch = chunk.read()
            if seen >= total:
                break
            size += batch.size
            made = self._read(batch, seen, names, size / whole if whole else None)
            yield made
            left[made.rows] = False
            seen += len(batch)
        if left.any():
            raise InputError(
                f"{int(left.sum()):,} of {total:,} documents are gone from the inputs or were "
                "changed since the run.",
                hint="their texts come back with the inputs as they were.",
            )

    def _read(
        self, batch: DocumentBatch, seen: int, names: Sequence[str], share: float | None
    ) -> Read:
        rows, records = seen + batch.positions(), batch.records
        there = rows < len(self.result.decisions)
        if (digests := self.result.text_digests) is not None:
            expected = digests[np.minimum(rows, len(digests) - 1)]
            there &= text_digests(records) == expected
        records = records.filter(pa.array(there))
        dates, sources, titles = (_written(records, name) for name in names)
        return Read(rows[there], records.column("text"), dates, sources, titles, share)

    def close(self) -> None:
        pass


def _written(records: pa.RecordBatch, name: str) -> pa.Array:
    """The column as text, so that ISO dates compare in their order."""
    place = records.schema.get_field_index(name)
    if place >= 0:
        with suppress(pa.ArrowException):
            return records.column(place).cast(pa.large_string())
    return pa.nulls(len(records), pa.large_string())


def _partial(result: Result) -> str | None:
    settings = result.info["settings"]
    if result.info.get("against"):
        return "The run was made against references, whose documents it does not hold."
    if not result.pairs_complete:
        return (
            "The run listed only the pairs with a kept document, so it cannot say what another "
            "threshold would decide."
        )
    try:
        names = registry.parameter_names(registry.method_class(settings["method"]))
    except NeardupError:
        return f"The method {settings['method']} is not registered here."
    if "threshold" not in names:
        return f"{settings['method']} has no threshold to change."
    return None


def _command(folder: Path) -> str:
    import shlex

    return shlex.join(["neardup", "apply", str(folder)])


SHOWN_AS_FILE = ""  # documents of an index stand in no file


class IndexSource:
    """An index as it was when it was opened, but for texts, which are read when they are asked
    for."""

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
            partial="An index stores each duplicate with its kept document only, not all pairs.",
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
        pa.nulls(len(rows), pa.large_string()),
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
        "decision": schema.coded_column(aside.astype(np.int64), schema.DECIDED),
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
