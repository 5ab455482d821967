"""The scored pairs of a collection, and what an evaluation needs to know about its documents.

One matching pass at the lowest threshold gives all scored pairs. Higher thresholds are answered
from their scores, with the decisions of a run at that threshold. If such a run would use keys that
may miss pairs (MinHash bands), the answer includes those pairs too: it differs from the run by its
miss rate at most.

A ``Survey`` is one pass over the documents for ids, the column of groups, the texts that are equal
after normalisation, and the sets of three-word shingles from which the similarity of positive pairs
is computed. Its digest shows whether stored scored pairs still belong to these documents.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neardup import _native
from neardup.artefacts import outline
from neardup.artefacts.model import ModelNeed
from neardup.decisions.clusters import average_clusters, components
from neardup.decisions.order import plain
from neardup.decisions.rule import decide, rule_clusters
from neardup.documents.collection import Collection
from neardup.engines.batch.intake import take_in
from neardup.engines.execution import execute
from neardup.errors import SettingsError
from neardup.files import whole_file
from neardup.labels.gold import Gold
from neardup.labels.gold_request import GoldRequest
from neardup.matching.evidence import EvidenceStore, Pairs, Verifier
from neardup.methods.join import Join
from neardup.plan import Plan, resolve
from neardup.progress import Progress
from neardup.runs.result import Result
from neardup.runs.rethreshold import NO_GROUPS, nothing_more
from neardup.runs.run_tables import Intake
from neardup.schema import Array, Ragged
from neardup.settings import Settings

EASY_KINDS = ("identical", "normalised")
COLUMNS = ("a", "b", "score", "identical")
_META = b"neardup.scored"


@dataclass(frozen=True)
class ScoredPairs:
    """Pairs of document numbers, ``a < b``, each once. ``identical`` marks texts that are equal at
    least after normalisation. All pairs that score ``lowest`` or more are present if ``complete``.
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
        """The pairs that a run at this threshold finds."""
        if threshold < self.lowest:
            raise SettingsError(
                f"Pairs were scored from {self.lowest:g} on, so {threshold:g} cannot be answered.",
                hint="match again with the lower threshold.",
            )
        return self.where(self.score >= threshold, threshold)

    def clusters(self, how: str = "rule") -> Array:
        """The cluster of each document, −1 if alone: by the rule in input order, by components or
        by average link."""
        if how == "components":
            return components(self.documents, self.a, self.b)
        pairs = Pairs(self.a, self.b, self.score)
        if how == "average":
            # The pairs of a calibrated run have no lowest score that was given.
            least = self.lowest or float(self.score.min(initial=1.0))
            return average_clusters(np.arange(self.documents), pairs, least)
        verdict = decide(self.documents, pairs, NO_GROUPS, nothing_more)
        return rule_clusters(verdict.kept_of)


def match(collection: Collection, plan: Plan, progress: Progress | None = None) -> ScoredPairs:
    """The scored pairs of one matching pass; the plan must be one with ``every_pair``."""
    return of_result(execute(collection, plan, progress=progress))


def of_result(result: Result) -> ScoredPairs:
    """The scored pairs of a run. Documents are numbered as in ``result.decisions``: in input order,
    rejected ones included."""
    ids = result.accepted_ids
    places = [pc.index_in(result.pairs[name], ids).combine_chunks() for name in ("a", "b")]
    sides = [np.asarray(place).astype(np.int64) for place in places]
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
    """Whether the model that decided was trained on the same documents."""
    model = artefacts.get(ModelNeed.name, {})
    counted = model.get("trained", {}).get("artefacts", {}).get(outline.NAME)
    return counted is not None and counted == artefacts[outline.NAME]["digest"]


def save(pairs: ScoredPairs, path: Path, key: str) -> None:
    """Write the pairs; ``key`` is a digest of the settings and documents they were made from."""
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
    """The stored pairs; None if there are none, or if they were made from something else."""
    try:
        table = pq.read_table(path)
        about: dict[str, Any] = json.loads((table.schema.metadata or {})[_META])
        if about.pop("key") != key:
            return None
        columns = {name: table[name].to_numpy() for name in COLUMNS}
        return ScoredPairs(**columns, **about)
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
        return None


SHINGLE_WORDS = 3
# The survey searches for no pairs, so it uses the threshold that makes the fewest keys. Pairs are
# then scored at the lowest threshold, which gives every pair with a shared shingle its exact score.
_SETS = Join(size=SHINGLE_WORDS, min_words=0, threshold=1.0)
_ALIKE = replace(_SETS, threshold=1e-6)


@dataclass(frozen=True)
class Survey:
    """What is known about the documents, numbered in input order with the rejected ones."""

    documents: int
    rejected: int
    ids: pa.Array  # None for rejected documents
    columns: dict[str, pa.Array]  # the requested ones, null for rejected documents
    same: Array  # documents with equal numbers are equal after normalisation
    digest: str
    _intake: Intake
    _workers: int

    def gold(self, request: GoldRequest) -> Gold:
        if request.group is None:
            return request.of_pairs(self.ids, self.same)
        values = self.columns.get(request.group, pa.nulls(self.documents))
        return request.of_groups(values, self.same)

    def similarity(self, a: Array, b: Array) -> Array:
        """The Jaccard similarity of the sets of three-word shingles; 0 for a rejected document."""
        place = np.full(self.documents, -1, np.int64)
        place[self._intake.position] = np.arange(len(self._intake))
        accepted = (place[a] >= 0) & (place[b] >= 0)
        verifier = Verifier(_ALIKE.score, self._intake.store, workers=self._workers)
        similarity = np.zeros(len(a))
        scored = verifier.scores(place[a[accepted]], place[b[accepted]])
        similarity[accepted] = np.where(scored.passed, scored.score, 0)
        return similarity


def survey(
    collection: Collection,
    settings: Settings,
    progress: Progress,
    *,
    group: str | None = None,
    compared: Sequence[str] = (),
) -> Survey:
    """Read the documents once. ``settings`` name the text and id columns; scores depend on the
    ``compared`` columns. Groups are not part of the digest: scores do not depend on labels."""
    plan = _plan(settings, [*([group] if group else []), *compared])
    # The store stays open while methods run, which need memory of their own.
    store = EvidenceStore(_SETS.evidence_dtype, limit=plan.evidence_limit // 4)
    intake = take_in(collection.limited(plan.limit), plan, progress, store)
    position, total = intake.position, intake.total
    same = np.unique(intake.prepared.normal_digests, return_inverse=True)[1]
    return Survey(
        documents=total,
        rejected=len(intake.rejected),
        ids=_spread(intake.ids, position, total),
        columns={name: _spread(intake.extra[name], position, total) for name in intake.extra},
        same=_spread_numbers(same, position, total),
        digest=_digest(intake, compared),
        _intake=intake,
        _workers=plan.workers,
    )


def _plan(settings: Settings, columns: Sequence[str]) -> Plan:
    plan = resolve(replace(settings, method=_SETS, set={}, threshold=None, date=None, within=None))
    extra = tuple(dict.fromkeys([*columns]))
    return replace(plan, columns=replace(plan.columns, extra=extra))


def _spread(values: Any, position: Array, total: int) -> pa.Array:
    """The values by document; rejected documents have null."""
    column = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if isinstance(column, pa.ChunkedArray):  # there were no chunks
        column = pa.array([], column.type)
    row = np.zeros(total, np.int64)
    accepted = np.zeros(total, bool)
    row[position], accepted[position] = np.arange(len(position)), True
    return column.take(pa.array(row, mask=~accepted))


def _spread_numbers(codes: Array, position: Array, total: int) -> Array:
    """The codes by document; each rejected document has a code of its own."""
    spread = int(codes.max(initial=-1)) + 1 + np.arange(total)
    spread[position] = codes
    return spread


def _digest(intake: Intake, compared: Sequence[str]) -> str:
    digest = hashlib.sha256(f"{intake.total}".encode())
    digest.update(np.ascontiguousarray(intake.position).data)
    digest.update(np.ascontiguousarray(intake.prepared.text_digests).data)
    digest.update(_column_digests(intake.ids).data)
    for name in sorted(set(compared) & intake.extra.keys()):
        digest.update(name.encode() + b"\0")
        digest.update(_column_digests(plain(intake.extra[name], name)).data)
    return digest.hexdigest()[:32]


def _column_digests(column: pa.Array) -> Array:
    strings = column.cast(pa.large_string())
    # A null must differ from an empty string.
    written = pc.binary_join_element_wise(
        pc.is_valid(strings).cast(pa.uint8()).cast(pa.large_string()),
        strings.fill_null(""),
        pa.scalar("", pa.large_string()),
    )
    ragged = Ragged.of_strings(written)
    return np.ascontiguousarray(_native.bytes_digests(ragged.values, ragged.offsets, 0))
