"""The table of actions: each document once, with its action and the reason as a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.decisions.kinds import kind_phrase
from neardup.decisions.policy import (
    ACTIONS,
    CONTAINS,
    DROP,
    KEEP,
    LINK,
    MERGE,
    Chosen,
    Policy,
    choose,
)
from neardup.runs.policy_order import Ordered
from neardup.schema import Array
from neardup.wording import score_text

LINKS = ("id", "kept_id", "kind", "score", "action")
_DONE = {"keep": "kept", "link": "linked", "merge": "merged", "drop": "dropped"}


@dataclass(frozen=True)
class Acted:
    """Actions as arrays by row of the decisions. ``kept_row`` is −1 for kept and rejected
    documents, and for copies of references."""

    ordered: Ordered
    policy: Policy
    rejected: Array
    aside: Array
    kept_row: Array
    chosen: Chosen
    by_hand: Array  # rows whose action a person chose

    def mask(self, *names: str) -> Array:
        numbers = [ACTIONS.index(name) for name in names]
        return ~self.rejected & np.isin(self.chosen.action, numbers)

    def counts(self) -> dict[str, int]:
        counts = {name: int(self.mask(name).sum()) for name in ACTIONS}
        return {"documents": len(self.rejected), **counts, "rejected": int(self.rejected.sum())}


def act(ordered: Ordered, policy: Policy, changed: Mapping[str, str] | None = None) -> Acted:
    """Choose the action of each document. ``changed`` maps ids to actions that override the policy.
    A kept document stays kept, and nothing is merged into a reference."""
    table = ordered.result.decisions
    decision = table["decision"].combine_chunks().cast(pa.string())
    rejected = np.asarray(pc.equal(decision, schema.REJECTED))
    aside = np.asarray(pc.equal(decision, schema.DUPLICATE))
    ref = np.asarray(pc.fill_null(table["ref"], False))
    score, confidence = _numbers(table, "score"), _numbers(table, "confidence")
    direction = table["direction"].combine_chunks().cast(pa.string())
    contains = np.asarray(pc.fill_null(pc.equal(direction, CONTAINS), False))
    kind = table["kind"].combine_chunks()
    chosen = choose(policy, kind, score, confidence, contains, ref)
    keep = np.int8(ACTIONS.index(KEEP))
    chosen = Chosen(*(np.where(aside, codes, keep) for codes in chosen))
    ids = ordered.result.accepted_ids
    place = pc.index_in(table["kept_id"].combine_chunks(), ids)
    kept_row = np.asarray(pc.fill_null(place, -1)).astype(np.int64)
    kept_row[~aside | ref] = -1
    by_hand = override(chosen.action, changed or {}, ids, aside, ref)
    return Acted(ordered, policy, rejected, aside, kept_row, chosen, by_hand)


def override(
    action: Array, changed: Mapping[str, str], ids: pa.Array, aside: Array, ref: Array
) -> Array:
    """Replace the actions of some documents in place, and return the mask of their rows."""
    place = pc.index_in(pa.array(changed.keys(), pa.large_string()), ids)
    rows = np.asarray(pc.fill_null(place, -1)).astype(np.int64)
    codes = np.array([ACTIONS.index(name) for name in changed.values()], np.int8)
    valid = (rows >= 0) & aside[rows] if len(rows) else np.zeros(0, np.bool_)
    rows, codes = rows[valid], codes[valid]
    codes = np.where(ref[rows] & (codes == ACTIONS.index(MERGE)), ACTIONS.index(LINK), codes)
    action[rows] = codes
    by_hand = np.zeros(len(action), np.bool_)
    by_hand[rows] = True
    return by_hand


def _numbers(table: pa.Table, name: str) -> Array:
    values: Array = table[name].cast(pa.float64()).to_numpy(zero_copy_only=False)
    return values


def actions_table(acted: Acted, fills: Mapping[int, Mapping[str, int]]) -> pa.Table:
    """The table; ``fills`` maps the row of a kept document to its filled fields, and each field to
    the row of the copy that the value comes from."""
    old = acted.ordered.result.decisions
    action = schema.coded_column(np.where(acted.rejected, -1, acted.chosen.action), ACTIONS)
    same = {name: old[name] for name in schema.ACTIONS.names if name in old.column_names}
    ids = old["id"]
    filled: list[list[dict[str, str]] | None] = [None] * len(old)
    for row, fields in fills.items():
        filled[row] = [
            {"field": field, "from": ids[source].as_py()} for field, source in fields.items()
        ]
    type_of_fills = schema.ACTIONS.field("fills").type
    columns = {**same, "action": action, "reason": _reasons(acted, filled)}
    return pa.table({**columns, "fills": pa.array(filled, type_of_fills)}, schema=schema.ACTIONS)


def links_table(actions: pa.Table) -> pa.Table:
    """Every copy with its representative, whatever its action."""
    aside = pc.equal(actions["decision"], schema.DUPLICATE)
    return actions.filter(aside).select(LINKS)


def _reasons(acted: Acted, fills: list[list[dict[str, str]] | None]) -> pa.Array:
    table = acted.ordered.result.decisions
    old = table["reason"].to_pylist()
    copies = np.bincount(acted.kept_row[acted.kept_row >= 0], minlength=len(table))
    reasons = [_of_kept(why, n) for why, n in zip(old, copies.tolist(), strict=True)]
    for row in acted.ordered.chosen.tolist():
        reasons[row] = reasons[row].replace("kept: ", "kept: chosen in review; ", 1)
    for row, filled in enumerate(fills):
        if filled:
            values = ", ".join(f"{value['field']} from {value['from']}" for value in filled)
            reasons[row] += f" Filled: {values}."
    for row in np.flatnonzero(acted.rejected).tolist():
        reasons[row] = old[row]
    for row, sentence in _of_copies(acted):
        reasons[row] = sentence
    return pa.array(reasons, pa.large_string())


def _of_kept(why: str, copies: int) -> str:
    if copies:
        return f"kept: it stands for {copies:,} {'copy' if copies == 1 else 'copies'}."
    if why.startswith("too_short"):
        return "kept: it is too short or too repetitive to be compared."
    return "kept: it matches no kept document before it."


def _of_copies(acted: Acted) -> list[tuple[int, str]]:
    rows = np.flatnonzero(acted.aside)
    table = acted.ordered.result.decisions.take(pa.array(rows))
    known = acted.kept_row[rows] >= 0
    deciding = np.full(len(rows), "", dtype=object)
    deciding[known] = acted.ordered.deciding(acted.kept_row[rows[known]], rows[known])
    names = ("kept_id", "kind", "direction", "score")
    columns = zip(*(table[name].to_pylist() for name in names), strict=True)
    numbers = zip(*(codes[rows].tolist() for codes in acted.chosen), strict=True)
    confidences = _numbers(table, "confidence").tolist()
    sentences = []
    by_hand = acted.by_hand[rows].tolist()
    for row, criterion, confidence, (kept, kind, direction, score), (action, by_kind), hand in zip(
        rows.tolist(), deciding.tolist(), confidences, columns, numbers, by_hand, strict=True
    ):
        contains = direction == CONTAINS
        has = {"score": score, "confidence": confidence}
        what = (
            f"{_DONE.get(ACTIONS[action], 'for review')} by choice in review"
            if hand
            else _what_is_done(acted.policy, ACTIONS[action], ACTIONS[by_kind], has, contains)
        )
        why = f"which comes first by {criterion}" if criterion else "which is a reference"
        copy = f"{kind_phrase(kind, direction)}: copy" if contains else f"{kind} copy"
        of = copy if kind else "copy of no known kind"
        sentences.append((row, f"{what}: {of}, score {score_text(score, kind)}, of {kept}, {why}."))
    return sentences


def _what_is_done(
    policy: Policy, action: str, by_kind: str, has: Mapping[str, float], contains: bool
) -> str:
    done = _DONE.get(action, "for review")
    if action == by_kind:
        return done
    if contains and by_kind in (DROP, MERGE) and action == policy.contains:
        return f"{done} instead of {by_kind} (it says more than what is kept)"
    lacking = [
        f"{measure} {_written(has[measure])}, {value:g} is asked"
        for measure, value in policy.needs[by_kind].items()
        if not has[measure] >= value
    ]
    return f"for review instead of {by_kind} ({'; '.join(lacking)})"


def _written(number: float) -> str:
    return "unknown" if np.isnan(number) else score_text(number)


def merging(acted: Acted) -> tuple[Array, Array]:
    """The merged copies in the order of the policy, and the rows that they are merged into."""
    copies = np.flatnonzero(acted.mask(MERGE) & acted.aside)
    copies = copies[np.argsort(acted.ordered.result.rank[copies], kind="stable")]
    return copies, acted.kept_row[copies]
