"""Pass 0 on one machine: the artefacts that the method needs, before any document is prepared.

An artefact comes from the file that the user named; otherwise from a run that this one is built on,
because evidence made with different tables cannot be compared; otherwise it is counted from
references and input.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from neardup.artefacts.artefact import Artefact, Need, ReadyNeed, Tally
from neardup.artefacts.calibration import Calibration, load_calibration
from neardup.artefacts.idf import IdfNeed, IdfTable
from neardup.classes import dataclass
from neardup.documents.collection import Collection, collect, collect_inputs
from neardup.documents.columns import Chunk, Columns, DocumentBatch, Rejected
from neardup.documents.source import chunk_results, read_chunk
from neardup.engines.batch import threshold_choice
from neardup.engines.batch.batch_run import run
from neardup.engines.batch.journal import Journal
from neardup.plan import Plan
from neardup.progress import Progress, Silent
from neardup.runs.checksums import Checksums
from neardup.runs.run_folder import ARTEFACTS
from neardup.runs.run_info import is_run
from neardup.settings import check_positive, worker_count

SHOWN_REJECTED = 3


def with_artefacts(
    collection: Collection, plan: Plan, progress: Progress, journal: Journal | None = None
) -> Plan:
    """The plan with all artefacts that its method needs; refuses those that do not fit."""
    _check_columns(collection, plan)
    needs = plan.method.needs
    artefacts = {need.name: artefact for need in needs if (artefact := at_hand(need, plan.against))}
    missing = [need for need in needs if need.name not in artefacts]
    if missing and journal and (counted := journal.artefacts(missing)):
        artefacts |= counted
    elif missing:
        counted = _counted(missing, collection, plan, progress)
        artefacts |= counted
        if journal:
            journal.check_readable(collection)
            journal.keep_artefacts(counted)
    plan.method.check_artefacts(artefacts)
    return _as_calibrated(collection, replace(plan, artefacts=artefacts), progress)


def _as_calibrated(collection: Collection, plan: Plan, progress: Progress) -> Plan:
    """The plan with the calibration of the run that this one is built on. Without such a run,
    groups or known answers calibrate it now, or the scores do so later."""
    if not plan.method.calibrate and not plan.planted_cut:
        return plan
    if stored := stored_calibration(plan):
        return threshold_choice.with_calibration(plan, stored)
    if not plan.planted_cut:
        return plan
    found = _grouped_cut(collection, plan, progress) if plan.method.groups_choose else None
    found = found or threshold_choice.planted_cut(collection, plan, progress)
    return threshold_choice.with_calibration(plan, found)


def _grouped_cut(collection: Collection, plan: Plan, progress: Progress) -> Calibration | None:
    """The threshold by the consistency of groups, from a run at the lowest one."""
    outcome, _ = run(collection, threshold_choice.wide_plan(plan), progress)
    outcome.intake.store.close()
    leading = np.unique(outcome.leader)
    places = np.searchsorted(leading, np.arange(len(outcome.leader)))
    names = outcome.intake.prepared.digests[leading]
    return threshold_choice.consistent_cut(plan, outcome.pairs.mapped(places), names)


def stored_calibration(plan: Plan) -> Calibration | None:
    """The calibration of the run that this one is built on."""
    for folder in plan.against:
        if stored := _stored(folder, threshold_choice.NAME):
            return load_calibration(stored)
    return None


def _stored(run: Path | str, name: str) -> Path | None:
    """The file of an artefact, undamaged, in a reference that is a run."""
    file = f"{ARTEFACTS}/{name}.arrow"
    if not isinstance(run, Path) or not (run / file).exists():
        return None
    return Checksums(run).check(file)


def _check_columns(collection: Collection, plan: Plan) -> None:
    if not plan.method.columns:
        return
    for chunk in collection.chunks(plan.columns):
        records = chunk.read().records
        if records.num_rows:
            plan.method.check_columns(records)
            break


def at_hand(need: Need, against: Sequence[Path | str]) -> Artefact | None:
    if need.file is not None:
        return need.load(Path(need.file))
    if isinstance(need, ReadyNeed):
        return need.ready()
    for folder in against:
        if stored := _stored(folder, need.name):
            return need.load(stored)
    return None


def _counted(
    needs: Sequence[Need], collection: Collection, plan: Plan, progress: Progress
) -> dict[str, Artefact]:
    counters = {need.name: need.counter() for need in needs}
    progress.stage("counting", plan.limit, unit="documents", total_bytes=collection.plain_size())
    tallies = list(counters.values())
    count_references(tallies, needs, plan, progress)
    count(collection, tallies, Pass(plan.columns, plan.workers, plan.limit), progress)
    return {name: counter.finish() for name, counter in counters.items()}


def count_references(
    tallies: Sequence[Tally], needs: Sequence[Need], plan: Plan, progress: Progress
) -> None:
    # An earlier run without such an artefact was made with a different method. It is refused when
    # its signatures are read.
    references = [
        collect_inputs([(None, place)], encoding=plan.encoding, extraction=plan.extraction)
        for place in plan.against
        if not is_run(place)
    ]
    # References need not have the columns of the order.
    counted = tuple(dict.fromkeys(column for need in needs for column in need.columns))
    for sources in references:
        count(sources, tallies, Pass(replace(plan.columns, extra=counted), plan.workers), progress)


def build_idf(
    documents: Any,
    need: IdfNeed,
    *,
    column: str = "text",
    min_count: int = 1,
    workers: int | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> tuple[IdfTable, Seen]:
    """The idf table of a collection; :func:`neardup.dedup` describes what ``documents`` may be.

    ``min_count`` removes rare terms at the end. A table that is to be merged with others keeps all
    its terms.
    """
    for name, value in (("min_count", min_count), ("limit", limit)):
        check_positive(name, value)
    reading = Pass(Columns(text=column), worker_count(workers), limit)
    collection, shown = collect(documents), progress or Silent()
    shown.stage("counting", limit, unit="documents", total_bytes=collection.plain_size())
    counter = need.counter()
    seen = count(collection, [counter], reading, shown)
    return counter.finish().at_least(min_count), seen


@dataclass(frozen=True)
class Pass:
    """The part of a collection that is read, and the number of threads."""

    columns: Columns
    workers: int
    limit: int | None = None


@dataclass
class Seen:
    """The documents of a pass: ``documents`` includes the ``rejected`` ones, the first of which are
    shown."""

    documents: int = 0
    rejected: int = 0
    shown: list[Rejected] = field(default_factory=list)


def count(
    collection: Collection, tallies: Sequence[Tally], reading: Pass, progress: Progress
) -> Seen:
    """One pass over the collection for all tallies."""
    seen = Seen()
    for part in _parts(collection, tallies, reading):
        for tally, counts in zip(tallies, part.counts, strict=True):
            tally.add(counts)
        seen.documents += part.documents
        seen.rejected += len(part.rejected)
        seen.shown += part.rejected[: SHOWN_REJECTED - len(seen.shown)]
        progress.advance(part.documents, part.size)
    return seen


class _Part(NamedTuple):
    documents: int
    size: int
    counts: list[Any]
    rejected: list[Rejected]


def _parts(collection: Collection, tallies: Sequence[Tally], reading: Pass) -> Iterator[_Part]:
    """The counts of each batch, in order, up to the limit."""
    chunks = collection.chunks(reading.columns)
    if reading.limit is None:
        count_chunk = functools.partial(_count_chunk, tallies=tallies)
        yield from chunk_results(chunks, count_chunk, reading.workers)
        return
    left = reading.limit
    for batch in chunk_results(chunks, read_chunk, reading.workers):
        part = _count(batch, tallies, left)
        yield part
        left -= part.documents
        if left <= 0:
            return


def _count_chunk(chunk: Chunk, tallies: Sequence[Tally]) -> _Part:
    return _count(chunk.read(), tallies, None)


def _count(batch: DocumentBatch, tallies: Sequence[Tally], most: int | None) -> _Part:
    records, rejected, documents = batch.records, batch.rejected, len(batch)
    if most is not None and documents > most:
        documents = most
        records = records.slice(0, int((batch.positions() < most).sum()))
        rejected = rejected[: most - len(records)]
    return _Part(documents, batch.size, [tally.count(records) for tally in tallies], rejected)
