"""The local engine: one collection, one machine, one plan → an outcome.

intake → order → equal evidence collapsed → keys shared → pairs verified → the rule → everyone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.clusters import components, rule_clusters
from neardup.decisions.copies import Decided, decide_all
from neardup.decisions.order import rank_documents
from neardup.decisions.rule import Verdict, decide
from neardup.documents import Collection
from neardup.local.intake import take_in
from neardup.matching.candidates import (
    distinct,
    pairs_within,
    share_keys,
    that_share_a_key,
)
from neardup.matching.collapse import leaders
from neardup.matching.hot import refine
from neardup.matching.rare import rare_groups
from neardup.matching.verify import Pairs, Verifier
from neardup.outputs.outcome import Intake, Outcome
from neardup.plan import Plan
from neardup.progress import Progress
from neardup.schema import Array


def run(
    collection: Collection, plan: Plan, progress: Progress, folder: Path | None = None
) -> Outcome:
    clock = _Clock()
    intake = take_in(collection, plan, progress, folder)
    clock.lap("reading")
    rank = rank_documents(plan.keep, intake.lengths, intake.extra.get(plan.keep.column or ""))
    within = _codes(intake, plan.within)
    leader = leaders(intake.prepared.digests, rank, within)
    follower = leader != np.arange(len(leader))
    followed = np.zeros(len(leader), bool)
    followed[leader[follower]] = True
    order = np.flatnonzero(~follower)
    order = order[np.argsort(rank[order], kind="stable")]
    progress.stage("matching", unit="pairs")
    verifier = Verifier(plan.method, intake.store, workers=plan.workers, progress=progress.advance)
    verdict, complete = _match(intake, plan, order, within, followed, verifier)
    clock.lap("matching")
    progress.stage("deciding")
    kept_of = np.full(len(leader), -1, np.int64)
    score = np.zeros(len(leader))
    aside = verdict.kept_of >= 0
    kept_of[order[aside]] = order[verdict.kept_of[aside]]
    score[order] = verdict.score
    pairs = verdict.pairs.mapped(order)
    decided = decide_all(leader, rank, kept_of, score, pairs)
    cluster = _clusters(plan, leader, decided, pairs)
    clock.lap("deciding")
    progress.finish()
    return Outcome(
        intake, rank, leader, decided, cluster, pairs, complete, verifier.scored, clock.laps
    )


def _codes(intake: Intake, column: str | None) -> Array | None:
    """``within`` values as numbers; missing values are a value of their own."""
    if column is None:
        return None
    values = intake.extra.get(column, pa.chunked_array([pa.array([], pa.string())]))
    encoded = pc.dictionary_encode(values, null_encoding="encode")
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return np.asarray(encoded.indices).astype(np.int64)


def _match(
    intake: Intake,
    plan: Plan,
    order: Array,
    within: Array | None,
    followed: Array,
    verifier: Verifier,
) -> tuple[Verdict, bool]:
    """Works on places in ``order``: leaders, first to last."""
    verify = _in_order(verifier, order)
    codes = None if within is None else within[order]
    if plan.keys_from_evidence:
        # What stands for a short document is a digest, not features: its equals are collapsed
        # already, and anything else that shares a number with it does so by accident.
        long = np.flatnonzero(~intake.prepared.too_short[order])
        groups = distinct(rare_groups(long, order, codes, plan.method, intake.store))
        a, b, hot = pairs_within(groups, plan.pair_budget(len(order)))
        cold = verify(a, b)
    else:
        keys, probes = intake.prepared.keys.take(order), intake.prepared.probes[order]
        groups = distinct(share_keys(keys, probes, codes))
        a, b, hot = pairs_within(groups, plan.usual_pairs(len(order)))
        cold = verify(a, b)
        if len(hot):
            # Looked at more closely, also when all pairs are asked for: a template's would fail.
            # Rare features may bring together what shares no key; engines must not differ in that.
            hot = refine(hot, order, codes, plan.method, intake.store, verify)
            verify = _only_if(verify, lambda a, b: that_share_a_key(keys, probes, a, b))
            a, b, hot = pairs_within(hot, plan.pair_budget(len(order)) - len(a))
            cold = Pairs.concat([cold, verify(a, b)]).distinct()
    verdict = decide(len(order), cold, hot, verify, followed[order])
    return verdict, not len(hot)


Verify = Callable[[Array, Array], Pairs]


def _only_if(verify: Verify, chosen: Callable[[Array, Array], tuple[Array, Array]]) -> Verify:
    return lambda a, b: verify(*chosen(a, b))


def _in_order(verifier: Verifier, order: Array) -> Verify:
    """Places are turned into documents for scoring only."""

    def verify(a: Array, b: Array) -> Pairs:
        scored = verifier.scores(order[a], order[b])
        return Pairs(a[scored.passed], b[scored.passed], scored.score[scored.passed])

    return verify


def _clusters(plan: Plan, leader: Array, decided: Decided, pairs: Pairs) -> Array:
    if plan.clusters == "rule":
        return rule_clusters(decided.kept_of)
    everyone = np.arange(len(leader))
    aside = np.flatnonzero(decided.kept_of >= 0)
    a = np.concatenate([pairs.a, everyone, aside])
    b = np.concatenate([pairs.b, leader, decided.kept_of[aside]])
    return components(len(leader), a, b)


class _Clock:
    def __init__(self) -> None:
        self._last = time.perf_counter()
        self.laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = now - self._last
        self._last = now
