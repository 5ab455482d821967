"""What a method needs of the collection, counted by tasks and merged, before documents are signed.

An artefact comes from where the local engine would take it: the file the user named, a run that
this one is built on, or the references and the input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from neardup.artefacts.artefact import Artefact, Mergeable, Need
from neardup.errors import SettingsError
from neardup.local.artefacts import at_hand, count_references
from neardup.methods.method import ChecksArtefacts
from neardup.plan import Plan
from neardup.progress import Progress
from neardup.spark.signing import Taken

if TYPE_CHECKING:
    from neardup.spark.input import Input

COUNTED = "number int, counted binary"
MERGED = 64  # parts of counts that one task merges


def with_artefacts(input: Input, plan: Plan, progress: Progress) -> Plan:
    """The plan with everything its method needs but its own cut."""
    needs = plan.method.needs
    there = {need.name: found for need in needs if (found := at_hand(need, plan.against))}
    missing = [need for need in needs if need.name not in there]
    if missing:
        there |= _counted(missing, input, plan, progress)
    if isinstance(plan.method, ChecksArtefacts):
        plan.method.check_artefacts(there)
    return replace(plan, artefacts=there)


def _counted(
    needs: Sequence[Need], input: Input, plan: Plan, progress: Progress
) -> dict[str, Artefact]:
    progress.stage("counting", unit="documents")
    counters = [_mergeable(need) for need in needs]
    count_references(counters, needs, plan, progress)
    parts = input.mapped(_counting(needs), COUNTED)
    pieces = parts.rdd.getNumPartitions()
    if pieces > MERGED:  # so that the driver merges few
        parts = parts.repartition(-(-pieces // MERGED)).mapInArrow(_merging(needs), COUNTED)
    for row in parts.toLocalIterator():
        counters[row["number"]].merge(bytes(row["counted"]))
    return {need.name: one.finish() for need, one in zip(needs, counters, strict=True)}


def _mergeable(need: Need) -> Mergeable:
    made = need.counter()
    if not isinstance(made, Mergeable):
        raise SettingsError(
            f"{need.name} cannot be counted on several machines.",
            hint=f"make a run without Spark on a sample, and give its file with {need.name}=….",
        )
    return made


def _counting(
    needs: Sequence[Need],
) -> Callable[[Iterator[Taken]], Iterator[pa.RecordBatch]]:
    def count(taken: Iterator[Taken]) -> Iterator[pa.RecordBatch]:
        counters = [_mergeable(need) for need in needs]
        for one in taken:
            for counter in counters:
                counter.add(counter.count(one.batch.records))
        yield _rows(counters)

    return count


def _merging(
    needs: Sequence[Need],
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def merge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counters = [_mergeable(need) for need in needs]
        for batch in batches:
            for row in batch.to_pylist():
                counters[row["number"]].merge(row["counted"])
        yield _rows(counters)

    return merge


def _rows(counters: Sequence[Mergeable]) -> pa.RecordBatch:
    counted = [counter.partial() for counter in counters]
    columns = [pa.array(range(len(counted)), pa.int32()), pa.array(counted, pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=["number", "counted"])
