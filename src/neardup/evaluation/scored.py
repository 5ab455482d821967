"""Scored pairs: all a method finds at the lowest threshold wanted, so that thresholds are cuts.

One matching pass makes them. A higher threshold is answered from the scores, with the decisions
that a run of its own would make. Where a run at the higher threshold takes keys that may miss pairs
(MinHash bands), the cut has those pairs too: it differs from that run by its miss rate at most.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neardup import schema
from neardup.api import execute
from neardup.artefacts import outline
from neardup.artefacts.model import ModelNeed
from neardup.decisions.clusters import components, rule_clusters
from neardup.decisions.rule import decide
from neardup.documents import Collection
from neardup.documents.streams import whole_file
from neardup.errors import SettingsError
from neardup.matching.verify import Pairs
from neardup.outputs.result import Result
from neardup.outputs.rethreshold import NO_GROUPS
from neardup.plan import Plan
from neardup.progress import Progress
from neardup.schema import Array

EASY_KINDS = ("identical", "normalised")
COLUMNS = ("a", "b", "score", "identical")
_META = b"neardup.scored"


@dataclass(frozen=True)
class ScoredPairs:
    """Pairs of document numbers, ``a < b``, each once. ``identical`` ones are equal, at least after
    normalisation. All pairs from ``lowest`` on are here, unless they are not ``complete``.
    ``taught_here``: a model scored them that was trained on labels of these documents."""

    a: Array
    b: Array
    score: Array
    identical: Array
    lowest: float
    documents: int
    complete: bool = True
    taught_here: bool = False

    def __len__(self) -> int:
        return len(self.a)

    def where(self, mask: Array, lowest: float | None = None) -> ScoredPairs:
        columns = {name: getattr(self, name)[mask] for name in COLUMNS}
        return replace(self, lowest=self.lowest if lowest is None else lowest, **columns)

    def at(self, threshold: float) -> ScoredPairs:
        """What a run at this threshold finds."""
        if threshold < self.lowest:
            raise SettingsError(
                f"Pairs were scored from {self.lowest:g} on, so {threshold:g} cannot be answered.",
                hint="match again with the lower threshold.",
            )
        return self.where(self.score >= threshold, threshold)

    def clusters(self, how: str = "rule") -> Array:
        """The cluster of each document, −1 where it is alone: by the rule, in the order of the
        input, or ``components``."""
        if how == "components":
            return components(self.documents, self.a, self.b)
        pairs = Pairs(self.a, self.b, self.score)
        verdict = decide(self.documents, pairs, NO_GROUPS, _nothing_more)
        return rule_clusters(verdict.kept_of)


def _nothing_more(_a: Array, _b: Array) -> Pairs:
    return Pairs.none()


def match(collection: Collection, plan: Plan, progress: Progress | None = None) -> ScoredPairs:
    """One matching pass; the plan must be one for ``every_pair``."""
    return of_result(execute(collection, plan, progress=progress))


def of_result(result: Result) -> ScoredPairs:
    """Documents are numbered as in ``result.decisions``: in input order, rejected ones included."""
    table_ids = result.decisions["id"].combine_chunks()
    rejected = pc.equal(result.decisions["decision"], schema.REJECTED).combine_chunks()
    # A rejected document may bear the id of an accepted one; pairs are never its own.
    ids = pc.if_else(rejected, pa.scalar(None, table_ids.type), table_ids)
    sides = [_numbers(result.pairs[name], ids) for name in ("a", "b")]
    kind = result.pairs["kind"].cast(pa.string())
    easy = pc.is_in(kind, pa.array(EASY_KINDS, pa.string())).combine_chunks()
    a, b = np.minimum(*sides), np.maximum(*sides)
    order = np.lexsort((b, a))
    return ScoredPairs(
        a[order],
        b[order],
        result.pairs["score"].to_numpy()[order],
        np.asarray(easy, bool)[order],
        0.0 if result.info["settings"]["parameters"].get("calibrate") else result.threshold,
        len(ids),
        result.pairs_complete,
        _taught_here(result.info.get("artefacts", {})),
    )


def _taught_here(artefacts: dict[str, Any]) -> bool:
    """Whether the model that decided counted the same documents when it was trained."""
    model = artefacts.get(ModelNeed.name, {})
    counted = model.get("trained", {}).get("artefacts", {}).get(outline.NAME)
    return counted is not None and counted == artefacts[outline.NAME]["digest"]


def _numbers(column: pa.ChunkedArray, ids: pa.Array) -> Array:
    return np.asarray(pc.index_in(column, ids).combine_chunks()).astype(np.int64)


def save(pairs: ScoredPairs, path: Path, key: str) -> None:
    """``key`` says what they were made from: a digest of settings and documents."""
    about = {
        "key": key,
        "lowest": pairs.lowest,
        "documents": pairs.documents,
        "complete": pairs.complete,
        "taught_here": pairs.taught_here,
    }
    columns = {name: getattr(pairs, name) for name in COLUMNS}
    table = pa.table(columns).replace_schema_metadata({_META: json.dumps(about)})
    with whole_file(path) as part:
        pq.write_table(table, part, compression="zstd")


def load(path: Path, key: str) -> ScoredPairs | None:
    """None where there are none, or where they were made from something else."""
    try:
        table = pq.read_table(path)
        about: dict[str, Any] = json.loads((table.schema.metadata or {})[_META])
        if about.pop("key") != key:
            return None
        columns = {name: table[name].to_numpy() for name in COLUMNS}
        return ScoredPairs(**columns, **about)
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
        return None
