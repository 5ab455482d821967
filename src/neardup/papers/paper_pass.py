"""The documents of an experiment, read once, and the pairs of one matching pass over them.

A ``Pass`` has the scored pairs of one method; higher thresholds select from them. It knows which
texts are equal; ``Material.classified`` reads the others, where kinds are counted.
If a folder is named, passes are kept there, so an interrupted experiment continues where it
stopped. A stored pass is identified by its method, its settings and the documents it was made from.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neardup import schema
from neardup.decisions.kinds import aligned_kinds
from neardup.decisions.order import plain
from neardup.documents.collection import collect
from neardup.documents.columns import Columns
from neardup.engines.execution import execute
from neardup.evaluation import scored_pairs
from neardup.evaluation.metrics import pair_counts
from neardup.evaluation.scored_pairs import ScoredPairs
from neardup.labels.gold import Gold
from neardup.methods.base import SIGNATURE_FORMAT, signed_parameters
from neardup.methods.preparation import Reading, read_words
from neardup.papers.experiment import Experiment, Figure, Options, Table
from neardup.papers.recipe import with_recipe
from neardup.plan import Plan, resolve
from neardup.progress import LOG, Progress
from neardup.runs.result import Result
from neardup.runs.run_folder import write_table
from neardup.schema import KINDS, Array, Ragged
from neardup.settings import settings_of
from neardup.text.text_options import Text

UNCLASSIFIED = "not classified"
DESCRIBED = ("method", "parameters", "resolved")  # the settings that scores depend on


@dataclass(frozen=True)
class Pass:
    """The scored pairs of one matching pass, each with its kind."""

    pairs: ScoredPairs
    kind: npt.NDArray[np.object_]
    settings: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def documents(self) -> int:
        return self.pairs.documents

    @property
    def a(self) -> Array:
        return self.pairs.a

    @property
    def b(self) -> Array:
        return self.pairs.b

    def at(self, threshold: float) -> Pass:
        """The pairs of a pass at a higher threshold."""
        chosen = self.pairs.score >= threshold
        return Pass(self.pairs.at(threshold), self.kind[chosen], self.settings)

    def where(self, chosen: Array) -> Pass:
        return Pass(self.pairs.where(chosen), self.kind[chosen], self.settings)

    def keys(self) -> npt.NDArray[np.int64]:
        """One number for each pair, to compare passes."""
        keys: npt.NDArray[np.int64] = self.a * self.documents + self.b
        return keys


def partial_notes(passes: Iterable[Pass]) -> list[str]:
    """A warning if a limit has shortened a list of pairs."""
    partial = {str(each.settings["method"]) for each in passes if not each.pairs.complete}
    names = ", ".join(sorted(partial))
    return [f"WARNING: the pairs of {names} are partial: there are too many."] * bool(partial)


def measured(matched: Pass, gold: Gold) -> dict[str, Any]:
    """Precision, recall and F of the pairs, and how many of them have a gold label. If gold is
    a list of duplicates, precision would always be 1, so precision and F are None."""
    counts = pair_counts(gold.classes(matched.a, matched.b), gold.positive_count())
    known = gold.negatives_known()
    return {
        "precision": counts.precision if known else None,
        "recall": counts.recall,
        "F": counts.f1 if known else None,
        "judged": counts.tp + counts.fp,
        "correct": counts.tp,
    }


def set_kinds(sets: Array, matched: Pass) -> npt.NDArray[Any]:
    """The least similar kind among the pairs of each set."""
    names = (*KINDS, UNCLASSIFIED)
    order = {name: i for i, name in enumerate(names)}
    inside = (sets[matched.a] >= 0) & (sets[matched.a] == sets[matched.b])
    worst = np.zeros(int(sets.max(initial=-1)) + 1, np.int64)
    codes = np.array([order[name] for name in matched.kind[inside]], np.int64)
    np.maximum.at(worst, sets[matched.a[inside]], codes)
    return np.array(names, dtype=object)[worst]


def inside_sets(sets: Array, matched: Pass, most: int) -> Pass:
    """The pairs within sets; of each set only the first, if there are more than ``most`` in all."""
    inside = matched.where((sets[matched.a] >= 0) & (sets[matched.a] == sets[matched.b]))
    if len(inside) <= most:
        return inside
    owner = sets[inside.a]
    order = np.argsort(owner, kind="stable")
    first = np.searchsorted(owner[order], owner[order])
    rank = np.empty(len(owner), np.int64)
    rank[order] = np.arange(len(owner)) - first
    allowed = max(most // max(len(np.unique(owner)), 1), 1)
    return inside.where(rank < allowed)


@dataclass(frozen=True)
class Matching:
    """Runs matching passes; they are kept in ``folder``, or nowhere if it is None."""

    workers: int | None
    folder: Path | None
    progress: Progress

    def of(self, table: pa.Table, settings: Mapping[str, Any]) -> Pass:
        written = with_recipe({"workers": self.workers, "id": "id", "kinds": "none", **settings})
        plan = resolve(settings_of(written), every_pair=True)
        described = plan.describe()
        described_settings = {name: described[name] for name in DESCRIBED}
        if self.folder is None:
            return Pass(*self._matched(table, plan), described_settings)
        key = _key(plan, table)
        path = self.folder / f"{plan.method.name}-{key[:12]}.parquet"
        if stored := _load(path, key):
            LOG.info("%s: using the scored pairs in %s", plan.method.name, path)
            return Pass(*stored, described_settings)
        pairs, kind = self._matched(table, plan)
        self.folder.mkdir(parents=True, exist_ok=True)
        write_table(pa.table({"kind": kind}), _kinds_beside(path))
        scored_pairs.save(pairs, path, key)
        return Pass(pairs, kind, described_settings)

    def _matched(self, table: pa.Table, plan: Plan) -> tuple[ScoredPairs, npt.NDArray[np.object_]]:
        result = execute(collect(table), plan, progress=self.progress)
        pairs = scored_pairs.of_result(result)
        return pairs, _kinds(result, pairs)


def _kinds(result: Result, pairs: ScoredPairs) -> npt.NDArray[np.object_]:
    """The kinds in the order of the scored pairs."""
    ids = result.decisions["id"].combine_chunks()
    a, b = (np.asarray(pc.index_in(result.pairs[side], ids)).astype(np.int64) for side in "ab")
    order = np.lexsort((np.maximum(a, b), np.minimum(a, b)))
    kinds = pc.fill_null(result.pairs["kind"].cast(pa.string()), UNCLASSIFIED)
    return np.array(kinds.to_pylist(), dtype=object)[order].reshape(len(pairs))


def _key(plan: Plan, table: pa.Table) -> str:
    method = [SIGNATURE_FORMAT, plan.method.name, signed_parameters(plan.method), plan.max_pairs]
    digest = hashlib.sha256(json.dumps(method, sort_keys=True).encode())
    for name in table.column_names:
        column = table[name].combine_chunks()
        values = Ragged.of_strings(column.fill_null(""))
        digest.update(f"{name} {len(column)}".encode())
        for part in (values.offsets, values.values, np.asarray(column.is_valid())):
            digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def _kinds_beside(path: Path) -> Path:
    return path.with_suffix(".kinds.parquet")


def _load(path: Path, key: str) -> tuple[ScoredPairs, npt.NDArray[np.object_]] | None:
    """The stored pass; None if either file is missing, incomplete, or made from something else."""
    pairs = scored_pairs.load(path, key)
    if pairs is None:
        return None
    try:
        kinds = pq.read_table(_kinds_beside(path))["kind"].to_pylist()
        return pairs, np.array(kinds, dtype=object).reshape(len(pairs))
    except (OSError, KeyError, ValueError, pa.ArrowException):
        return None


@dataclass(frozen=True)
class Material:
    """``table`` has id, text and the requested columns, with a row per document."""

    table: pa.Table
    rejected: int
    options: Options
    progress: Progress

    def __len__(self) -> int:
        return len(self.table)

    @functools.cached_property
    def reading(self) -> Reading:
        """The words of all documents, and digests that show which texts are equal."""
        batches = self.table.select(["id", "text"]).combine_chunks().to_batches()
        empty = pa.record_batch({"text": pa.array([], pa.large_string())})
        return read_words(batches[0] if batches else empty, Text())

    @functools.cached_property
    def gold(self) -> Gold | None:
        """The gold. A pair of texts that are equal after normalisation is never wrong."""
        if self.options.gold is None:
            return None
        same = np.unique(self.reading.normal_digests, return_inverse=True)[1]
        return self.options.gold(self.table, same)

    def titles(self) -> list[str] | None:
        """The titles of the documents; None if no column of titles is named."""
        return self.column(self.options.title) if self.options.title else None

    def column(self, name: str, table: pa.Table | None = None) -> list[str]:
        """Values of a column of all documents, or of ``table``; "(none)" if missing."""
        values = (self.table if table is None else table)[name]
        return list(pc.fill_null(values, "(none)").to_pylist())

    def experiment(
        self,
        name: str,
        paper: str,
        settings: Mapping[str, Any],
        tables: Sequence[Table],
        figures: Sequence[Figure],
        **more: Any,
    ) -> Experiment:
        experiment = Experiment(name, paper, len(self), settings, tables, figures, **more)
        if not self.rejected:
            return experiment
        left_out = f"{self.rejected:,} documents could not be read and were left out."
        return replace(experiment, notes=[left_out, *experiment.notes])

    @functools.cached_property
    def texts(self) -> Ragged:
        return Ragged.of_strings(self.table["text"].combine_chunks().fill_null(""))

    def classified(self, matched: Pass) -> Pass:
        """The pass with the kinds of all its pairs."""
        unknown = np.flatnonzero(matched.kind == UNCLASSIFIED)
        kind = matched.kind.copy()
        if len(unknown):
            found = aligned_kinds(self.texts, matched.a[unknown], matched.b[unknown])
            kind[unknown] = np.array(KINDS, dtype=object)[found.kind]
        return replace(matched, kind=kind)

    def find(self, table: pa.Table | None = None, **settings: Any) -> Pass:
        """All pairs of one method at one threshold, the lowest that is wanted; on the documents as
        read, or as ``table`` has them."""
        matching = Matching(self.options.workers, self.options.folder, self.progress)
        return matching.of(self.table if table is None else table, settings)


def read(inputs: Any, options: Options, progress: Progress) -> Material:
    extra = tuple(n for n in (options.date, options.source, options.title, *options.columns) if n)
    columns = Columns(text=options.text, id=options.id, extra=extra)
    collection = collect(inputs).limited(options.limit)
    progress.stage("reading", options.limit, "documents", collection.plain_size())
    empty = pa.RecordBatch.from_pylist([], schema=schema.documents())
    parts, seen, rejected = [_as_text(empty)], 0, 0
    for chunk in collection.chunks(columns):
        batch = chunk.read()
        parts.append(_as_text(batch.records))
        seen += len(batch.records)
        rejected += len(batch.rejected)
        progress.advance(len(batch), batch.size)
        if options.limit and seen >= options.limit:
            break
    table = pa.concat_tables(parts, promote_options="default")
    return Material(table.slice(0, options.limit), rejected, options, progress)


def _as_text(batch: pa.RecordBatch) -> pa.Table:
    """All columns as strings: inputs of several formats may hold one column in several types."""
    names = [name for name in batch.schema.names if name != "row"]
    values = [plain(batch.column(name), name).cast(pa.large_string()) for name in names]
    return pa.table(values, names=names)
