"""What a policy does with each set-aside document: the action of its kind, or review.

A copy that contains the kept document says more than what is kept: it is not dropped or merged but
goes to review, unless the policy says so (``contains``). An action is taken only where the pair has
what the policy asks of it (``needs``); what is unknown is less than anything asked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.policy import ACTIONS, DROP, LINK, MERGE, REVIEW, Policy
from neardup.schema import KINDS, Array

CONTAINS = "b_in_a"  # the direction of a set-aside document that contains the kept one


class Chosen(NamedTuple):
    """By document, as numbers in ``ACTIONS``: what is done, and what the kind alone would say."""

    action: Array
    by_kind: Array


def choose(
    policy: Policy, kind: pa.Array, score: Array, confidence: Array, contains: Array, ref: Array
) -> Chosen:
    """``score`` and ``confidence`` are NaN where unknown; ``contains`` marks copies that hold the
    kept one; ``ref`` copies of references, into which nothing is merged: they are linked."""
    actions = np.array([ACTIONS.index(policy.action(one)) for one in (None, *KINDS)], np.int8)
    known = pc.index_in(kind.cast(pa.string()), pa.array(KINDS, pa.string()))
    by_kind = actions[np.asarray(pc.fill_null(known, -1)).astype(np.int64) + 1]
    by_kind[ref & (by_kind == ACTIONS.index(MERGE))] = ACTIONS.index(LINK)
    action = by_kind.copy()
    lossy = np.isin(by_kind, [ACTIONS.index(DROP), ACTIONS.index(MERGE)])
    action[contains & lossy] = ACTIONS.index(policy.contains)
    for name, least in policy.needs.items():
        asked = by_kind == ACTIONS.index(name)
        for measure, value in least.items():
            has = score if measure == "score" else confidence
            action[asked & (action == by_kind) & ~(has >= value)] = ACTIONS.index(REVIEW)
    return Chosen(action, by_kind)
