"""What a run would take: seconds, memory, disk and duplicates, from a run on a sample.

Time, documents and evidence scale with the bytes on disk. Duplicates do not: of two copies that lie
anywhere, both are in a sample of share f with probability f², of two that stand side by side with
f. So there are two bounds, and only a whole run says where between them the truth is.
"""

from __future__ import annotations

import math
import sys
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.api import make_result
from neardup.documents import Collection
from neardup.documents.jsonl import JsonlSource
from neardup.documents.kept import readable
from neardup.documents.parquet import ROW_GROUP_BYTES, ParquetSource
from neardup.dryrun.sample import Sample
from neardup.dryrun.writing import seconds_to_write
from neardup.errors import UsageError
from neardup.local.run import run
from neardup.outputs.outcome import Outcome
from neardup.outputs.result import Result
from neardup.plan import Plan
from neardup.progress import Silent

# What the arrays of a document take beside keys and ids, and how many copies of its keys there are
# while they are grouped; checked against whole runs of 100,000 documents (docs/performance.md).
DOCUMENT_BYTES, KEY_COPIES = 150, 3
BASE_BYTES = 250_000_000  # where the system does not say what the process has taken
ROW_GROUPS = 3  # read, gathered and encoded at a time
ANNOTATION_BYTES = 90  # the fields of a line


@dataclass(frozen=True)
class Estimate:
    """Sizes in bytes. ``whole``: the sample was all there is, so counts are not estimates."""

    documents: int
    seconds: float
    memory: int
    disk: int
    spool: int  # of it, while the run lasts
    rejected: int
    duplicates_low: int
    duplicates_high: int
    sample_documents: int
    sample_share: float
    whole: bool

    def data(self) -> dict[str, Any]:
        return asdict(self)


def estimate(collection: Collection, plan: Plan, *, writes: str | None = "kept") -> Estimate:
    """``writes``: what goes into the folder beside the tables, "kept", "annotated" or None."""
    for source in readable(collection.sources):
        if not isinstance(source, JsonlSource | ParquetSource):
            raise UsageError(
                f"{source.file}: an estimate reads JSON Lines and Parquet files.",
                hint="run on a part with --limit, and look at the timings of --json.",
            )
    plan_of_sample = replace(plan, limit=None)
    # What happens only once (imports, first pages of buffers) is half the time of a small sample.
    sources = readable(collection.sources)
    warm = run(_Sampled(Sample(sources, most=1), collection), plan_of_sample, Silent())
    warm.intake.store.close()
    sample = Sample(sources)
    outcome = run(_Sampled(sample, collection), plan_of_sample, Silent())
    try:
        return _Scaled(sample, outcome, plan, collection).estimate(writes)
    finally:
        outcome.intake.store.close()


class _Sampled(Collection):
    """A sample in the place of a collection, whose files keep the names of their inputs."""

    def __init__(self, sample: Sample, whole: Collection) -> None:
        super().__init__([sample], inputs=replace(whole.inputs, names=(sample.file,)))
        self._whole = whole

    @property
    def source_names(self) -> dict[str, str]:
        return self._whole.source_names


class _Scaled:
    def __init__(
        self, sample: Sample, outcome: Outcome, plan: Plan, collection: Collection
    ) -> None:
        self.outcome, self.plan, self.collection = outcome, plan, collection
        self.result = make_result(Collection([sample]), plan, outcome)
        self.read = outcome.intake.total
        self.size = sample.size
        self.factor = self.all = max(1.0, sample.size / sample.seen) if sample.seen else 1.0
        if plan.limit is not None and self.read:
            self.factor = min(self.factor, plan.limit / self.read)

    def estimate(self, writes: str | None) -> Estimate:
        low, high = self.duplicates()
        documents = round(self.read * self.factor)
        part = self.part_written(writes, low / max(documents, 1))
        spool = self.spool()
        signatures = self.signatures(low / max(documents, 1))
        written = part * self.size + self.tables() + signatures
        writing = self.writing(part + signatures / max(self.size, 1))
        if writes == "annotated":
            written += documents * ANNOTATION_BYTES
        return Estimate(
            documents=documents,
            seconds=round(sum(self.outcome.timings.values()) * self.factor + writing, 2),
            memory=self.memory(documents),
            disk=round(written + spool),
            spool=spool,
            rejected=round(self.result.counts.rejected * self.factor),
            duplicates_low=low,
            duplicates_high=high,
            sample_documents=self.read,
            sample_share=1 / self.factor,
            whole=self.factor == 1,
        )

    def part_written(self, writes: str | None, duplicates: float) -> float:
        """Of the bytes of the input; more are written the fewer duplicates there are."""
        if writes is None:
            return 0.0
        return self.factor / self.all * (1 - duplicates if writes == "kept" else 1.0)

    def writing(self, part: float) -> float:
        if not part:
            return 0.0
        first = readable(self.collection.sources)[0]
        share = first.path.stat().st_size / max(self.size, 1)  # type: ignore[attr-defined]
        return float(part * seconds_to_write(first) / max(share, 1e-9))

    def duplicates(self) -> tuple[int, int]:
        """Copies side by side; copies anywhere, with two standard deviations of the pairs seen."""
        counts, factor = self.result.counts, self.factor
        if factor <= 1:
            return counts.duplicates, counts.duplicates
        accepted = (counts.documents - counts.rejected) * factor
        pairs = counts.pairs + 2 * math.sqrt(counts.pairs) + 3
        return round(counts.duplicates * factor), round(min(pairs * factor**2, accepted - 1))

    def evidence(self) -> int:
        store = self.outcome.intake.store
        return int(store.lengths.sum()) * store.dtype.itemsize

    def signatures(self, duplicates: float) -> float:
        """Keys and evidence of the kept documents."""
        if not self.plan.signatures:
            return 0.0
        keys = self.outcome.intake.prepared.keys.values.nbytes
        return (self.evidence() + keys) * self.factor * (1 - duplicates)

    def spool(self) -> int:
        needed: int = round(self.evidence() * self.factor)
        return int(needed) if needed > self.plan.evidence_limit else 0

    def memory(self, documents: int) -> int:
        """What this process took for the sample, and what more documents add to it."""
        intake = self.outcome.intake
        per_document = (
            DOCUMENT_BYTES
            + KEY_COPIES * intake.prepared.keys.values.nbytes / max(self.read, 1)
            + intake.ids.nbytes / max(self.read, 1)
        )
        limit = self.plan.evidence_limit
        evidence = min(self.evidence() * self.factor, limit) - min(self.evidence(), limit)
        more = max(0, documents - self.read) * per_document + max(0.0, evidence)
        if any(isinstance(source, ParquetSource) for source in self.collection.sources):
            more += ROW_GROUPS * ROW_GROUP_BYTES
        return int(taken_memory() + more)

    def tables(self) -> float:
        return sum(_parquet_bytes(table) for table in _tables(self.result)) * self.factor


def _tables(result: Result) -> list[pa.Table]:
    return [result.decisions, result.duplicates, result.pairs]


def _parquet_bytes(table: pa.Table) -> int:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return int(sink.getvalue().size)


def taken_memory() -> int:
    """The most this process has had so far."""
    try:
        import resource
    except ImportError:  # Windows
        return BASE_BYTES
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
