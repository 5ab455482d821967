"""What is learned from a collection on Spark before it is decided: artefacts and calibration.

Tables that a method needs are counted by tasks and merged before documents are signed. They come
from where the batch engine would take them: the file the user named, a run that this one is built
on, or the references and the input.

To calibrate, tasks score the pairs at the lowest threshold that may be chosen and gather the rare
features of low-scoring pairs. The driver takes the scored pairs, 24 bytes each, and these features,
of which one in so many stands for all, and calls ``engines/batch/threshold_choice.py``. For a
calibration by consistency a pair takes about 34 bytes; pairs of parts that are too dense to be
compared in full take no part. The result is an artefact, and the run goes on as
with one that was given.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import functions as sql

from neardup.artefacts.artefact import Artefact, Mergeable, Need
from neardup.artefacts.calibration import UNLIKE, Calibration
from neardup.decisions.order import group_codes
from neardup.engines.batch import threshold_choice
from neardup.engines.batch.table_pass import at_hand, count_references, stored_calibration
from neardup.engines.batch.threshold_choice import KnownScores, known_scores
from neardup.engines.spark.kind_tasks import texts_of
from neardup.engines.spark.session import Carried
from neardup.engines.spark.spark_columns import as_bytes, as_rows, ddl, signed, unsigned
from neardup.engines.spark.spark_signing import Taken
from neardup.errors import SettingsError
from neardup.matching.background import FEWEST_DOCUMENTS, one_in, pairs_of_entries
from neardup.matching.evidence import Pairs, Verifier
from neardup.matching.scorer import Scorer
from neardup.methods.base import TOO_SHORT, Comparisons, Method, RareEntries
from neardup.plan import Plan
from neardup.progress import Progress
from neardup.schema import Array, Ragged
from neardup.text import recognition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from neardup.engines.spark.spark_frames import Input
    from neardup.engines.spark.spark_run import Run

SCORES = pa.schema([(name, pa.binary()) for name in ("a", "b", "score", "partial")])
COMPARED = pa.schema([(name, pa.binary()) for name in ("a", "b", "score", "refused", "thin")])
RECOGNISED = pa.schema([("number", pa.int64())])
ENTRIES = pa.schema(
    [("node", pa.int64()), ("entries", pa.binary()), ("weight", pa.int64()), ("may", pa.bool_())]
)


def calibrated(run: Run) -> Plan:
    """The plan as calibrated, where its method or its threshold ask for it."""
    plan = run.plan
    if not plan.method.calibrate and not plan.planted_cut:
        return plan
    if stored := stored_calibration(plan):
        return threshold_choice.with_calibration(plan, stored)
    if plan.planted_cut:
        found = _chosen_cut(run)
    elif threshold_choice.is_unlike(plan):
        found = Calibration(plan.method.threshold, UNLIKE)
    else:
        run.progress.stage("calibrating", unit="pairs")
        found = _found(replace(run, plan=_plain(plan), stages=run.stages.under("usual")), plan)
    return threshold_choice.with_calibration(plan, found)


def _chosen_cut(run: Run) -> Calibration:
    """The calibration that the collection suggests, chosen as in
    ``engines/batch/table_pass.py``."""
    if run.plan.method.groups_choose:
        plan = threshold_choice.wide_plan(run.plan)
        wide = replace(run, plan=plan, stages=run.stages.under("wide"))
        nodes, pairs, _ = _compared(wide, plan.method)
        wide.stages.release()
        if found := threshold_choice.consistent_cut(run.plan, pairs, nodes.evidence):
            return found
    return threshold_choice.planted_cut(run.input.local(), run.plan, run.progress)


def _plain(plan: Plan) -> Plan:
    """The same without calibration: pairs as far down as it may move the threshold."""
    if threshold_choice.asks_consistency(plan.method):
        return threshold_choice.matching_plan(plan)
    return replace(plan, method=threshold_choice.reaching(plan).uncalibrated())


def _found(run: Run, plan: Plan) -> Calibration:
    """``run`` has a plan that does not calibrate; the method of ``plan`` does."""
    method = plan.method
    if threshold_choice.asks_consistency(method):
        return _consistent(run, method)
    matched = run.matched()
    table = matched.parts(scored_rows, SCORES).toArrow()
    nodes = _nodes(matched.documents)
    pairs, complete = _pairs_of(table, nodes), not _bytes(table, "partial", np.bool_).any()
    low, may = _low_scoring(matched.rows, matched.here, nodes, method)

    def known() -> KnownScores | None:
        return known_scores(run.input.local(), plan, method, run.progress)

    def same(a: Array, b: Array, floor: int) -> Array:
        return recognised_pairs(run, a, b, floor)

    found = threshold_choice.calibrated(
        pairs,
        low,
        may,
        nodes.digests,
        nodes.texts,
        method,
        threshold_choice.Answers(known, same),
        every_pair=complete and len(pairs) <= plan.pair_budget(len(nodes.digests)),
    )
    run.stages.release()
    return found


def _consistent(run: Run, method: Method) -> Calibration:
    """The calibration by the consistency of groups, from all scored pairs."""
    nodes, pairs, table = _compared(run, method)
    by_pair = np.lexsort((pairs.b, pairs.a))
    count = len(nodes.names)
    keys = (pairs.a * count + pairs.b)[by_pair]
    flags = [_bytes(table, name, np.bool_)[by_pair] for name in ("refused", "thin")]

    def compare(a: Array, b: Array) -> Comparisons:
        wanted = np.minimum(a, b) * count + np.maximum(a, b)
        at = np.searchsorted(keys, wanted)
        return Comparisons(pairs.score[by_pair][at], *(flag[at] for flag in flags))

    def same(a: Array, b: Array, floor: int) -> Array:
        return recognised_pairs(run, a, b, floor)

    found = threshold_choice.calibrated_by_consistency(
        pairs,
        nodes.evidence,
        nodes.digests,
        nodes.texts,
        compare,
        threshold_choice.Answers(recognised=same),
    )
    run.stages.release()
    return found


def _compared(run: Run, method: Method) -> tuple[Nodes, Pairs, pa.Table]:
    """All nodes and their scored pairs, and the table of these pairs with what else is known."""
    matched = run.matched()
    table = matched.parts(functools.partial(compared_rows, method=method), COMPARED).toArrow()
    nodes = _nodes(matched.documents)
    return nodes, _pairs_of(table, nodes), table


def _pairs_of(table: pa.Table, nodes: Nodes) -> Pairs:
    order = np.argsort(nodes.names, kind="stable")
    names = nodes.names[order]
    a, b = (order[np.searchsorted(names, _bytes(table, side, np.uint64))] for side in ("a", "b"))
    return Pairs(np.minimum(a, b), np.maximum(a, b), _bytes(table, "score", np.float64))


def compared_rows(
    batches: Iterator[pa.RecordBatch], plan: Plan, method: Method
) -> Iterator[pa.RecordBatch]:
    """The pairs of a part, compared by ``method``, with the nodes of their documents."""
    from neardup.engines.spark.component_task import parted

    for part, outcome in parted(batches, plan):
        if not outcome.pairs_complete:
            continue
        pairs = outcome.pairs.distinct()
        verifier = Verifier(Scorer(method).scores, outcome.intake.store)
        compared = verifier.compared(method, pairs.a, pairs.b)
        nodes = unsigned(part.documents["node"])
        columns = [nodes[pairs.a], nodes[pairs.b], *compared]
        cells = [pa.array([column.tobytes()], pa.binary()) for column in columns]
        yield pa.RecordBatch.from_arrays(cells, schema=COMPARED)


def _bytes(table: pa.Table, name: str, dtype: npt.DTypeLike) -> Array:
    cells = [np.frombuffer(cell, dtype) for cell in table[name].to_pylist()]
    return np.concatenate([np.empty(0, dtype), *cells])


def scored_rows(batches: Iterator[pa.RecordBatch], plan: Plan) -> Iterator[pa.RecordBatch]:
    """All pairs of a part with their scores, and whether some were not looked at."""
    from neardup.engines.spark.component_task import parted

    for part, outcome in parted(batches, plan):
        pairs, nodes = outcome.pairs, unsigned(part.documents["node"])
        partial = np.array([not outcome.pairs_complete])
        columns = [nodes[pairs.a], nodes[pairs.b], pairs.score, partial]
        cells = [pa.array([column.tobytes()], pa.binary()) for column in columns]
        yield pa.RecordBatch.from_arrays(cells, schema=SCORES)


@dataclass(frozen=True)
class Nodes:
    """The nodes of a calibration, ordered by the place of the first document of each. ``digests``
    are those of its normal form, ``texts`` those of its text, ``evidence`` those of its
    evidence."""

    names: Array
    digests: Array
    texts: Array
    evidence: Array
    short: Array
    groups: Array  # that ``within`` puts them in


def _nodes(documents: DataFrame) -> Nodes:
    first = (
        documents.where("rejected is null")
        .groupBy("node")
        .agg(
            sql.min("place").alias("place"),
            sql.min_by("normal_digest", "place").alias("digest"),
            sql.min_by("text_digest", "place").alias("text"),
            sql.min_by("flags", "place").alias("flags"),
            sql.min_by("within", "place").alias("within"),
            sql.first("digest_a").alias("digest_a"),
            sql.first("digest_b").alias("digest_b"),
        )
    )
    table = first.toArrow().sort_by("place")
    short = (table["flags"].to_numpy() & TOO_SHORT) != 0
    groups = group_codes(table["within"], "within")
    names, digests, texts = (unsigned(table[name]) for name in ("node", "digest", "text"))
    evidence = np.stack([unsigned(table["digest_a"]), unsigned(table["digest_b"])], axis=1)
    return Nodes(names, digests, texts, evidence, short, groups)


def recognised_pairs(run: Run, a: Array, b: Array, floor: int) -> Array:
    """``engines/batch/batch_run.py``, where the texts are read and compared by tasks."""
    pairs = pa.table({"number": np.arange(len(a)), "low": signed(a), "high": signed(b)})
    texts = run.stages.keep("recognised", texts_of(run, np.unique(np.concatenate([a, b]))))
    one = texts.select(sql.col("digest").alias("low"), sql.col("text").alias("one"))
    other = texts.select(sql.col("digest").alias("high"), sql.col("text").alias("other"))
    both = run.spark.createDataFrame(pairs).join(one, "low").join(other, "high")
    recognise = functools.partial(_recognise, floor=floor)
    found = both.mapInArrow(recognise, ddl(RECOGNISED)).toArrow()["number"].to_numpy()
    return np.isin(np.arange(len(a)), found)


def _recognise(batches: Iterator[pa.RecordBatch], floor: int) -> Iterator[pa.RecordBatch]:
    """The numbers of the pairs whose texts share enough."""
    for batch in batches:
        sides = [batch[side].cast(pa.large_string()) for side in ("one", "other")]
        texts = Ragged.of_strings(pa.concat_arrays(sides))
        one = np.arange(batch.num_rows)
        enough = pa.array(recognition.recognised_pairs(texts, one, one + batch.num_rows, floor))
        numbers = batch["number"].filter(enough)
        yield pa.RecordBatch.from_arrays([numbers], schema=RECOGNISED)


def _low_scoring(
    rows: DataFrame, here: Carried, nodes: Nodes, method: Method
) -> tuple[Pairs, Array]:
    places = np.flatnonzero(~nodes.short)
    if len(places) < FEWEST_DOCUMENTS:
        return Pairs.none(), np.empty(0, np.bool_)
    bringing = rows.where("evidence is not null").select("node", "flags", "evidence")
    long = bringing.where(sql.col("flags").bitwiseAND(TOO_SHORT) == 0).dropDuplicates(["node"])
    size: Any = long.agg(sql.sum(sql.length("evidence"))).first()
    features = int(size[0] or 0) // np.dtype(method.evidence_dtype).itemsize
    every = one_in(features)
    made = long.mapInArrow(_gathering(here, every), ddl(ENTRIES)).toArrow()
    if not pa.compute.any(made["may"]).as_py():
        return Pairs.none(), np.empty(0, np.bool_)
    rare = _in_order(made, nodes)
    return pairs_of_entries(rare, every, places, nodes.groups[places])


def _gathering(
    here: Carried, every: int
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def gather(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        method = here.plan().method
        for batch in batches:
            evidence = as_rows(batch.column("evidence"), method.evidence_dtype)
            found = method.rare_entries(evidence, every)
            columns = [
                batch.column("node"),
                as_bytes(found.entries),
                pa.array(found.weights.astype(np.int64)),
                pa.array(method.may_be_exceptions(evidence)),
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=ENTRIES)

    return gather


def _in_order(made: pa.Table, nodes: Nodes) -> RareEntries:
    """Entries by place; those of nodes whose documents were all rejected are left out."""
    table = made.combine_chunks()
    order = np.argsort(nodes.names, kind="stable")
    names = unsigned(table["node"])
    at = np.minimum(np.searchsorted(nodes.names[order], names), len(order) - 1)
    place = np.where(nodes.names[order][at] == names, order[at], -1)
    rows = np.argsort(place, kind="stable")
    rows = rows[place[rows] >= 0]
    entries = as_rows(table["entries"].combine_chunks(), np.uint64).take(rows)
    weights, may = table["weight"].to_numpy()[rows], np.asarray(table["may"])[rows]
    return RareEntries(entries, weights, may)


COUNTED = "number int, counted binary"
MERGED = 64  # parts of counts that one task merges


def with_artefacts(input: Input, plan: Plan, progress: Progress) -> Plan:
    """The plan with everything its method needs but its calibration."""
    needs = plan.method.needs
    there = {need.name: found for need in needs if (found := at_hand(need, plan.against))}
    missing = [need for need in needs if need.name not in there]
    if missing:
        there |= _counted(missing, input, plan, progress)
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
