"""The pairs of one matching pass, with their kinds: thresholds are cuts of it.

Passes are kept in a folder where one is named, so that an experiment that was stopped goes on where
it was: a pass is known by its method, its settings and the documents it was made from.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neardup.api import execute
from neardup.documents import collect
from neardup.evaluation import scored
from neardup.evaluation.gold import Gold
from neardup.evaluation.metrics import pair_counts
from neardup.evaluation.scored import ScoredPairs
from neardup.methods.method import SIGNATURE_FORMAT, signed_parameters
from neardup.outputs.folder import write_table
from neardup.outputs.result import Result
from neardup.plan import Plan, resolve, settings_of
from neardup.progress import LOG, Progress
from neardup.recipes import with_recipe
from neardup.schema import KINDS, Array, Ragged

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
        scored.save(pairs, path, key)
        return Pass(pairs, kind, told)

    def _made(self, table: pa.Table, plan: Plan) -> tuple[ScoredPairs, npt.NDArray[np.object_]]:
        result = execute(collect(table), plan, progress=self.progress)
        pairs = scored.of_result(result)
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
    pairs = scored.load(path, key)
    if pairs is None:
        return None
    try:
        kinds = pq.read_table(_kinds_beside(path))["kind"].to_pylist()
        return pairs, np.array(kinds, dtype=object).reshape(len(pairs))
    except (OSError, KeyError, ValueError, pa.ArrowException):
        return None
