"""The engine for a ranked result list: few documents, a ranking, and a user who waits.

``nd.group`` groups the near-duplicates of one list and drops nothing (Conrad et al. 2003, §8).
``Grouper`` serves a search engine that groups many lists and may have stored a signature with
each document. The documents of a list are prepared from texts or read from signatures; rows that
cannot be compared are left out, each with a reason.

The rule of a run decides them in the order of the chosen representative: best rank, first or last
published, or longest. Each group is therefore a kept document with those that match it, and no
document joins a group through a chain of matches. Keys, scores and the rule are those of a run;
only the steps for large collections are omitted. A single list is too small to show which features
are rare, so the default method here needs no counts (docs/result-lists.md has the figures).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.arguments import GroupArguments, documented
from neardup.artefacts.artefact import Artefact, Artefacts, Need, ReadyNeed, resolved
from neardup.artefacts.calibration import Calibration
from neardup.decisions.kinds import Kinds, aligned_kinds, by_digests
from neardup.decisions.order import Order
from neardup.engines.batch.batch_run import decide_intake
from neardup.engines.batch.intake import empty_intake, joined_prepared, prepare
from neardup.engines.batch.threshold_choice import asks_consistency, with_calibration
from neardup.engines.ranked_list import (
    TEXT,
    RankedList,
    Signed,
    header_of,
    ranked_list,
    read_signed,
    signed,
)
from neardup.errors import ColumnError, NeardupError, SettingsError, SignatureError, all_problems
from neardup.matching.evidence import EvidenceStore
from neardup.methods import registry
from neardup.methods.base import UNDATED, Method, Prepared
from neardup.papers.recipe import method_arguments
from neardup.plan import Plan, resolve
from neardup.progress import Silent
from neardup.runs.grouped_list import Grouped, Places
from neardup.runs.run_tables import Intake
from neardup.schema import Array, Ragged
from neardup.settings import Settings, settings_of

BATCH_ROWS = 10_000


@dataclass(frozen=True)
class Taken:
    """The comparable ``rows`` of the list, best first, with their ``texts`` if they have any, and
    the ``reasons`` of the remaining rows."""

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
    """Also returns the plan with the artefacts of its method, counted in this list if necessary."""
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
    if batch.num_rows:
        method.check_columns(batch)
    missing = [need for need in method.needs if need.name not in plan.artefacts]
    if missing:
        plan = replace(plan, artefacts={**plan.artefacts, **resolved(missing, batch)})
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
    """``signatures`` is a column, or one for each row, with this ``header`` and evidence of
    ``dtype``."""
    stored, name = _stored(listed, signatures)
    rows = order[np.array([signature is not None for signature in stored], np.bool_)[order]]
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


USUAL = ("shingles", {"words": 3, "threshold": 0.5})
# As an order of the run. oldest and newest are what --keep calls first and last here.
REPRESENTATIVES = {"rank": "first", "first": "oldest", "last": "newest", "longest": "longest"}
REPRESENTATIVES |= {order: order for order in ("oldest", "newest")}
SETTINGS = ("method", "threshold", "set", "date", "workers", "memory", "recipe")


@dataclass(frozen=True)
class Listing:
    """How a list is read.

    ``representative``: the result that represents a group: "rank" (the best ranked),
    "oldest" or "newest" (``date`` names the column; also "first" and "last") or "longest".
    ``collapse``: show only the representatives, with a count.
    ``text``: the column that holds the text.
    ``id``: the column that holds the id.
    ``rank``: order the list by this column, smallest value first.
    ``score``: order the list by this column, greatest value first.
    ``signatures``: what ``Grouper.sign`` returned, as a column or one for each result.
    """

    representative: str = "rank"
    collapse: bool = False
    text: str = TEXT
    id: str | None = None
    rank: str | None = None
    score: str | None = None
    signatures: str | Sequence[bytes | None] | None = None

    @property
    def compared(self) -> str:
        """The column that a list must have."""
        return self.signatures if isinstance(self.signatures, str) else self.text

    def __post_init__(self) -> None:
        if self.representative not in REPRESENTATIVES:
            raise SettingsError(
                f"representative is {self.representative!r}.",
                hint=f"expected {', '.join(REPRESENTATIVES)}.",
            )
        if self.rank is not None and self.score is not None:
            raise SettingsError(
                "Both rank and score are given; a list has one order.",
                hint="rank is smallest first, score is greatest first; give one of them.",
            )


@documented(Listing)
def group(results: Any, **settings: Unpack[GroupArguments]) -> Grouped:
    """Group the near-duplicates of a ranked list under their representatives; nothing is dropped.

    ``results``: texts or dicts, a pandas, polars or pyarrow table, or the path of a file, best
    first, or in any order with the column that ``rank`` or ``score`` names. Beside the keywords
    below there are those of the method, as in ``neardup.dedup``: ``method`` (default: shingles
    of three words), ``threshold`` (default: 0.5), ``set``, ``date``, ``artefacts`` of a run,
    ``recipe`` and parameters of the method.
    """
    listing = {field.name for field in fields(Listing)}
    wanted: dict[str, Any] = {n: value for n, value in settings.items() if n in listing}
    others: dict[str, Any] = {n: value for n, value in settings.items() if n not in listing}
    _check_all(wanted, others)
    return Grouper(**others).group(results, **wanted)


def _check_all(listing: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Reports all errors of both at once."""
    problems: list[NeardupError] = []
    for check in (
        lambda: _keep(Listing(**listing).representative, settings.get("date")),
        lambda: _plan({k: v for k, v in settings.items() if k != "artefacts"}),
    ):
        try:
            check()
        except NeardupError as error:
            problems.append(error)
    if problems:
        raise all_problems(problems)


class Grouper:
    """One method with its artefacts, for many lists.

    ``artefacts`` are those of a run (``result.artefacts``), by name; a method that needs some and
    has neither these nor files counts each list anew, and cannot sign. Other settings are those of
    ``neardup.dedup``: ``method``, ``threshold``, ``date``, and parameters of the method.
    """

    def __init__(self, *, artefacts: Mapping[str, Artefact] | None = None, **settings: Any) -> None:
        plan = _plan(settings)
        self._plan = _as_calibrated(replace(plan, artefacts=_frozen(plan.method, artefacts or {})))

    @property
    def method(self) -> Method:
        return self._plan.method

    @functools.cached_property
    def _header(self) -> bytes:
        return header_of(self._plan)

    def sign(self, documents: Any, *, text: str = TEXT) -> list[bytes | None]:
        """The signature to store with each document; None for one whose text cannot be used."""
        missing = [n.name for n in self.method.needs if n.name not in self._plan.artefacts]
        if missing:
            raise SettingsError(
                f"To sign documents {self.method.name} needs {' and '.join(missing)} of a "
                "collection; what one list says of rarity, the next one does not.",
                hint="give artefacts=result.artefacts of a run, or the file of each.",
            )
        listed = ranked_list(documents, text)
        taken, _ = from_texts(listed, text, np.arange(len(listed)), self._plan)
        signatures = [one for part in taken.parts for one in signed(part, self._header)]
        by_row = dict(zip(taken.rows.tolist(), signatures, strict=True))
        return [by_row.get(row) for row in range(len(listed))]

    def group(self, results: Any, **listing: Any) -> Grouped:
        """``results`` and ``listing`` are those of ``neardup.group``."""
        wanted = _listing(listing)
        plan = replace(self._plan, keep=_keep(wanted.representative, self._plan.written.date))
        listed = ranked_list(results, wanted.compared)
        order = listed.best_first(wanted.rank, wanted.score)
        if wanted.signatures is None:
            taken, plan = from_texts(listed, wanted.text, order, plan)
        else:
            dtype = self.method.evidence_dtype
            taken = from_signatures(listed, wanted.signatures, order, self._header, dtype)
        columns = {name: listed.column(name).take(taken.rows) for name in plan.keep.columns}
        values = plan.keep.values(taken.lengths, columns)
        places = _decided(taken, order, plan, values)
        undated = plan.keep.undated(values, columns)
        return Grouped(listed, places, id=wanted.id, collapse=wanted.collapse, undated=undated)


def _decided(taken: Taken, order: Array, plan: Plan, values: Sequence[pa.Array]) -> Places:
    """Decides the comparable rows by the rule of a run, and then gives every row its place.
    ``values`` are those of the criteria of the order."""
    rank = plan.keep.rank_of(values, len(taken.rows))
    intake = taken.intake(plan)
    outcome, _ = decide_intake(intake, plan, rank, Silent())
    intake.store.close()
    prepared, kept_of = intake.prepared, outcome.decided.kept_of
    kind = _kinds(taken, prepared, kept_of)
    flags = prepared.flags.copy()
    for criterion, dates in zip(plan.keep.criteria, values, strict=True):
        if criterion.name == "date":
            flags[np.asarray(dates.is_null())] |= UNDATED
    return Places.of(order, taken.rows, taken.reasons, kept_of, outcome.decided.score, kind, flags)


def _kinds(taken: Taken, prepared: Prepared, kept_of: Array) -> Kinds:
    """Kinds of duplicates; without texts, signatures show only which texts are equal."""
    documents = np.arange(len(kept_of))
    kinds = by_digests(documents, kept_of, prepared.text_digests, prepared.normal_digests)
    open_ = np.flatnonzero((kept_of >= 0) & (kinds.kind < 0))
    if taken.texts is not None and len(open_):
        texts = Ragged.of_strings(taken.texts)
        kinds.put(open_, aligned_kinds(texts, open_, kept_of[open_]))
    return kinds


def _check_names(settings: Mapping[str, Any]) -> None:
    of_runs = {field.name for field in fields(Settings)} - set(SETTINGS)
    if wrong := sorted(of_runs & settings.keys()):
        raise SettingsError(
            f"{wrong[0]!r} is a setting of whole runs, not of result lists.",
            hint="who stands for a group is said by representative=."
            if wrong[0] == "keep"
            else f"settings are {', '.join(SETTINGS)}, and parameters of the method.",
        )


def _plan(settings: Mapping[str, Any]) -> Plan:
    _check_names(settings)
    name, parameters = USUAL
    usual = {"workers": 1, "method": registry.build(name, parameters)}
    return resolve(settings_of({**usual, **method_arguments(settings)}))


def _listing(given: Mapping[str, Any]) -> Listing:
    known = [field.name for field in fields(Listing)]
    if wrong := [name for name in given if name not in known]:
        raise SettingsError(
            f"{wrong[0]!r} says nothing about a list.",
            hint=f"there are {', '.join(known)}; the method is said when the Grouper is made.",
        )
    return Listing(**given)


def _keep(representative: str, date: str | None) -> Order:
    order = REPRESENTATIVES[representative]
    if date is None and order in ("oldest", "newest"):
        raise SettingsError(
            f"representative {representative!r} is the {order} result; which column is the date?",
            hint="name it with --date COLUMN (in Python: date='COLUMN').",
        )
    return Order.parse(order, date)


def _frozen(method: Method, given: Mapping[str, Artefact]) -> Artefacts:
    """The artefacts of the method, from files, arguments or parameters, and the calibration of
    their run."""
    artefacts = {n.name: n.load(Path(n.file)) for n in method.needs if n.file is not None}
    for need in method.needs:
        if need.name in given and need.name not in artefacts:
            artefacts[need.name] = _fitting(need, given[need.name])
        elif need.name not in artefacts and isinstance(need, ReadyNeed):
            artefacts[need.name] = need.ready()
    if all(n.name in artefacts for n in method.needs):
        method.check_artefacts(artefacts)
    calibration = given.get(Calibration.kind)
    return artefacts if calibration is None else {**artefacts, Calibration.kind: calibration}


def _as_calibrated(plan: Plan) -> Plan:
    """The threshold where a calibration by consistency puts it."""
    calibration = plan.artefacts.get(Calibration.kind)
    if isinstance(calibration, Calibration) and asks_consistency(plan.method):
        return with_calibration(plan, calibration)
    return plan


def _fitting(need: Need, artefact: Artefact) -> Artefact:
    for name in ("filter", "words", "text"):
        wanted = getattr(need, name, None)
        if wanted is not None and getattr(artefact, name, None) != wanted:
            raise SignatureError(
                f"The artefact {need.name} has {name} {getattr(artefact, name, None)!r}; the "
                f"method asks for {wanted!r}.",
                hint="make the run with the same method and parameters.",
            )
    return artefact


__all__ = ["Grouper", "group"]
