"""The documents of a list with keys and evidence, best first: made from texts, or read back from
signatures. Rows that cannot be compared are left out here, each with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.artefacts.artefact import resolved
from neardup.errors import ColumnError, SettingsError
from neardup.grouping.ranked import RankedList
from neardup.grouping.signing import Signed, read_signed
from neardup.local.intake import empty_intake, joined_prepared, prepare
from neardup.matching.evidence import EvidenceStore
from neardup.methods.method import ChecksArtefacts, ChecksColumns
from neardup.outputs.outcome import Intake
from neardup.plan import Plan
from neardup.schema import Array

BATCH_ROWS = 10_000


@dataclass(frozen=True)
class Taken:
    """``rows`` of the list, best first, with their ``texts`` where there are some; ``reasons`` of
    those that are not among them."""

    rows: npt.NDArray[np.int64]
    parts: list[Signed]
    reasons: dict[int, str]
    texts: pa.LargeStringArray | None = None

    @property
    def lengths(self) -> Array:
        return np.concatenate([np.empty(0, np.int64), *(part.lengths for part in self.parts)])

    def intake(self, plan: Plan) -> Intake:
        store = EvidenceStore(plan.method.evidence_dtype, limit=plan.evidence_limit)
        for part in self.parts:
            store.append(part.prepared.evidence)
        return replace(
            empty_intake(store),
            position=np.arange(len(self.rows)),
            prepared=joined_prepared([part.prepared for part in self.parts]),
        )


def from_texts(listed: RankedList, text: str, order: Array, plan: Plan) -> tuple[Taken, Plan]:
    """The plan comes back with what its method needs, counted in this list where it has to be."""
    texts = listed.texts(text)
    rows = order[np.asarray(pc.is_valid(texts.array), np.bool_)[order]]
    missing = np.setdiff1d(order, rows).tolist()
    batch = _batch(listed, texts.array, rows, plan)
    plan = _with_needs(plan, batch)
    starts = range(0, len(rows), BATCH_ROWS)
    parts = [_prepared(batch.slice(start, BATCH_ROWS), plan) for start in starts]
    reasons = {row: texts.reasons.get(row, f"{text} is missing") for row in missing}
    return Taken(rows, parts, reasons, batch.column("text")), plan


def _batch(listed: RankedList, texts: pa.Array, rows: Array, plan: Plan) -> pa.RecordBatch:
    chosen = pa.array(rows)
    extra = {name: listed.column(name).take(chosen) for name in plan.columns.extra}
    number = pa.array(rows + 1)
    columns = [number, number.cast(pa.large_string()), texts.take(chosen), *extra.values()]
    types = {name: column.type for name, column in extra.items()}
    return pa.RecordBatch.from_arrays(columns, schema=schema.documents(types))


def _with_needs(plan: Plan, batch: pa.RecordBatch) -> Plan:
    method = plan.method
    if batch.num_rows and isinstance(method, ChecksColumns):
        method.check_columns(batch)
    missing = [need for need in method.needs if need.name not in plan.artefacts]
    if missing:
        plan = replace(plan, artefacts={**plan.artefacts, **resolved(missing, batch)})
        if isinstance(method, ChecksArtefacts):
            method.check_artefacts(plan.artefacts)
    return plan


def _prepared(batch: pa.RecordBatch, plan: Plan) -> Signed:
    lengths = np.asarray(pc.utf8_length(batch.column("text"))).astype(np.int64)
    return Signed(prepare(batch, plan), lengths)


def from_signatures(
    listed: RankedList,
    signatures: str | Sequence[bytes | None],
    order: Array,
    header: bytes,
    dtype: np.dtype[np.generic],
) -> Taken:
    """``signatures``: a column, or one a row; with that ``header``, and evidence of ``dtype``."""
    stored, name = _stored(listed, signatures)
    rows = order[np.array([one is not None for one in stored], np.bool_)[order]]
    odd = next((row for row in rows.tolist() if not isinstance(stored[row], bytes)), None)
    if odd is not None:
        raise ColumnError(
            f"{name} of {listed.file} have to be bytes, as sign() made them; row {odd + 1} has "
            f"{stored[odd]!r:.40}.",
            hint="name the column of the signatures.",
        )
    missing = np.setdiff1d(order, rows).tolist()
    chosen = [stored[row] for row in rows.tolist()]
    parts = [read_signed(chosen, header, dtype, rows)] if chosen else []
    return Taken(rows, parts, dict.fromkeys(missing, "signature is missing"))


def _stored(listed: RankedList, signatures: str | Sequence[bytes | None]) -> tuple[list[Any], str]:
    if isinstance(signatures, str):
        values = listed.values(signatures)
        column = values.to_pylist() if isinstance(values, pa.Array) else list(values)
        return column, f"The values of {signatures!r}"
    if len(signatures) != len(listed):
        raise SettingsError(
            f"There are {len(signatures)} signatures for {len(listed)} results.",
            hint="give one for each, None where there is none.",
        )
    return list(signatures), "The signatures"
