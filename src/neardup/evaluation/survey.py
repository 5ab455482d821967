"""What an evaluation has to know of the documents beside their pairs, in one pass over them.

Ids, the column of groups, which texts are equal after normalisation, and the sets of three-word
shingles that say how alike the positive pairs are. The digest of all that was read tells whether
pairs that were scored before are still those of these documents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.decisions.values import plain
from neardup.documents import Collection
from neardup.local.intake import take_in
from neardup.matching.evidence import EvidenceStore
from neardup.matching.verify import Verifier
from neardup.methods.join import Join
from neardup.outputs.outcome import Intake
from neardup.plan import Plan, Settings, resolve
from neardup.progress import Progress
from neardup.schema import Array, Ragged

SHINGLE_WORDS = 3
# Nothing is looked for, and the highest threshold makes the fewest keys. Pairs are then scored at
# the lowest one there is, so that each that shares a shingle has its exact measure.
_SETS = Join(size=SHINGLE_WORDS, min_words=0, threshold=1.0)
_ALIKE = replace(_SETS, threshold=1e-6)


@dataclass(frozen=True)
class Survey:
    """Documents are numbered in input order, rejected ones included."""

    documents: int
    rejected: int
    ids: pa.Array  # None for rejected documents
    columns: dict[str, pa.Array]  # those that were asked for, null for rejected documents
    same: Array  # equal numbers: equal after normalisation
    digest: str
    _intake: Intake
    _workers: int

    def similarity(self, a: Array, b: Array) -> Array:
        """Jaccard's measure of the sets of three-word shingles; 0 with a rejected document."""
        place = np.full(self.documents, -1, np.int64)
        place[self._intake.position] = np.arange(len(self._intake))
        there = (place[a] >= 0) & (place[b] >= 0)
        verifier = Verifier(_ALIKE.score, self._intake.store, workers=self._workers)
        found = np.zeros(len(a))
        scored = verifier.scores(place[a[there]], place[b[there]])
        found[there] = np.where(scored.passed, scored.score, 0)
        return found


def survey(
    collection: Collection,
    settings: Settings,
    progress: Progress,
    *,
    group: str | None = None,
    compared: Sequence[str] = (),
) -> Survey:
    """``settings`` say what the text and the id is; ``compared`` are columns that scores depend on.
    The groups are not part of the digest: other labels leave the scores as they are."""
    plan = _plan(settings, [*([group] if group else []), *compared])
    # It is there while methods are run, which need their own memory.
    store = EvidenceStore(_SETS.evidence_dtype, limit=plan.evidence_limit // 4)
    intake = take_in(collection.limited(plan.limit), plan, progress, store)
    position, total = intake.position, intake.total
    same = np.unique(intake.prepared.normal_digests, return_inverse=True)[1]
    return Survey(
        documents=total,
        rejected=len(intake.rejected),
        ids=_spread(intake.ids, position, total),
        columns={name: _spread(intake.extra[name], position, total) for name in intake.extra},
        same=_numbers(same, position, total),
        digest=_digest(intake, compared),
        _intake=intake,
        _workers=plan.workers,
    )


def _plan(settings: Settings, columns: Sequence[str]) -> Plan:
    plan = resolve(replace(settings, method=_SETS, set={}, threshold=None, date=None, within=None))
    extra = tuple(dict.fromkeys([*columns]))
    return replace(plan, columns=replace(plan.columns, extra=extra))


def _spread(values: Any, position: Array, total: int) -> pa.Array:
    """By document; rejected ones have none."""
    column = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if isinstance(column, pa.ChunkedArray):  # no chunk at all
        column = pa.array([], column.type)
    row = np.zeros(total, np.int64)
    there = np.zeros(total, bool)
    row[position], there[position] = np.arange(len(position)), True
    return column.take(pa.array(row, mask=~there))


def _numbers(codes: Array, position: Array, total: int) -> Array:
    """A rejected document is equal to none."""
    spread = int(codes.max(initial=-1)) + 1 + np.arange(total)
    spread[position] = codes
    return spread


def _digest(intake: Intake, compared: Sequence[str]) -> str:
    made = hashlib.sha256(f"{intake.total}".encode())
    made.update(np.ascontiguousarray(intake.position).data)
    made.update(np.ascontiguousarray(intake.prepared.text_digests).data)
    made.update(_column_digests(intake.ids).data)
    for name in sorted(set(compared) & intake.extra.keys()):
        made.update(name.encode() + b"\0")
        made.update(_column_digests(plain(intake.extra[name], name)).data)
    return made.hexdigest()[:32]


def _column_digests(column: pa.Array) -> Array:
    strings = column.cast(pa.large_string())
    # No value is not the empty one.
    written = pc.binary_join_element_wise(
        pc.is_valid(strings).cast(pa.uint8()).cast(pa.large_string()),
        strings.fill_null(""),
        pa.scalar("", pa.large_string()),
    )
    ragged = Ragged.of_strings(written)
    return np.ascontiguousarray(_native.bytes_digests(ragged.values, ragged.offsets, 0))
