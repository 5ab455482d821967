"""What writing costs, by doing it with a part: nothing of it stays.

The documents, the tables and the signatures are timed apart, because a second of one is not a
second of another: a row group is compressed, a signature is copied.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.dryrun.pieces import TRIED_BYTES
from neardup.dryrun.sample import format_of, size_of
from neardup.outputs.annotated import Added, annotated_lines
from neardup.outputs.outcome import Outcome
from neardup.outputs.result import Result
from neardup.outputs.signatures import write_signatures
from neardup.plan import Plan

TIMES = 2  # the better counts: the first one pays for imports


class Cost(NamedTuple):
    seconds: float
    size: float

    def times(self, factor: float) -> Cost:
        return Cost(self.seconds * factor, self.size * factor)

    def plus(self, other: Cost) -> Cost:
        return Cost(self.seconds + other.seconds, self.size + other.size)


NOTHING = Cost(0.0, 0.0)


def of_documents(sources: Sequence[Any]) -> Cost:
    """All of them, by the beginning of the first source of each kind."""
    total = NOTHING
    for kind in {type(source) for source in sources}:
        alike = [s for s in sources if type(s) is kind and size_of(s)]
        if alike:
            first = size_of(alike[0])
            total = total.plus(_of_source(alike[0]).times(sum(map(size_of, alike)) / first))
    return total


def _of_source(source: Any) -> Cost:
    costs = []
    for _ in range(TIMES):
        began = time.perf_counter()
        trial = format_of(source).rewrite(source, TRIED_BYTES)
        cost = Cost(time.perf_counter() - began, trial.written)
        # Where nothing of it can be read, nothing is written either.
        costs.append(cost.times(1 / trial.share) if trial.share else NOTHING)
    return min(costs)


def of_signatures(outcome: Outcome, plan: Plan) -> Cost:
    """Those of the kept documents of the sample."""
    if not plan.signatures:
        return NOTHING
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "signatures")
        began = time.perf_counter()
        write_signatures(outcome, plan, path)
        return Cost(time.perf_counter() - began, path.stat().st_size)


def of_tables(result: Result) -> Cost:
    """Those of the sample."""
    began, size = time.perf_counter(), 0
    for table in (result.decisions, result.duplicates, result.pairs):
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd")
        size += sink.tell()
    return Cost(time.perf_counter() - began, size)


def of_annotations(result: Result) -> Cost:
    """The fields of the documents of the sample, as they are written into lines."""
    began, count = time.perf_counter(), len(result.decisions)
    lines = annotated_lines(b"{}\n" * count, Added(result.decisions, "").objects(0, count))
    return Cost(time.perf_counter() - began, len(lines))
