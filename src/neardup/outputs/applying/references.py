"""Decisions made again where a run was made against references.

The run does not hold its references, but its pairs name them, in their order; and they come before
all documents, are kept, and never meet each other. So those that matter stand before the documents
while the rule is applied, and are left out again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.decisions.classify import aligned_kinds
from neardup.decisions.kinds import Kinds
from neardup.errors import SettingsError
from neardup.methods.method import Method
from neardup.outputs.kinds import kind_counts
from neardup.outputs.result import Result
from neardup.outputs.rethreshold import decide_again
from neardup.outputs.tables import decision_column
from neardup.outputs.texts import REFERENCE, texts_of
from neardup.schema import Array, Ragged


def decide_against(result: Result, method: Method, info: dict[str, Any], rank: Array) -> Result:
    """As ``decide_again``, with the references among the pairs."""
    references = _references(result)
    count = len(references)
    before = Result(
        pa.concat_tables([_kept(references), result.decisions]).unify_dictionaries(),
        result.pairs,
        info,
        collection=result._collection,
    )
    after = np.concatenate([np.arange(count), count + rank])
    made = decide_again(before, result.pairs, method, info, after)
    decisions = made.decisions.slice(count).combine_chunks()
    decisions = _with(decisions, "ref", pc.is_in(decisions["kept_id"], references))
    if info["settings"]["kinds"] != "none":
        decisions = _classified(result, decisions)
    if info["settings"]["clusters"] == "components":
        # Chains have no order; those through copies among the references are known only there.
        decisions = _with(decisions, "cluster", result.decisions["cluster"])
    made = Result(
        decisions,
        result.pairs,
        info,
        rank=rank,
        collection=result._collection,
        artefacts=result.artefacts,
        text_digests=result.text_digests,
    )
    info["counts"], info["kinds"] = vars(made.counts), kind_counts(decisions)
    return made


def _classified(result: Result, decisions: pa.Table) -> pa.Table:
    """With the kinds of copies of references, whose texts the rule has not read."""
    ids, kept = decisions["id"].to_pylist(), decisions["kept_id"].to_pylist()
    open_ = pc.and_(decisions["ref"], pc.is_null(decisions["kind"]))
    rows = np.flatnonzero(np.asarray(pc.fill_null(open_, False)))
    texts = texts_of(result, [name for row in rows for name in (ids[row], kept[row])])
    rows = np.array([r for r in rows if {ids[r], kept[r]} <= texts.keys()], np.int64)
    both = Ragged.of_texts([texts[names[row]] for names in (ids, kept) for row in rows])
    known = Kinds.of_columns(decisions)
    known.put(rows, aligned_kinds(both, np.arange(len(rows)), len(rows) + np.arange(len(rows))))
    for name, column in known.columns().items():
        decisions = _with(decisions, name, column)
    return decisions


def _with(table: pa.Table, name: str, column: pa.ChunkedArray) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), table.schema.field(name), column)


def _references(result: Result) -> pa.Array:
    """The earlier document of a pair comes first in it, and pairs are in the order of documents:
    so references come up in their order."""
    first = pc.unique(result.pairs["a"])
    found = first.filter(pc.starts_with(first, REFERENCE))
    if pc.any(pc.starts_with(result.decisions["id"], REFERENCE)).as_py():
        raise SettingsError(
            "Documents of this run have ids that look like those of its references (ref:…), and "
            "the policy has another order than the run.",
            hint="run again with that policy.",
        )
    return found


def _kept(ids: pa.Array) -> pa.Table:
    count = len(ids)
    columns = {field.name: pa.nulls(count, field.type) for field in schema.DECISIONS}
    columns |= {"id": ids, "decision": decision_column(np.zeros(count, np.int64))}
    columns["reason"] = pa.array([""] * count, pa.large_string())
    return pa.table(columns, schema=schema.DECISIONS)
