"""What a run would take: seconds, memory, disk and duplicates, from a run on a sample.

Time, documents and evidence scale with the bytes on disk; duplicates do not (``groups.py``).
"""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from neardup.api import make_result
from neardup.artefacts.artefact import Artefacts
from neardup.decisions.clusters import rule_clusters
from neardup.documents import Collection
from neardup.documents.kept import readable
from neardup.documents.parquet import ROW_GROUP_BYTES, ParquetSource
from neardup.dryrun import parquet, writing
from neardup.dryrun.groups import Duplicates, Seen, scaled, seen_in
from neardup.dryrun.sample import MOST_BYTES, Sample
from neardup.dryrun.writing import Cost
from neardup.local.artefacts import with_artefacts
from neardup.local.kinds import find_kinds
from neardup.local.run import run
from neardup.outputs.outcome import Outcome
from neardup.plan import Plan
from neardup.progress import Silent

# What the arrays of a document take beside keys and ids, and how many copies of its keys there are
# while they are grouped; checked against whole runs of 100,000 documents (docs/performance.md).
DOCUMENT_BYTES, KEY_COPIES = 150, 3
BASE_BYTES = 250_000_000  # where the system does not say what the process has taken
LITTLE_BYTES = 2 << 20  # of a sample that says what any run costs, however little it reads
ROW_GROUPS = 3  # read, gathered and encoded at a time


@dataclass(frozen=True)
class Estimate:
    """Sizes in bytes. ``whole``: the sample was all there is, so counts are not estimates.
    ``duplicates_likely`` is None where the sample cannot say (``groups.py``)."""

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
    duplicates_likely: int | None = None

    def data(self) -> dict[str, Any]:
        return asdict(self)


def estimate(collection: Collection, plan: Plan, *, writes: str | None = "kept") -> Estimate:
    """``writes``: what goes into the folder beside the tables, "kept", "annotated" or None."""
    first = _run_on_sample(collection, plan, LITTLE_BYTES)
    first.outcome.intake.store.close()
    little = _run_on_sample(collection, plan, LITTLE_BYTES)
    little.outcome.intake.store.close()
    most = _run_on_sample(collection, plan, MOST_BYTES)
    once = max(0.0, first.timed.seconds - little.timed.seconds)
    try:
        given = replace(plan, artefacts=most.artefacts)
        return _Scaled(most, little.timed, once, given, collection).estimate(writes)
    finally:
        most.outcome.intake.store.close()


@dataclass(frozen=True)
class Timed:
    """A run on so many bytes of the input."""

    size: float
    seconds: float

    def on(self, size: float, less: Timed) -> float:
        """What a run on ``size`` bytes would take, if ``less`` did on fewer. Threads that start
        and end alone, and references, cost the same for any size; the difference has none of it."""
        if self.size <= 2 * less.size:
            return self.seconds * size / max(self.size, 1.0)
        more = (self.seconds - less.seconds) / (self.size - less.size)
        return self.seconds + max(0.0, more) * (size - self.size)


class _Ran(NamedTuple):
    sample: Sample
    outcome: Outcome
    timed: Timed
    artefacts: Artefacts  # of the sample, where the plan names none


def _run_on_sample(collection: Collection, plan: Plan, most: float) -> _Ran:
    sample = Sample(readable(collection.sources), collection.extractor, most=most)
    collection.extractor.clear()  # its time counts, in each run
    sampled, began = _Sampled(sample, collection), time.perf_counter()
    given = with_artefacts(sampled, replace(plan, limit=None), Silent())
    counted = time.perf_counter() - began
    outcome, given = run(sampled, given, Silent())
    find_kinds(sampled, given, outcome, Silent())  # for the time it takes
    timed = Timed(sample.seen, counted + sum(outcome.timings.values()))
    return _Ran(sample, outcome, timed, given.artefacts)


class _Sampled(Collection):
    """A sample in the place of a collection, whose files keep the names of their inputs."""

    def __init__(self, sample: Sample, whole: Collection) -> None:
        super().__init__([sample], inputs=replace(whole.inputs, names=(sample.file,)))
        self._whole = whole

    @property
    def source_names(self) -> dict[str, str]:
        return self._whole.source_names


class _Scaled:
    """``once``: seconds for imports and fresh buffers, which the first run of a process pays."""

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
        memory = self.memory()  # before the trials of writing take more
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
        """And matching, and deciding."""
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
        """The share of the documents that is kept; where nobody can say, as in the sample."""
        low, _, likely = self.duplicates
        return 1 - (low if likely is None else likely) / max(self.documents, 1)

    def written(self, writes: str | None) -> Cost:
        total = writing.of_tables(self.result).times(self.factor)
        kept_here = self.result.counts.kept / max(self.read, 1)
        signatures = writing.of_signatures(self.outcome, self.plan)
        total = total.plus(signatures.times(self.factor * self.kept / max(kept_here, 1e-9)))
        if writes is None:
            return total
        part = self.kept if writes == "kept" else 1.0
        documents = writing.of_documents(readable(self.collection.sources))
        if writes == "annotated":
            total = total.plus(writing.of_annotations(self.result).times(self.factor))
        return total.plus(documents.times(part * self.factor / self.all))

    def evidence(self) -> int:
        """Of the input; that of references does not grow with it."""
        store = self.outcome.intake.store
        return int(store.lengths[self.outcome.refs :].sum()) * store.dtype.itemsize

    def spool(self) -> int:
        needed: int = round(self.evidence() * self.factor)
        return int(needed) if needed > self.plan.evidence_limit else 0

    def memory(self) -> int:
        """What this process took for the sample, and what more documents add to it."""
        intake = self.outcome.intake
        per_document = (
            DOCUMENT_BYTES
            + KEY_COPIES * intake.prepared.keys.values.nbytes / max(len(intake), 1)
            + intake.ids.nbytes / max(len(intake), 1)
        )
        limit = self.plan.evidence_limit
        evidence = min(self.evidence() * self.factor, limit) - min(self.evidence(), limit)
        more = max(0, self.documents - self.read) * per_document + max(0.0, evidence)
        tables = [s for s in self.collection.sources if isinstance(s, ParquetSource)]
        row_groups = min(ROW_GROUPS * ROW_GROUP_BYTES, sum(map(parquet.decoded, tables)))
        return int(taken_memory() + more + row_groups)


def taken_memory() -> int:
    """The most this process has had so far."""
    try:
        import resource
    except ImportError:  # Windows
        return BASE_BYTES
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
