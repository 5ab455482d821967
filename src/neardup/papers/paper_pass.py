"""The pairs of one matching pass, with their kinds: thresholds are cuts of it.

Passes are kept in a folder where one is named, so that an experiment that was stopped goes on where
it was: a pass is known by its method, its settings and the documents it was made from.

The documents of an experiment, read once.
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
from neardup.decisions.order import plain
from neardup.documents import Columns, collect
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
TOLD = ("method", "parameters", "resolved")  # of the settings: what scores depend on


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
        """One number a pair, to compare passes."""
        keys: npt.NDArray[np.int64] = self.a * self.documents + self.b
        return keys


def partial_notes(passes: Iterable[Pass]) -> list[str]:
    """What must be said where a limit cut a list of pairs."""
    cut = sorted({str(one.settings["method"]) for one in passes if not one.pairs.complete})
    return [f"WARNING: the pairs of {', '.join(cut)} are partial: there are too many."] * bool(cut)


def measured(found: Pass, gold: Gold) -> dict[str, Any]:
    """Precision, recall and F of the pairs, and how many of them gold says something of. Where it
    knows no pair that is wrong, precision would be 1 whatever is returned: it is None, as F is."""
    counts = pair_counts(gold.classes(found.a, found.b), gold.positive_count())
    known = gold.negatives_known()
    return {
        "precision": counts.precision if known else None,
        "recall": counts.recall,
        "F": counts.f1 if known else None,
        "judged": counts.tp + counts.fp,
        "correct": counts.tp,
    }


def kind_names() -> tuple[str, ...]:
    """All kinds, most alike first; pairs without one come last."""
    return (*KINDS, UNCLASSIFIED)


def set_kinds(sets: Array, found: Pass) -> npt.NDArray[Any]:
    """Of each set, the least alike kind among its pairs."""
    order = {name: i for i, name in enumerate(kind_names())}
    inside = (sets[found.a] >= 0) & (sets[found.a] == sets[found.b])
    worst = np.zeros(int(sets.max(initial=-1)) + 1, np.int64)
    codes = np.array([order[name] for name in found.kind[inside]], np.int64)
    np.maximum.at(worst, sets[found.a[inside]], codes)
    return np.array(kind_names(), dtype=object)[worst]


@dataclass(frozen=True)
class Matching:
    """``folder``: where passes are kept; None for nowhere."""

    workers: int | None
    folder: Path | None
    progress: Progress

    def of(self, table: pa.Table, settings: Mapping[str, Any]) -> Pass:
        given = with_recipe({"workers": self.workers, "id": "id", "kinds": "none", **settings})
        plan = resolve(settings_of(given), every_pair=True)
        described = plan.describe()
        told = {name: described[name] for name in TOLD}
        if self.folder is None:
            return Pass(*self._made(table, plan), told)
        key = _key(plan, table)
        path = self.folder / f"{plan.method.name}-{key[:12]}.parquet"
        if found := _load(path, key):
            LOG.info("%s: scored pairs are at hand in %s", plan.method.name, path)
            return Pass(*found, told)
        pairs, kind = self._made(table, plan)
        self.folder.mkdir(parents=True, exist_ok=True)
        write_table(pa.table({"kind": kind}), _kinds_beside(path))
        scored_pairs.save(pairs, path, key)
        return Pass(pairs, kind, told)

    def _made(self, table: pa.Table, plan: Plan) -> tuple[ScoredPairs, npt.NDArray[np.object_]]:
        result = execute(collect(table), plan, progress=self.progress)
        pairs = scored_pairs.of_result(result)
        return pairs, _kinds(result, pairs)


def _kinds(result: Result, pairs: ScoredPairs) -> npt.NDArray[np.object_]:
    """In the order of the scored pairs."""
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
    """None where either file is not there, not whole, or made from something else."""
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
    """``table``: id, text and the columns asked for, a row a document, in the order read."""

    table: pa.Table
    rejected: int
    options: Options
    progress: Progress

    def __len__(self) -> int:
        return len(self.table)

    @functools.cached_property
    def reading(self) -> Reading:
        """The words of all documents, and digests of what is equal."""
        batches = self.table.select(["id", "text"]).combine_chunks().to_batches()
        empty = pa.record_batch({"text": pa.array([], pa.large_string())})
        return read_words(batches[0] if batches else empty, Text())

    @functools.cached_property
    def gold(self) -> Gold | None:
        """Texts that are equal after normalisation are never wrong pairs."""
        if self.options.gold is None:
            return None
        same = np.unique(self.reading.normal_digests, return_inverse=True)[1]
        return self.options.gold(self.table, same)

    def column(self, name: str, table: pa.Table | None = None) -> list[str]:
        """Values as people read them; missing ones are "(none)". Of another table on request."""
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
        made = Experiment(name, paper, len(self), settings, tables, figures, **more)
        if not self.rejected:
            return made
        lost = f"{self.rejected:,} documents could not be read and were left out."
        return replace(made, notes=[lost, *made.notes])

    def find(self, table: pa.Table | None = None, **settings: Any) -> Pass:
        """All pairs by one method at one threshold, which should be the lowest that is wanted; of
        the documents as they are, or as ``table`` has them."""
        matching = Matching(self.options.workers, self.options.folder, self.progress)
        return matching.of(self.table if table is None else table, settings)


def read(inputs: Any, options: Options, progress: Progress) -> Material:
    extra = tuple(n for n in (options.date, options.source, *options.columns) if n)
    columns = Columns(text=options.text, id=options.id, extra=extra)
    collection = collect(inputs).limited(options.limit)
    progress.stage("reading", options.limit, "documents", collection.plain_size())
    parts, seen, rejected = [_as_text(_nothing())], 0, 0
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


def _nothing() -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema=schema.documents())


def _as_text(batch: pa.RecordBatch) -> pa.Table:
    """All columns as text: inputs of several forms may have one column in several types."""
    names = [name for name in batch.schema.names if name != "row"]
    values = [plain(batch.column(name), name).cast(pa.large_string()) for name in names]
    return pa.table(values, names=names)
