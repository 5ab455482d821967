"""An outcome as the tables of a run: decisions, pairs, duplicates, clusters; and the kinds in them.

``Intake`` and ``Outcome`` are what every engine hands over when it is done: the documents as read,
and the decisions.

For kinds, texts are read again, aligned in blocks, and let go. Equal texts are one text, and equal
pairs of texts are one pair, however many documents have them. Pairs that digests tell are not
aligned. What cannot be read again has no kind; no run fails for it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.classes import dataclass
from neardup.decisions.kinds import Kinds, aligned_kinds, by_digests
from neardup.decisions.order import Undated
from neardup.decisions.rule import Decided, notes, reasons, with_notes
from neardup.documents.clashes import Shared
from neardup.documents.collection import Collection
from neardup.documents.columns import Columns, Rejected
from neardup.matching.evidence import EvidenceStore, Pairs
from neardup.matching.key_store import KeyStore
from neardup.methods.base import FLAGS, TOO_SHORT, Method, Prepared
from neardup.runs.texts_again import (
    Inputs,
    Keys,
    Means,
    Rows,
    TextsAgain,
    place_keys,
    places,
    reread,
)
from neardup.schema import (
    DECIDED,
    DUPLICATE,
    KINDS,
    Array,
    Ragged,
    blocks_of,
    coded_column,
    offsets_of,
    slices_of,
)

if TYPE_CHECKING:
    from neardup.runs.result import Result

_FILES = schema.DECISIONS.field("file").type


@dataclass
class Intake:
    """The result of pass 1. Arrays have one entry per accepted document, in input order."""

    files: list[str]
    sources: list[str]  # the name of the input that each file belongs to
    file: Array
    row: Array
    position: Array  # among all input documents, rejected ones included
    ids: pa.LargeStringArray
    prepared: Prepared  # its evidence is in the store
    lengths: Array  # in characters; zeros if the policy does not need them
    extra: dict[str, pa.ChunkedArray]
    store: EvidenceStore
    rejected: list[Rejected]
    rejected_position: Array
    total: int
    shared: Shared | None = None  # ids that several files have
    undated: Undated | None = None  # dates that the order could not read
    keys: KeyStore | None = None  # in a file; then ``prepared`` has none

    def __len__(self) -> int:
        return len(self.position)

    def hand_over(self) -> Array:
        """Ends what only matching needs, and gives the memory of the evidence to another store."""
        if self.keys is not None:
            self.keys.close()
            self.keys = None
        self.prepared = self.prepared.matched()
        return self.store.hand_over()

    def rows(self, documents: Array, evidence: Ragged) -> Prepared:
        """Some documents, in ascending order, with their keys and the given evidence."""
        rows = self.prepared.rows(documents, evidence)
        return rows if self.keys is None else replace(rows, keys=self.keys.take(documents)[0])


@dataclass(frozen=True)
class Outcome:
    """Everything that a Result is made from; arrays by document. The first ``refs`` documents of
    the intake are references: they are kept, and not part of the input."""

    intake: Intake
    rank: Array
    leader: Array
    decided: Decided
    cluster: Array
    pairs: Pairs  # verified pairs of leaders
    pairs_complete: bool
    candidates: int
    timings: dict[str, float]
    refs: int = 0
    refused: int = 0  # candidates that share only a template
    capped: int = 0  # documents that were not compared with all that they met

    def keep_mask(self) -> npt.NDArray[np.bool_]:
        """Whether each input document is kept, in input order."""
        keep = np.zeros(self.intake.total, np.bool_)
        keep[self.intake.position[self.refs :]] = self.decided.kept_of[self.refs :] < 0
        return keep


def decisions_table(outcome: Outcome, method: Method, kinds: PairKinds | None = None) -> pa.Table:
    """Every input document once, in input order. The table is made in blocks, because what is at
    work would take as much memory as the table."""
    intake, refs = outcome.intake, outcome.refs
    rejected = _rejected(outcome) if intake.rejected else None
    copies, parts = with_copies(outcome.decided.kept_of), []
    for block in blocks_of(intake.total):
        ends = np.searchsorted(intake.position[refs:], [block.start, block.stop]).tolist()
        part = _accepted(outcome, method, kinds, slice(*(refs + end for end in ends)), copies)
        if rejected is not None:
            part = _with_rejected(part, rejected, outcome, block)
        parts.append(part)
    table = pa.concat_tables(parts or [schema.DECISIONS.empty_table()])
    if rejected is not None or len(parts) < 2:
        return table
    place = schema.DECISIONS.get_field_index("id")  # in one piece, as it is there already
    return table.set_column(place, schema.DECISIONS.field(place), intake.ids.slice(refs))


def _with_rejected(part: pa.Table, rejected: pa.Table, outcome: Outcome, block: slice) -> pa.Table:
    """The accepted documents of a block, and the rejected ones between them."""
    positions = outcome.intake.position[outcome.refs :], outcome.intake.rejected_position
    ends = [np.searchsorted(some, [block.start, block.stop]) for some in positions]
    first, last = ends[1].tolist()
    if first == last:
        return part
    position = np.concatenate([p[a:b] for p, (a, b) in zip(positions, ends, strict=True)])
    both = pa.concat_tables([part, rejected.slice(first, last - first)])
    return both.take(pa.array(np.argsort(position, kind="stable"))).combine_chunks()


def _accepted(
    outcome: Outcome, method: Method, kinds: PairKinds | None, rows: slice, copies: Array
) -> pa.Table:
    intake, decided = outcome.intake, outcome.decided
    kept_of, flags = decided.kept_of[rows], intake.prepared.flags[rows]
    columns = {
        "id": intake.ids[rows],
        "file": coded_column(intake.file[rows], intake.files, _FILES),
        "row": pa.array(intake.row[rows], pa.int64()),
        "source": _sources(intake.file[rows], intake.sources),
        "ref": pa.array((kept_of >= 0) & (kept_of < outcome.refs)),
    }
    columns |= kinds_of(outcome, np.arange(rows.start, rows.stop), kept_of, kinds).columns()
    columns |= decided_columns(
        intake.ids,
        kept_of,
        decided.score[rows],
        outcome.cluster[rows],
        (flags & TOO_SHORT).astype(np.bool_),
        method,
        copies[rows],
    )
    if (noted := flags & ~np.uint8(TOO_SHORT)).any():
        columns["reason"] = with_notes(columns["reason"], notes(noted))
    return pa.table(columns, schema=schema.DECISIONS)


def with_copies(kept_of: Array) -> npt.NDArray[np.bool_]:
    """Which documents have duplicates."""
    copies = np.zeros(len(kept_of), np.bool_)
    copies[kept_of[kept_of >= 0]] = True
    return copies


def decided_columns(
    ids: pa.Array,
    kept_of: Array,
    score: Array,
    cluster: Array,
    short: Array,
    method: Method,
    copies: Array | None = None,
) -> dict[str, pa.Array]:
    """The columns that say what was decided, and why: of all documents, or of some of them, which
    then need to be told which of them have ``copies``. ``ids`` are those of all documents."""
    kept = kept_of < 0
    copies = with_copies(kept_of) if copies is None else copies
    return {
        "decision": coded_column(np.where(kept, 0, 1), DECIDED),
        "reason": reasons(method, kept, short, copies, score),
        "kept_id": ids.take(pa.array(np.maximum(kept_of, 0), mask=kept)),
        "score": pa.array(score, mask=kept),
        "cluster": pa.array(cluster, pa.int64(), mask=cluster < 0),
    }


def flag_counts(flags: Array) -> dict[str, int]:
    """How many documents each flag was given, where any was."""
    counts = {name: int(((flags & bit) != 0).sum()) for bit, name in FLAGS.items()}
    return {name: count for name, count in counts.items() if count}


def _rejected(outcome: Outcome) -> pa.Table:
    rejected, files = outcome.intake.rejected, outcome.intake.files
    number = {name: i for i, name in enumerate(files)}
    file = np.array([number[r.file] for r in rejected], np.int32)
    none = pa.nulls(len(rejected))
    columns = {
        "id": pa.array([r.id for r in rejected], pa.large_string()),
        "file": coded_column(file, files, _FILES),
        "source": _sources(file, outcome.intake.sources),
        "row": pa.array([r.row for r in rejected], pa.int64()),
        "decision": coded_column(np.full(len(rejected), 2), DECIDED),
        "reason": pa.array([r.reason for r in rejected], pa.large_string()),
        "ref": pa.array(np.zeros(len(rejected), np.bool_)),
    }
    for field in schema.DECISIONS:
        columns.setdefault(field.name, none.cast(field.type))
    return pa.table(columns, schema=schema.DECISIONS)


def _sources(file: Array, sources: list[str]) -> pa.DictionaryArray:
    """The input of each document; files of one glob have one."""
    names = list(dict.fromkeys(sources))
    code = np.array([names.index(name) for name in sources], np.int32)
    return coded_column(code[file] if len(code) else file, names, _FILES)


def kinds_of(outcome: Outcome, a: Array, b: Array, known: PairKinds | None) -> Kinds:
    """The kinds of pairs of documents: what digests tell, and what is ``known`` beyond that. A −1
    in ``b`` means no partner and no kind."""
    prepared = outcome.intake.prepared
    found = by_digests(a, b, prepared.text_digests, prepared.normal_digests)
    if known is not None:
        open_ = (found.kind < 0) & (b >= 0)
        found.put(open_, known.of(a[open_], b[open_]))
    return found


def pairs_table(outcome: Outcome, pairs: Pairs, kinds: PairKinds | None = None) -> pa.Table:
    """Verified pairs by id, the earlier document first, in input order."""
    intake = outcome.intake
    pairs = pairs.distinct()
    columns = {
        "a": intake.ids.take(pa.array(pairs.a)),
        "b": intake.ids.take(pa.array(pairs.b)),
        "score": pa.array(pairs.score),
        **kinds_of(outcome, pairs.a, pairs.b, kinds).columns(),
    }
    return pa.table(columns, schema=schema.PAIRS)


def all_pairs(outcome: Outcome, limit: int) -> tuple[Pairs, bool]:
    """Pairs of leaders spread over their copies, and whether that is all of them.

    Beyond ``limit`` each document comes only with what it was set aside for.
    """
    leader, pairs = outcome.leader, outcome.pairs
    followers = np.flatnonzero(leader != np.arange(len(leader), dtype=leader.dtype))
    size = np.ones(len(leader), np.int32)
    led, copies = np.unique(leader[followers], return_counts=True)
    size[led] += copies
    size[followers] = 0
    of_copies = int((copies * (copies + 1) // 2).sum())
    total = int((size[pairs.a].astype(np.int64) * size[pairs.b]).sum()) + of_copies
    if not outcome.pairs_complete or total > limit:
        aside = np.flatnonzero(outcome.decided.kept_of >= 0)
        aside = aside[aside >= outcome.refs]
        to_kept = Pairs(aside, outcome.decided.kept_of[aside], outcome.decided.score[aside])
        seen = pairs if len(pairs) + len(aside) <= limit else Pairs.none()
        return Pairs.concat([to_kept, seen]).distinct(), False
    if total == len(pairs):
        return pairs, True
    # The documents of each leader, itself among them; none for followers.
    members = schema.Ragged(np.argsort(leader, kind="stable"), offsets_of(size))
    several = np.flatnonzero(size > 1)
    within = _spread(Pairs(several, several, np.ones(len(several))), members)
    every = Pairs.concat([_spread(pairs, members), within.where(within.a < within.b)])
    return every.where((every.a >= outcome.refs) | (every.b >= outcome.refs)), True


def _spread(pairs: Pairs, members: schema.Ragged) -> Pairs:
    """All pairs of a member of one with a member of the other."""
    size_a, size_b = members.lengths[pairs.a], members.lengths[pairs.b]
    count = size_a * size_b
    pair = np.repeat(np.arange(len(pairs)), count)
    inside = np.arange(len(pair)) - np.repeat(offsets_of(count)[:-1], count)
    a = members.values[members.offsets[pairs.a[pair]] + inside // size_b[pair]]
    b = members.values[members.offsets[pairs.b[pair]] + inside % size_b[pair]]
    return Pairs(a, b, pairs.score[pair])


def clusters_table(decisions: pa.Table) -> pa.Table:
    """Clusters of two or more, numbered by their first document."""
    inside = decisions.filter(pc.is_valid(decisions["cluster"]))
    cluster = inside["cluster"].to_numpy()
    order = np.argsort(cluster, kind="stable")
    numbers, start, sizes = np.unique(cluster[order], return_index=True, return_counts=True)
    inside = inside.take(pa.array(order))
    kept = np.asarray(pc.equal(inside["decision"], schema.KEPT))
    score = np.where(kept, np.inf, inside["score"].fill_null(0).to_numpy())
    # By the rule a cluster has one kept document, which may be a reference and not in this table.
    named = pc.if_else(pa.array(kept), inside["id"], inside["kept_id"])
    # The first kept member of each cluster, or its first member where none is kept.
    place = np.where(kept, np.arange(len(kept)), len(kept))
    first = np.minimum.reduceat(place, start) if len(start) else start
    first = np.where(first < start + sizes, first, start)
    columns = {
        "cluster": pa.array(numbers, pa.int64()),
        "kept_id": named.take(pa.array(first)),
        "size": pa.array(sizes, pa.int64()),
        "weakest": pa.array(np.minimum.reduceat(score, start) if len(start) else [], pa.float64()),
        "members": pa.LargeListArray.from_arrays(
            pa.array(offsets_of(sizes)), inside["id"].combine_chunks()
        ),
    }
    return pa.table(columns, schema=schema.CLUSTERS)


UNKNOWN = "unknown"  # among counts of kinds: duplicates that have none
BLOCK_BYTES = 8 << 20  # of the texts of a block of pairs; a larger pair is a block of its own


@dataclass(frozen=True)
class PairKinds:
    """What is known of pairs of a run. ``text`` numbers the texts of its documents; ``keys`` are
    sorted pairs of them, the smaller number first, and ``kinds`` what they are."""

    text: Array
    texts: int
    keys: Array
    kinds: Kinds

    def of(self, a: Array, b: Array) -> Kinds:
        """The kinds of pairs of documents; none where it is not known."""
        first, second = self.text[a].astype(np.int64), self.text[b].astype(np.int64)
        key = np.minimum(first, second) * self.texts + np.maximum(first, second)
        kinds = Kinds.none(len(key))
        if not len(self.keys):
            return kinds
        place = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        known = self.keys[place] == key
        kinds.put(known, self.kinds.take(place[known]).turned((first > second)[known]))
        return kinds


def kind_counts(decisions: pa.Table) -> dict[str, int]:
    """How many duplicates are of each kind, in the order of the list."""
    aside = decisions.filter(pc.equal(decisions["decision"], DUPLICATE))["kind"]
    counted = pc.value_counts(aside.cast(pa.string())).to_pylist()
    counts = {row["values"] or UNKNOWN: row["counts"] for row in counted}
    return {kind: counts[kind] for kind in (*KINDS, UNKNOWN) if kind in counts}


def kinds_by_place(result: Result, collection: Collection, a: Array, b: Array) -> Kinds:
    """The kinds of pairs of documents of a result, numbered as its decisions are. Their texts are
    read where they stood, because a result has no digests of them."""
    files = list(dict.fromkeys(collection.files))
    file = pc.index_in(
        result.decisions["file"].cast(pa.large_string()), pa.array(files, pa.large_string())
    )
    names = places(
        pc.fill_null(file, len(files)).to_numpy(),
        pc.fill_null(result.decisions["row"], 0).to_numpy(),
    )
    keys, text = np.unique(names, return_inverse=True)
    inputs = [(collection, Columns(text=result.info["settings"]["text"]))]
    return kinds_of_texts(keys, text, a, b, inputs, place_keys(files), Means()).of(a, b)


def kinds_of_texts(
    names: Array,
    text: Array,
    a: Array,
    b: Array,
    inputs: Inputs,
    keys: Keys,
    means: Means,
    rows: Callable[[Array], Rows] | None = None,
) -> PairKinds:
    """``names`` are the keys of the texts, sorted; ``text`` numbers those of documents. ``rows``
    returns where the texts with some keys were read before."""
    one, other = text[a].astype(np.int64), text[b].astype(np.int64)
    first, second = np.minimum(one, other), np.maximum(one, other)
    pairs = np.unique(first * len(names) + second)
    first, second = np.divmod(pairs, max(len(names), 1))
    wanted, numbers = np.unique(np.concatenate([first, second]), return_inverse=True)
    if not len(pairs):
        return PairKinds(text, len(names), pairs, Kinds.none(0))
    means.progress.stage("rereading", len(wanted), unit="texts")
    again = reread(names[wanted], inputs, keys, means, rows(names[wanted]) if rows else None)
    try:
        kinds = _aligned(again, numbers[: len(first)], numbers[len(first) :], means)
    finally:
        again.store.close()
    return PairKinds(text, len(names), pairs, kinds)


def _aligned(again: TextsAgain, a: Array, b: Array, means: Means) -> Kinds:
    """Block by block; what was not read again has no kind."""
    means.progress.stage("kinds", len(a), unit="pairs")
    all_kinds = Kinds.none(len(a))
    readable = np.flatnonzero((again.slot[a] >= 0) & (again.slot[b] >= 0))
    # One after the other, pairs of the same text; its copies are in the blocks around.
    readable = readable[np.lexsort((a[readable], b[readable]))]

    def of_block(block: slice) -> tuple[Array, Kinds]:
        chosen = readable[block]
        texts, where = again.texts(np.concatenate([a[chosen], b[chosen]]))
        kinds = aligned_kinds(texts, where[: len(chosen)], where[len(chosen) :])
        means.progress.advance(len(chosen))
        return chosen, kinds

    blocks = slices_of(again.lengths[a[readable]] + again.lengths[b[readable]], BLOCK_BYTES)
    with ThreadPoolExecutor(means.workers) as pool:
        for chosen, kinds in pool.map(of_block, blocks):
            all_kinds.put(chosen, kinds)
    return all_kinds
