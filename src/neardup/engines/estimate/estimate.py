"""Estimates the seconds, memory, disk space and duplicates of a run by running it on a sample.

Time, documents and evidence are proportional to the bytes on disk, but duplicates are not. Let the
sample consist of k pieces with a share 1/f of the input. Two adjacent copies are both in the sample
with probability 1/f, and then in one piece. Two distant copies are both in it with probability
1/f², and then in one piece in one of k cases. A group of two in two pieces therefore counts
f²·k/(k-1); a group of two in one piece, minus those expected by chance from distant copies, counts
f. A group with three or more documents in the sample is large, and its share in the sample is its
share in the collection. If copies come in groups of three to f, each of their pairs counts and the
estimate is too high, which a sample of this size cannot detect. The duplicates in the sample, times
f, are in expectation never too high.

The cost of writing is measured by writing a part, which is then deleted. Documents, tables and
signatures are timed separately, because their cost for each byte differs: a row group is
compressed, a signature is copied.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.artefacts.artefact import Artefacts
from neardup.decisions.rule import rule_clusters
from neardup.documents.collection import Collection
from neardup.documents.pieces import TRIED_BYTES
from neardup.documents.row_groups import ROW_GROUP_BYTES
from neardup.documents.source import Source, readable
from neardup.engines.batch.batch_run import find_kinds, run
from neardup.engines.batch.table_pass import with_artefacts
from neardup.engines.estimate.sample import MOST_BYTES, Sample
from neardup.engines.execution import make_result
from neardup.plan import Plan
from neardup.progress import Silent
from neardup.runs.annotated_sources import Added, annotated_lines
from neardup.runs.result import Result
from neardup.runs.run_tables import Outcome
from neardup.runs.signatures import write_signatures
from neardup.schema import Array


class Duplicates(NamedTuple):
    low: int
    high: int
    likely: int | None  # None if the sample is one piece, which shows no distant copies


class Seen(NamedTuple):
    """Counts of the groups in a sample: groups of two in one piece, groups of two in two pieces,
    and the documents of larger groups beyond the first."""

    near: int
    far: int
    more: int

    @property
    def duplicates(self) -> int:
        return self.near + self.far + self.more


def seen_in(cluster: Array, piece: Array) -> Seen:
    """Counts of the groups; ``cluster`` is negative for a document without duplicates."""
    grouped = np.flatnonzero(cluster >= 0)
    grouped = grouped[np.argsort(cluster[grouped], kind="stable")]
    _, first, sizes = np.unique(cluster[grouped], return_index=True, return_counts=True)
    two = first[sizes == 2]
    near = int((piece[grouped[two]] == piece[grouped[two + 1]]).sum())
    return Seen(near, len(two) - near, int((sizes[sizes > 2] - 1).sum()))


def scaled(seen: Seen, *, factor: float, pieces: int, documents: float) -> Duplicates:
    """The estimate for ``documents`` in all; at least one of them is not a duplicate."""
    low, most = seen.duplicates * factor, max(0.0, documents - 1)
    if factor <= 1:
        return Duplicates(seen.duplicates, seen.duplicates, seen.duplicates)
    if pieces < 2:
        return _rounded(low, _most(seen.duplicates) * factor**2, None, most)
    weight = factor**2 * pieces / (pieces - 1)
    by_chance = seen.far / (pieces - 1)
    close = max(0.0, seen.near - by_chance) + seen.more
    likely = seen.far * weight + close * factor
    # Copies may occur at certain distances only, which few pairs of pieces cannot show.
    unlike = 2 / math.sqrt(pieces * (pieces - 1) / 2)
    high = _most(seen.far) * weight * (1 + unlike) + _most(close) * factor
    return _rounded(low, high, likely, most)


def _most(count: float) -> float:
    """An upper bound: two standard deviations above a count, plus three (the bound for none)."""
    return count + 2 * math.sqrt(count) + 3


def _rounded(low: float, high: float, likely: float | None, most: float) -> Duplicates:
    def whole(value: float) -> int:
        return round(min(value, most))

    return Duplicates(whole(low), whole(high), None if likely is None else whole(max(likely, low)))


WRITINGS = 2  # the better counts: the first one pays for imports


class Cost(NamedTuple):
    seconds: float
    size: float

    def times(self, factor: float) -> Cost:
        return Cost(self.seconds * factor, self.size * factor)

    def plus(self, other: Cost) -> Cost:
        return Cost(self.seconds + other.seconds, self.size + other.size)


NOTHING = Cost(0.0, 0.0)


def of_documents(sources: Sequence[Source]) -> Cost:
    """The cost of all documents, measured on the beginning of the first source of each kind."""
    total = NOTHING
    for kind in {type(source) for source in sources}:
        alike = [source for source in sources if type(source) is kind and source.size()]
        if alike:
            size = sum(source.size() for source in alike)
            total = total.plus(_of_source(alike[0]).times(size / alike[0].size()))
    return total


def _of_source(source: Source) -> Cost:
    costs = []
    for _ in range(WRITINGS):
        began = time.perf_counter()
        trial = source.trial(TRIED_BYTES)
        cost = Cost(time.perf_counter() - began, trial.written)
        # A source of which nothing can be read is not written either.
        costs.append(cost.times(1 / trial.share) if trial.share else NOTHING)
    return min(costs)


def of_signatures(outcome: Outcome, plan: Plan) -> Cost:
    """The cost of the signatures of the kept documents of the sample."""
    if not plan.signatures:
        return NOTHING
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "signatures")
        began = time.perf_counter()
        write_signatures(outcome, plan, path)
        return Cost(time.perf_counter() - began, path.stat().st_size)


def of_tables(result: Result) -> Cost:
    """The cost of the tables of the sample."""
    began, size = time.perf_counter(), 0
    for table in (result.decisions, result.duplicates, result.pairs):
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd")
        size += sink.tell()
    return Cost(time.perf_counter() - began, size)


def of_annotations(result: Result) -> Cost:
    """The cost of the annotation fields of the sample, as they are written into lines."""
    began, count = time.perf_counter(), len(result.decisions)
    lines = annotated_lines(b"{}\n" * count, Added(result.decisions, "").objects(0, count))
    return Cost(time.perf_counter() - began, len(lines))


# What the arrays of a document take beside keys and ids, and how many copies of its keys there are
# while they are grouped; checked against whole runs of 100,000 documents (docs/performance.md).
DOCUMENT_BYTES, KEY_COPIES = 150, 3
BASE_BYTES = 250_000_000  # used if the system does not report the memory of the process
LITTLE_BYTES = 2 << 20  # size of a sample that shows the fixed cost of any run
ROW_GROUPS = 3  # read, gathered and encoded at a time


@dataclass(frozen=True)
class Estimate:
    """Sizes are in bytes. If ``whole``, the sample was the whole input and the counts are exact.
    ``duplicates_likely`` is None if the sample does not allow an estimate."""

    documents: int
    seconds: float
    memory: int
    disk: int
    spool: int  # the part of it that is used only during the run
    rejected: int
    duplicates_low: int
    duplicates_high: int
    sample_documents: int
    sample_share: float
    whole: bool
    duplicates_likely: int | None = None

    def data(self) -> dict[str, Any]:
        return asdict(self)


def estimate(collection: Collection, plan: Plan, *, writes: str | None = "kept") -> Estimate:
    """``writes`` is what goes into the folder beside the tables: "kept", "annotated" or None."""
    first = _run_on_sample(collection, plan, LITTLE_BYTES)
    first.outcome.intake.store.close()
    little = _run_on_sample(collection, plan, LITTLE_BYTES)
    little.outcome.intake.store.close()
    most = _run_on_sample(collection, plan, MOST_BYTES)
    once = max(0.0, first.timed.seconds - little.timed.seconds)
    try:
        resolved = replace(plan, artefacts=most.artefacts)
        return _Scaled(most, little.timed, once, resolved, collection).estimate(writes)
    finally:
        most.outcome.intake.store.close()


@dataclass(frozen=True)
class Timed:
    """The time of a run on so many bytes of the input."""

    size: float
    seconds: float

    def on(self, size: float, less: Timed) -> float:
        """The time of a run on ``size`` bytes, from this run and the run ``less`` on fewer bytes.
        The start of threads and the references cost the same at any size, so the difference of the
        two runs excludes them."""
        if self.size <= 2 * less.size:
            return self.seconds * size / max(self.size, 1.0)
        more = (self.seconds - less.seconds) / (self.size - less.size)
        return self.seconds + max(0.0, more) * (size - self.size)


class _Ran(NamedTuple):
    sample: Sample
    outcome: Outcome
    timed: Timed
    artefacts: Artefacts  # counted from the sample, if the plan names none


def _run_on_sample(collection: Collection, plan: Plan, most: float) -> _Ran:
    sample = Sample(readable(collection.sources), collection.extractor, most=most)
    collection.extractor.clear()  # every run must include the time of extraction
    sampled, began = _Sampled(sample, collection), time.perf_counter()
    resolved = with_artefacts(sampled, replace(plan, limit=None), Silent())
    counted = time.perf_counter() - began
    outcome, resolved = run(sampled, resolved, Silent())
    find_kinds(sampled, resolved, outcome, Silent())  # for the time it takes
    timed = Timed(sample.seen, counted + sum(outcome.timings.values()))
    return _Ran(sample, outcome, timed, resolved.artefacts)


class _Sampled(Collection):
    """A sample in place of a collection; its files keep the names of their inputs."""

    def __init__(self, sample: Sample, whole: Collection) -> None:
        super().__init__([sample], inputs=replace(whole.inputs, names=(sample.file,)))
        self._whole = whole

    @property
    def source_names(self) -> dict[str, str]:
        return self._whole.source_names


class _Scaled:
    """``once`` is the time for imports and fresh buffers, which the first run of a process
    needs."""

    def __init__(
        self, ran: _Ran, little: Timed, once: float, plan: Plan, collection: Collection
    ) -> None:
        self.sample, self.outcome, self.timed = ran.sample, ran.outcome, ran.timed
        self.little, self.once, self.plan, self.collection = little, once, plan, collection
        sample, outcome = self.sample, self.outcome
        self.result = make_result(Collection([sample]), plan, outcome)
        self.read = outcome.intake.total
        self.factor = self.all = sample.factor
        if plan.limit is not None and self.read:
            self.factor = min(self.factor, plan.limit / self.read)

    def estimate(self, writes: str | None) -> Estimate:
        low, high, likely = self.duplicates
        memory = self.memory()  # before the trials of writing use more
        written, spool = self.written(writes), self.spool()
        return Estimate(
            documents=self.documents,
            seconds=round(self.reading() + written.seconds, 2),
            memory=memory,
            disk=round(written.size + spool),
            spool=spool,
            rejected=round(self.result.counts.rejected * self.factor),
            duplicates_low=low,
            duplicates_high=high,
            duplicates_likely=likely,
            sample_documents=self.read,
            sample_share=1 / self.factor,
            whole=self.factor == 1,
        )

    @property
    def documents(self) -> int:
        return round(self.read * self.factor)

    def reading(self) -> float:
        """Seconds for reading, matching and deciding."""
        size = self.sample.seen * self.factor
        return self.once + self.timed.on(size, self.little)

    @cached_property
    def duplicates(self) -> Duplicates:
        outcome, refs = self.outcome, self.outcome.refs
        kept_of = outcome.decided.kept_of.copy()
        of_reference = (kept_of >= 0) & (kept_of < refs)
        kept_of[of_reference] = -1
        piece = np.searchsorted(self.sample.starts, outcome.intake.row, side="right")
        seen = seen_in(rule_clusters(kept_of)[refs:], piece[refs:])
        # One of the two is there in any case.
        seen = Seen(seen.near, seen.far, seen.more + int(of_reference.sum()))
        documents = self.documents - self.result.counts.rejected * self.factor
        pieces = len(self.sample.starts)
        return scaled(seen, factor=self.factor, pieces=pieces, documents=documents)

    @property
    def kept(self) -> float:
        """The share of documents that is kept; without an estimate, that of the sample."""
        low, _, likely = self.duplicates
        return 1 - (low if likely is None else likely) / max(self.documents, 1)

    def written(self, writes: str | None) -> Cost:
        total = of_tables(self.result).times(self.factor)
        kept_here = self.result.counts.kept / max(self.read, 1)
        signatures = of_signatures(self.outcome, self.plan)
        total = total.plus(signatures.times(self.factor * self.kept / max(kept_here, 1e-9)))
        if writes is None:
            return total
        part = self.kept if writes == "kept" else 1.0
        documents = of_documents(readable(self.collection.sources))
        if writes == "annotated":
            total = total.plus(of_annotations(self.result).times(self.factor))
        return total.plus(documents.times(part * self.factor / self.all))

    def evidence(self) -> int:
        """The size of the evidence of the input; that of references does not grow with it."""
        store = self.outcome.intake.store
        return int(store.lengths[self.outcome.refs :].sum()) * store.value_bytes

    def spool(self) -> int:
        needed: int = round(self.evidence() * self.factor)
        return int(needed) if needed > self.plan.evidence_limit else 0

    def memory(self) -> int:
        """The memory that this process used for the sample, and the memory for the remaining
        documents."""
        intake = self.outcome.intake
        per_document = (
            DOCUMENT_BYTES
            + KEY_COPIES * intake.prepared.keys.values.nbytes / max(len(intake), 1)
            + intake.ids.nbytes / max(len(intake), 1)
        )
        limit = self.plan.evidence_limit
        evidence = min(self.evidence() * self.factor, limit) - min(self.evidence(), limit)
        more = max(0, self.documents - self.read) * per_document + max(0.0, evidence)
        decoded = sum(source.decoded_size() for source in self.collection.sources)
        row_groups = min(ROW_GROUPS * ROW_GROUP_BYTES, decoded)
        return int(taken_memory() + more + row_groups)


def taken_memory() -> int:
    """The most memory that this process has used so far."""
    try:
        import resource
    except ImportError:  # Windows
        return BASE_BYTES
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
