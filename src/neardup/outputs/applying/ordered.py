"""A run in the order of a policy: decided again from its pairs, or as it was where nothing moves.

With all pairs at hand the answer is that of a new run in that order. Where a run has listed only
some (``partial``), an order that moves documents may need pairs that were never listed: that is
refused, never guessed.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.decisions.order import Order, check_preferred, rank_of_all
from neardup.decisions.policy import Policy, check_names
from neardup.documents import Collection, Columns
from neardup.documents.columns import DEFAULT_ID, OURS
from neardup.documents.inputs import SOURCE
from neardup.errors import SettingsError, UsageError
from neardup.methods import registry
from neardup.names import shortened
from neardup.outputs.applying.again import read_again
from neardup.outputs.applying.references import decide_against
from neardup.outputs.result import Result
from neardup.outputs.rethreshold import decide_again
from neardup.schema import Array

BY_CHOICE = "choice in review"


@dataclass(frozen=True)
class Ordered:
    """``result`` is decided in the order; ``collection`` are its documents, as read. ``values`` are
    those of the criteria, by place among the accepted documents; ``place`` is that of each row of
    the decisions, −1 for rejected ones."""

    result: Result
    collection: Collection
    order: Order
    values: Sequence[pa.Array]
    place: Array
    chosen: Array  # rows that a person put first

    def deciding(self, first: Array, second: Array) -> list[str]:
        """For pairs of rows, the criterion that puts one before the other."""
        by_order = self.order.deciding(self.values, self.place[first], self.place[second])
        by_choice = np.isin(first, self.chosen).tolist()
        return [BY_CHOICE if one else said for one, said in zip(by_choice, by_order, strict=True)]


def in_order(result: Result, policy: Policy, first: Sequence[str] = ()) -> Ordered:
    """Reads the documents again, and refuses if they are not what they were. The documents
    ``first`` come before all others, whatever the policy says."""
    settings, order = result.info["settings"], policy.order
    check_names(policy, settings["text"], settings["id"] or DEFAULT_ID)
    collection = result.collection()
    columns = Columns(text=settings["text"], id=settings["id"], extra=order.columns)
    collection.check_columns(columns, [n for n in policy.fields or () if n not in OURS])
    again = read_again(result, collection, order.columns)
    if collection.inputs.offered:
        check_preferred(order, again.columns.get(SOURCE), collection.inputs.names)
    values = order.values(again.lengths, again.columns)
    total = len(result.decisions)
    rank = rank_of_all(order.rank_of(values, len(again.rows)), again.rows, total)
    chosen = rows_of(result, first)
    rank = with_first(rank, chosen)
    place = np.full(total, -1, np.int64)
    place[again.rows] = np.arange(len(again.rows))
    decided = _decided(result, policy, rank, again.rows)
    return Ordered(decided, collection, order, values, place, chosen)


def put_first(result: Result, first: Sequence[str]) -> Result:
    """The run as it is decided when these documents come before all others."""
    chosen = rows_of(result, first)
    rejected = np.asarray(pc.equal(result.decisions["decision"], schema.REJECTED))
    return _decided(result, None, with_first(result.rank, chosen), np.flatnonzero(~rejected))


def rows_of(result: Result, ids: Sequence[str]) -> Array:
    """Of accepted documents; an id that is none of theirs is an error."""
    table = result.decisions
    rejected = pc.equal(table["decision"], schema.REJECTED).combine_chunks()
    known = pc.if_else(rejected, None, table["id"].combine_chunks())
    found = pc.index_in(pa.array(ids, pa.large_string()), known)
    if found.null_count:
        missing = ids[found.is_null().index(True).as_py()]
        raise UsageError(
            f"No document of this run has the id {shortened(missing)!r}.", hint="see the column id."
        )
    return np.asarray(found).astype(np.int64)


def with_first(rank: Array, rows: Array) -> Array:
    """The same order, but for these rows, which come first as they stand here."""
    key = rank.astype(np.int64)
    key[rows] = np.arange(len(rows)) - len(rows)
    made = np.empty(len(key), np.int64)
    made[np.argsort(key, kind="stable")] = np.arange(len(key))
    return made


def _decided(result: Result, policy: Policy | None, rank: Array, rows: Array) -> Result:
    if np.array_equal(np.argsort(rank[rows]), np.argsort(result.rank[rows])):
        return result  # nobody moves, so nothing is decided otherwise
    if not result.pairs_complete:
        raise SettingsError(
            "This run listed only some of its pairs, and the policy has another order than the "
            "run, or other documents come first: that may need pairs that were not listed.",
            hint="run again with that policy, or run `neardup find`, with a larger --max-pairs "
            "where it says that pairs are partial; its run can be put into any order.",
        )
    info = copy.deepcopy(result.info)
    info.pop("kept_files", None)
    if policy is not None:
        info["settings"] |= {"keep": None, "policy": policy.describe()}
    method = registry.build(info["settings"]["method"], info["settings"]["parameters"])
    if info.get("against"):
        return decide_against(result, method, info, rank)
    return decide_again(result, result.pairs, method, info, rank)
