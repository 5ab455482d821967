"""The kinds of the pairs of a run: texts are read again, aligned in blocks, and let go.

Equal texts are one text, and equal pairs of texts are one pair, however many documents have them.
Pairs that digests tell are not aligned. What cannot be read again has no kind; no run fails for it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.kinds import Kinds, aligned_kinds
from neardup.documents.collection import Collection
from neardup.documents.columns import Columns
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
from neardup.schema import DUPLICATE, KINDS, Array, slices_of

if TYPE_CHECKING:
    from neardup.runs.result import Result

UNKNOWN = "unknown"  # among counts of kinds: duplicates that have none
BLOCK_BYTES = 4 << 20  # of the texts of a block of pairs; a larger pair is a block of its own


@dataclass(frozen=True)
class PairKinds:
    """What is known of pairs of a run. ``text`` numbers the texts of its documents; ``keys`` are
    sorted pairs of them, the smaller number first, and ``kinds`` what they are."""

    text: Array
    texts: int
    keys: Array
    kinds: Kinds

    def of(self, a: Array, b: Array) -> Kinds:
        """Of pairs of documents; none where it is not known."""
        first, second = self.text[a], self.text[b]
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
    """Of documents of a result, numbered as its decisions are, whose texts are read where they
    stood: a result has no digests of them."""
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
    first, second = np.minimum(text[a], text[b]), np.maximum(text[a], text[b])
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
