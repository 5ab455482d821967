"""A run in the order of a policy: decided again from its pairs, unless the order stays the same.

If the run has all pairs, the answer is that of a new run in that order. If it has listed only some
(``partial``), an order that moves documents may need pairs that were never listed, and is refused.

The documents are read again for the columns that a policy needs. The pairs belong to the texts as
they were, so it is an error if a document is missing, new, or has a different text or id. Other
columns count as they are now.

A run against references does not hold them, but its pairs name them in their order. References come
before all documents, are kept, and are never compared with each other. The rule is therefore
applied to the references in the pairs followed by the documents, and the references are removed
from the result.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.decisions.kinds import Kinds, aligned_kinds
from neardup.decisions.order import Order, check_preferred, rank_of_all
from neardup.decisions.policy import Policy, check_names
from neardup.documents.collection import Collection
from neardup.documents.columns import DEFAULT_ID, OURS, Columns, DocumentBatch
from neardup.documents.inputs import SOURCE, with_names
from neardup.errors import ChangedError, InputError, SettingsError, UsageError
from neardup.methods import registry
from neardup.methods.base import Method
from neardup.methods.preparation import text_digests
from neardup.runs.result import Result
from neardup.runs.rethreshold import decide_again, with_decisions
from neardup.runs.texts_again import REFERENCE, texts_of
from neardup.schema import Array, Ragged
from neardup.wording import shortened, where


@dataclass(frozen=True)
class Again:
    """The accepted documents, read again: ``rows`` are their rows in the decisions, and the other
    arrays have an entry for each of them."""

    rows: Array
    lengths: Array
    columns: dict[str, pa.ChunkedArray]


def read_again(result: Result, collection: Collection, names: Sequence[str] = ()) -> Again:
    """Read the documents again and check them. ``collection`` watches its files from now on: they
    must not change until everything is written."""
    settings = result.info["settings"]
    columns = Columns(text=settings["text"], id=settings["id"], extra=tuple(names))
    gathered = _Gathered(result, collection)
    for chunk in collection.chunks(columns):
        gathered.add(chunk.read(), columns.extra)
        if gathered.total >= len(result.decisions) and collection.limit is not None:
            break
    gathered.check_all_seen()
    values = {name: gathered.column(name) for name in columns.extra}
    if SOURCE in values and collection.inputs.offered:
        source_names = [collection.source_names[file] for file in gathered.files]
        file_numbers = np.concatenate([np.empty(0, np.int32), *gathered.file])
        values[SOURCE] = with_names(values[SOURCE], file_numbers, source_names)
    lengths = np.concatenate([np.empty(0, np.int64), *gathered.lengths])
    return Again(np.flatnonzero(gathered.accepted), lengths, values)


@dataclass
class _Gathered:
    """Collects the documents batch by batch, and checks them against the decisions."""

    result: Result
    collection: Collection
    total: int = 0
    lengths: list[Array] = field(default_factory=list)
    file: list[Array] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)
    parts: list[pa.RecordBatch] = field(default_factory=list)

    def __post_init__(self) -> None:
        decisions, digests = self.result.decisions, self.result.text_digests
        if digests is None:
            raise InputError(
                "This run does not say what its texts were, so no policy can be applied to it.",
                hint="make the run again with this version.",
            )
        self.digests = digests
        self.ids = decisions["id"].combine_chunks()
        self.accepted = np.asarray(pc.not_equal(decisions["decision"], schema.REJECTED))
        self.seen = np.zeros(len(decisions), np.bool_)

    def add(self, batch: DocumentBatch, names: Sequence[str]) -> None:
        position = self.total + batch.positions()
        self.total += len(batch)
        inside = position < len(self.accepted)
        inside[inside] = self.accepted[position[inside]]  # a repeated id was rejected by the run
        position, records = position[inside], batch.records.filter(pa.array(inside))
        texts = records.column("text")
        self._check(batch.file, position, records)
        self.seen[position] = True
        self.lengths.append(np.asarray(pc.utf8_length(texts)).astype(np.int64))
        number = self.files.setdefault(batch.file, len(self.files))
        self.file.append(np.full(len(position), number, np.int32))
        self.parts.append(records.select(list(names)))

    def _check(self, file: str, position: Array, records: pa.RecordBatch) -> None:
        same = _same_ids(records.column("id"), self.ids.take(pa.array(position)))
        same = same & (text_digests(records) == self.digests[position])
        if not same.all():
            row = records.column("row")[int(np.argmin(same))].as_py()
            at = where(file, row, self.collection.path_of(file, row))
            raise changed(f"{at}: the document is not the one that the run read")

    def check_all_seen(self) -> None:
        more = self.total > len(self.accepted) and self.result.info["settings"]["limit"] is None
        if more or not np.array_equal(self.seen, self.accepted):
            raise changed(
                f"The run read {len(self.accepted):,} documents; the inputs now hold others"
            )

    def column(self, name: str) -> pa.ChunkedArray:
        tables = [pa.Table.from_batches([part.select([name])]) for part in self.parts]
        if not tables:
            return pa.chunked_array([], pa.null())
        return pa.concat_tables(tables, promote_options="permissive")[name]


def _same_ids(ids: pa.Array, known: pa.Array) -> Array:
    """Whether the ids are those of the run. An id that several files have is listed there with the
    name of its file in front."""
    same = np.array(pc.equal(ids, known))
    for i in np.flatnonzero(~same).tolist():
        same[i] = str(known[i]).endswith(f":{ids[i]}")
    return same


def changed(what: str) -> ChangedError:
    return ChangedError(f"{what}.", hint="the input has changed since; make the run again.")


def decide_against(result: Result, method: Method, info: dict[str, Any], rank: Array) -> Result:
    """Like ``decide_again``, for pairs that name references."""
    references = _references(result)
    count = len(references)
    before = Result(
        pa.concat_tables([_kept(references), result.decisions]).unify_dictionaries(),
        result.pairs,
        info,
        collection=result._collection,
    )
    after = np.concatenate([np.arange(count), count + rank])
    decided = decide_again(before, result.pairs, method, info, after)
    decisions = decided.decisions.slice(count).combine_chunks()
    decisions = _with(decisions, "ref", pc.is_in(decisions["kept_id"], references))
    if info["settings"]["kinds"] != "none":
        decisions = _classified(result, decisions)
    if info["settings"]["clusters"] != "rule":
        # They do not depend on the order, and only the run knew pairs with references.
        decisions = _with(decisions, "cluster", result.decisions["cluster"])
    return with_decisions(result, decisions, result.pairs, info, rank)


def _classified(result: Result, decisions: pa.Table) -> pa.Table:
    """The decisions with the kinds of copies of references, whose texts the rule has not read."""
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
    """The references in their order: pairs are sorted, with the earlier document first."""
    first = pc.unique(result.pairs["a"])
    references = first.filter(pc.starts_with(first, REFERENCE))
    if pc.any(pc.starts_with(result.decisions["id"], REFERENCE)).as_py():
        raise SettingsError(
            "Documents of this run have ids that look like those of its references (ref:…), and "
            "the policy has another order than the run.",
            hint="run again with that policy.",
        )
    return references


def _kept(ids: pa.Array) -> pa.Table:
    count = len(ids)
    columns = {field.name: pa.nulls(count, field.type) for field in schema.DECISIONS}
    columns |= {
        "id": ids,
        "decision": schema.coded_column(np.zeros(count, np.int64), schema.DECIDED),
    }
    columns["reason"] = pa.array([""] * count, pa.large_string())
    return pa.table(columns, schema=schema.DECISIONS)


BY_CHOICE = "choice in review"


@dataclass(frozen=True)
class Ordered:
    """``result`` is decided in the order, and ``collection`` are its documents. ``values`` are
    those of the criteria, by place among the accepted documents; ``place`` is the place of each row
    of the decisions, −1 for rejected documents."""

    result: Result
    collection: Collection
    order: Order
    values: Sequence[pa.Array]
    place: Array
    chosen: Array  # rows that a person put first

    def deciding(self, first: Array, second: Array) -> list[str]:
        """The criterion that puts ``first`` before ``second``, for pairs of rows."""
        by_order = self.order.deciding(self.values, self.place[first], self.place[second])
        by_choice = np.isin(first, self.chosen).tolist()
        both = zip(by_choice, by_order, strict=True)
        return [BY_CHOICE if chosen else criterion for chosen, criterion in both]


def in_order(result: Result, policy: Policy, first: Sequence[str] = ()) -> Ordered:
    """The run in the order of a policy. The documents are read again, and it is an error if they
    have changed. The documents ``first`` come before all others, whatever the policy."""
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
    if decided is not result:
        undated = order.undated(values, again.columns)
        decided.info.pop("undated", None)
        decided.info |= {} if undated is None else {"undated": undated._asdict()}
    return Ordered(decided, collection, order, values, place, chosen)


def put_first(result: Result, first: Sequence[str]) -> Result:
    """The run as it is decided if these documents come before all others."""
    chosen = rows_of(result, first)
    rejected = np.asarray(pc.equal(result.decisions["decision"], schema.REJECTED))
    return _decided(result, None, with_first(result.rank, chosen), np.flatnonzero(~rejected))


def rows_of(result: Result, ids: Sequence[str]) -> Array:
    """Rows of accepted documents; an unknown id is an error."""
    rows = pc.index_in(pa.array(ids, pa.large_string()), result.accepted_ids)
    if rows.null_count:
        missing = ids[rows.is_null().index(True).as_py()]
        raise UsageError(
            f"No document of this run has the id {shortened(missing)!r}.", hint="see the column id."
        )
    return np.asarray(rows).astype(np.int64)


def with_first(rank: Array, rows: Array) -> Array:
    """The same order with ``rows`` moved to the front, in the order given."""
    key = rank.astype(np.int64)
    key[rows] = np.arange(len(rows)) - len(rows)
    moved = np.empty(len(key), np.int64)
    moved[np.argsort(key, kind="stable")] = np.arange(len(key))
    return moved


def _decided(result: Result, policy: Policy | None, rank: Array, rows: Array) -> Result:
    if np.array_equal(np.argsort(rank[rows]), np.argsort(result.rank[rows])):
        return result  # no document moves, so no decision changes
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
