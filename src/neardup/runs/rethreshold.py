"""Decides again from the pairs of a run, at a higher threshold or in a different order, without
matching."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.artefacts.artefact import Artefacts
from neardup.artefacts.calibration import Calibration
from neardup.decisions.clusters import average_clusters, components
from neardup.decisions.kinds import Kinds
from neardup.decisions.rule import decide, rule_clusters, with_notes
from neardup.errors import InputError, SettingsError
from neardup.matching.candidates import Groups
from neardup.matching.evidence import Pairs
from neardup.methods import registry
from neardup.methods.base import Method, signature_of
from neardup.methods.parameters import threshold_fraction
from neardup.runs.result import Result
from neardup.runs.run_tables import decided_columns, kind_counts, kinds_by_place
from neardup.schema import Array, Ragged

NOTE = r" \([a-z_, ]+\)$"
NO_GROUPS = Groups(Ragged(np.empty(0, np.int64), np.zeros(1, np.int64)), np.empty(0, np.uint8))


def rethreshold(result: Result, threshold: float) -> Result:
    threshold_fraction(threshold)
    name = result.info["settings"]["method"]
    if "threshold" not in registry.parameter_names(registry.method_class(name)):
        raise SettingsError(
            f"{name} has no threshold to change: it follows from other parameters.",
            hint=f"run again with other parameters; `neardup methods {name}` lists them.",
        )
    if threshold < result.threshold:
        raise SettingsError(
            f"The run was made at {result.threshold:g}; pairs below it were not kept, "
            f"so {threshold:g} cannot be answered.",
            hint="run again with the lower threshold.",
        )
    # A score equal to the threshold has the same nearest double, so no such pair is lost.
    table = result.pairs.filter(pc.greater_equal(result.pairs["score"], threshold))
    method = _method(result, threshold)
    decided = decide_again(result, table, method, _info(result, method), result.rank)
    decided.artefacts = _still_valid(result.artefacts)
    return decided


def decide_again(
    result: Result, table: pa.Table, method: Method, info: dict[str, Any], rank: Array
) -> Result:
    """Apply the rule to the pairs in ``table`` with documents in the order of ``rank``. The answer
    is right only if these are all pairs."""
    pairs = by_rank(result, table, rank)
    verdict = decide(len(result.decisions), pairs, NO_GROUPS, nothing_more)
    kept_of, score = _by_document(rank, verdict.kept_of, verdict.score)
    document = np.argsort(rank)
    cluster = _clusters(result, kept_of, pairs.mapped(document), method.threshold)
    table, kinds = _kinds(result, kept_of, pairs.mapped(document), table)
    decisions = _decisions(result, method, kept_of, score, cluster, kinds.columns())
    return with_decisions(result, decisions, table, info, rank)


def with_decisions(
    result: Result, decisions: pa.Table, pairs: pa.Table, info: dict[str, Any], rank: Array
) -> Result:
    """A new result for the same documents; its counts are added to ``info``."""
    decided = Result(
        decisions,
        pairs,
        info,
        rank=rank,
        collection=result._collection,
        artefacts=result.artefacts,
        text_digests=result.text_digests,
    )
    info["counts"], info["kinds"] = vars(decided.counts), kind_counts(decisions)
    return decided


def _method(result: Result, threshold: float) -> Method:
    settings = result.info["settings"]
    parameters = {**settings["parameters"], "threshold": threshold}
    if "calibrate" in parameters:
        parameters["calibrate"] = False  # this threshold is given
    return registry.build(settings["method"], parameters)


def _still_valid(artefacts: Artefacts) -> Artefacts:
    """All artefacts but the calibration, which belongs to the earlier threshold."""
    if Calibration.kind not in artefacts:
        return artefacts
    return {name: artefact for name, artefact in artefacts.items() if name != Calibration.kind}


def _info(result: Result, method: Method) -> dict[str, Any]:
    info = copy.deepcopy(result.info)
    info.pop("kept_files", None)
    digests = info["settings"]["signature"]["artefacts"]
    for outdated in (info["artefacts"], digests):
        outdated.pop(Calibration.kind, None)
    info["settings"] |= {
        "parameters": dataclasses.asdict(method),
        "threshold": method.threshold,
        "resolved": method.resolved(),
        "signature": signature_of(method, digests),
    }
    return info


def nothing_more(_a: Array, _b: Array) -> Pairs:
    return Pairs.none()


def by_rank(result: Result, table: pa.Table, rank: Array) -> Pairs:
    a, b = (_documents_of(result, table[name]) for name in ("a", "b"))
    score = table["score"].to_numpy().astype(np.float64)
    return Pairs(rank[a], rank[b], score)


def _documents_of(result: Result, ids: pa.ChunkedArray) -> Array:
    found = pc.index_in(ids, result.accepted_ids)
    if found.null_count:
        raise InputError(
            "A pair of the run names a document that the decisions do not have.",
            hint="restore the folder of the run from a copy, or make the run again.",
        )
    return np.asarray(found).astype(np.int64)


def _by_document(rank: Array, kept_of: Array, score: Array) -> tuple[Array, Array]:
    document = np.argsort(rank)
    of = kept_of[rank]
    return np.where(of < 0, -1, document[np.maximum(of, 0)]), score[rank]


def _clusters(result: Result, kept_of: Array, pairs: Pairs, threshold: float) -> Array:
    if result.info["settings"]["clusters"] == "rule":
        return rule_clusters(kept_of)
    if result.info["settings"]["clusters"] == "average":
        return average_clusters(np.arange(len(kept_of)), pairs, threshold)
    return components(len(kept_of), pairs.a, pairs.b)


def _kinds(result: Result, kept_of: Array, pairs: Pairs, table: pa.Table) -> tuple[pa.Table, Kinds]:
    """The pairs, and the kind of each set-aside document with the document it was set aside for.
    Kinds that the run has not determined are added to both."""
    aside = np.flatnonzero(kept_of >= 0)
    row = _rows(pairs, aside, kept_of[aside])
    turned = pairs.a[row] != aside
    listed = Kinds.of_columns(table)
    known = listed.take(row).turned(turned)
    missing = known.kind < 0
    if result.info["settings"]["kinds"] != "none" and missing.any():
        known.put(missing, _read_again(result, aside[missing], kept_of[aside[missing]]))
        listed.put(row, known.turned(turned))
        for name, column in listed.columns().items():
            table = table.set_column(table.schema.get_field_index(name), name, column)
    kinds = Kinds.none(len(kept_of))
    kinds.put(aside, known)
    return table.cast(schema.PAIRS), kinds


def _rows(pairs: Pairs, a: Array, b: Array) -> Array:
    """Rows of the pairs of these documents."""
    count = int(max(pairs.a.max(initial=0), pairs.b.max(initial=0))) + 1
    key = np.minimum(pairs.a, pairs.b) * count + np.maximum(pairs.a, pairs.b)
    order = np.argsort(key, kind="stable")
    wanted = np.minimum(a, b) * count + np.maximum(a, b)
    return np.asarray(order[np.searchsorted(key[order], wanted)], np.int64)


def _read_again(result: Result, a: Array, b: Array) -> Kinds:
    """Kinds from the texts; none if the documents cannot be read any more."""
    collection = result.collection_if_there
    return kinds_by_place(result, collection, a, b) if collection else Kinds.none(len(a))


def _notes(reasons: pa.Array) -> pa.Array:
    """The notes that ``decisions/rule.py`` appended to the earlier reasons."""
    notes = pc.extract_regex(reasons, f"(?P<note>{NOTE})").field("note")
    return pc.fill_null(notes, "").cast(pa.large_string())


def _decisions(
    result: Result,
    method: Method,
    kept_of: Array,
    score: Array,
    cluster: Array,
    kinds: dict[str, pa.Array],
) -> pa.Table:
    old = result.decisions
    plain = pc.replace_substring_regex(old["reason"].combine_chunks(), NOTE, "")
    short = np.asarray(pc.is_in(plain, pa.array(["too_short", "equal"], pa.large_string())))
    ids = old["id"].combine_chunks()
    new = decided_columns(ids, kept_of, score, cluster, short, method)
    rejected = np.asarray(pc.equal(old["decision"], schema.REJECTED))
    new["reason"] = with_notes(new["reason"], _notes(old["reason"].combine_chunks()))
    decided = np.where(rejected, 2, np.where(kept_of < 0, 0, 1))
    new["decision"] = schema.coded_column(decided, schema.DECIDED)
    new["reason"] = pc.if_else(pa.array(rejected), old["reason"].combine_chunks(), new["reason"])
    same = {name: old[name] for name in ("id", "file", "row", "source", "ref")}
    return pa.table({**same, **new, **kinds}, schema=schema.DECISIONS)
