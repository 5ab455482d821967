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

from neardup.decisions.order import Order, check_preferred, rank_of_all
from neardup.decisions.policy import Policy, check_names
from neardup.documents import Collection, Columns
from neardup.documents.columns import DEFAULT_ID, OURS
from neardup.documents.inputs import SOURCE
from neardup.errors import SettingsError
from neardup.methods import registry
from neardup.outputs.applying.again import read_again
from neardup.outputs.applying.references import decide_against
from neardup.outputs.result import Result
from neardup.outputs.rethreshold import decide_again
from neardup.schema import Array


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

    def deciding(self, first: Array, second: Array) -> list[str]:
        """For pairs of rows, the criterion that puts one before the other."""
        return self.order.deciding(self.values, self.place[first], self.place[second])


def in_order(result: Result, policy: Policy) -> Ordered:
    """Reads the documents again, and refuses if they are not what they were."""
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
    place = np.full(total, -1, np.int64)
    place[again.rows] = np.arange(len(again.rows))
    decided = _decided(result, policy, rank, again.rows)
    return Ordered(decided, collection, order, values, place)


def _decided(result: Result, policy: Policy, rank: Array, rows: Array) -> Result:
    if np.array_equal(np.argsort(rank[rows]), np.argsort(result.rank[rows])):
        return result  # nobody moves, so nothing is decided otherwise
    if not result.pairs_complete:
        raise SettingsError(
            "This run listed only some of its pairs, and the policy has another order than the "
            "run: that may need pairs that were not listed.",
            hint="run again with that policy, or run `neardup find`, with a larger --max-pairs "
            "where it says that pairs are partial; its run can be put into any order.",
        )
    info = copy.deepcopy(result.info)
    info.pop("kept_files", None)
    info["settings"] |= {"keep": None, "policy": policy.describe()}
    method = registry.build(info["settings"]["method"], info["settings"]["parameters"])
    if info.get("against"):
        return decide_against(result, method, info, rank)
    return decide_again(result, result.pairs, method, info, rank)
