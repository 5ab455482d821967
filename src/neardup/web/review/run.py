"""A run folder as it is reviewed: its tables, and its inputs as far as they are what they were."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.decisions.policy import read_policy
from neardup.documents import Columns, DocumentBatch
from neardup.documents.inputs import SOURCE
from neardup.errors import InputError, NeardupError, SettingsError
from neardup.evaluation.judged_folder import judging_folder
from neardup.methods import registry
from neardup.methods.preparing import text_digests
from neardup.outputs.applying.changes import ChangeLog
from neardup.outputs.applying.ordered import put_first
from neardup.outputs.comparison import Comparison
from neardup.outputs.rerun import compare_texts
from neardup.outputs.result import Result
from neardup.outputs.texts import unchanged_texts_of
from neardup.text.options import Text
from neardup.web.review.sources import About, Read

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
        return unchanged_texts_of(self.result, ids)

    def compare(self, texts: tuple[str, str], names: tuple[str, str]) -> Comparison:
        return compare_texts(self.result, texts, names)

    def read(self) -> Iterator[Read]:
        """Documents that are not what the run read are left out, and counted by an error."""
        collection, settings = self.result.collection(), self.result.info["settings"]
        names = (self._date or USUAL_DATE, SOURCE)
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
        self, batch: DocumentBatch, seen: int, names: tuple[str, str], share: float | None
    ) -> Read:
        rows, records = seen + batch.positions(), batch.records
        there = rows < len(self.result.decisions)
        if (digests := self.result.text_digests) is not None:
            expected = digests[np.minimum(rows, len(digests) - 1)]
            there &= text_digests(records) == expected
        records = records.filter(pa.array(there))
        dates, sources = (_written(records, name) for name in names)
        return Read(rows[there], records.column("text"), dates, sources, share)

    def close(self) -> None:
        pass


def _written(records: pa.RecordBatch, name: str) -> pa.Array:
    """As text, so that ISO dates compare in their order."""
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
