"""What a task of a search for passages on Spark makes of its rows (``passage_search.py``).

Rows between tasks are a key and packed numbers: a bucket of grams, or a batch of documents. Every
task is given the numbering of the documents and the settings, and gives rows of the same form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines.spark.spark_columns import as_rows
from neardup.passages.passage_settings import PassageSettings
from neardup.passages.search import Copied
from neardup.schema import Array, Ragged, offsets_of

Numbers = npt.NDArray[np.uint32]
PACKED = "key bigint, data binary"
COPIES = -1  # the key of copies, beside buckets of grams
_LIST, _COVERED = 4, 3  # numbers of a row
_PLACE = 7  # numbers of an occurrence, in front of its context


def packed(keys: Array, rows: Array) -> pa.Table:
    """Rows of numbers, those with the same key together."""
    order = np.argsort(keys, kind="stable")
    distinct, counts = np.unique(keys, return_counts=True)
    rows = np.ascontiguousarray(rows[order], np.uint32)
    data = Ragged(rows.reshape(-1), offsets_of(counts * rows.shape[1] if len(rows) else counts))
    values = [
        data.values[b:e].tobytes() for b, e in zip(data.offsets, data.offsets[1:], strict=False)
    ]
    return pa.table({"key": pa.array(distinct, pa.int64()), "data": pa.array(values, pa.binary())})


def rows_in(table: pa.Table, width: int) -> Numbers:
    column = table.column("data").combine_chunks()
    return as_rows(column, np.uint32).values.reshape(-1, width)


@dataclass(frozen=True)
class Numbering:
    """The documents of each batch, by number, and where they stand in the order of ``keep``."""

    keys: npt.NDArray[np.int64]  # of the batches, sorted
    starts: npt.NDArray[np.int64]  # the first document of each batch, and the number of all
    rank: npt.NDArray[np.int64]
    buckets: int

    def batch_of(self, numbers: Array) -> npt.NDArray[np.int64]:
        found: npt.NDArray[np.int64] = self.keys[
            np.searchsorted(self.starts, numbers, side="right") - 1
        ]
        return found

    def documents(self, key: int, data: bytes) -> tuple[int, Ragged]:
        """The number of the first document of a batch, and the words of all; ``data`` has their
        lengths, then the words."""
        at = int(np.searchsorted(self.keys, key))
        first, count = int(self.starts[at]), int(self.starts[at + 1] - self.starts[at])
        numbers = np.frombuffer(data, np.uint32)
        lengths = numbers[1 : 1 + int(numbers[0])].astype(np.int64)
        return first, Ragged(numbers[1 + len(lengths) :], offsets_of(lengths[:count]))


def as_words(hashes: Ragged) -> bytes:
    head = np.concatenate([[len(hashes)], hashes.lengths]).astype(np.uint32)
    return head.tobytes() + hashes.values[: hashes.offsets[-1]].astype(np.uint32).tobytes()


def seeds(numbering: Numbering, settings: PassageSettings, words: pa.Table) -> pa.Table:
    """The sampled grams of a batch, by bucket: tag, document, position."""
    first, hashes = numbering.documents(*_row(words))
    positions, tags, ends = settings.kernel().seeds(hashes.values, hashes.offsets)
    documents = first + np.repeat(np.arange(len(hashes)), np.diff(ends))
    return packed(tags % numbering.buckets, np.stack([tags, documents, positions], 1))


def _row(table: pa.Table) -> tuple[int, bytes]:
    return table.column("key")[0].as_py(), table.column("data")[0].as_py()


def shared(numbering: Numbering, _settings: PassageSettings, grams: pa.Table) -> pa.Table:
    """The grams that occur at least twice, by the batch of their document."""
    rows = rows_in(grams, 3)
    _, inverse, counts = np.unique(rows[:, 0], return_inverse=True, return_counts=True)
    rows = rows[counts[inverse] > 1]
    return packed(numbering.batch_of(rows[:, 1]), rows)


def occurrences(
    numbering: Numbering, settings: PassageSettings, grams: pa.Table, words: pa.Table
) -> pa.Table:
    """The same with the words around them, by bucket."""
    around, gram = _native.CONTEXT_WORDS, settings.gram
    if not len(grams):
        return packed(np.empty(0, np.int64), np.empty((0, 1), np.uint32))
    tags, documents, positions = rows_in(grams, 3).astype(np.int64).T
    first, hashes = numbering.documents(*_row(words))
    behind = hashes.lengths[documents - first] - positions
    at = hashes.offsets[documents - first] + positions
    places = np.clip(at[:, None] + np.arange(-around, gram + around), 0, len(hashes.values) - 1)
    left, right = np.minimum(positions, around), np.minimum(behind, around + gram)
    ends = positions <= around, behind <= around + gram
    known = np.stack([tags, documents, positions, left, right, *ends], 1)
    return packed(tags % numbering.buckets, np.concatenate([known, hashes.values[places]], 1))


def _keys_of(documents: Array, positions: Array) -> npt.NDArray[np.int64]:
    return documents.astype(np.int64) << 32 | positions


def lists(
    numbering: Numbering,
    settings: PassageSettings,
    grams: pa.Table,
    covered: pa.Table | None = None,
) -> pa.Table:
    """The places where each gram was stored before, by the batch of its document; ``covered`` are
    grams that were not stored in the round before."""
    width = _PLACE + 2 * _native.CONTEXT_WORDS + settings.gram
    rows = rows_in(grams, width)
    rows = rows[np.lexsort((rows[:, 2], numbering.rank[rows[:, 1]], rows[:, 0]))]
    marks = None
    if covered is not None:
        gone = rows_in(covered, _COVERED)
        marks = np.isin(_keys_of(rows[:, 1], rows[:, 2]), _keys_of(gone[:, 0], gone[:, 1]))
    places, contexts = (np.ascontiguousarray(r) for r in (rows[:, :_PLACE], rows[:, _PLACE:]))
    found = settings.kernel().seed_lists(
        places.reshape(-1), contexts.reshape(-1), None if marks is None else marks.view(np.uint8)
    )
    lists = found.reshape(-1, _LIST)
    return packed(numbering.batch_of(lists[:, 0]), lists)


_NONE = np.uint32(0xFFFFFFFF)


def needs(numbering: Numbering, _settings: PassageSettings, lists: pa.Table) -> pa.Table:
    """The documents whose words a batch needs, by their own batch: document, batch."""
    key, _ = _row(lists)
    rows = rows_in(lists, _LIST)
    documents = np.unique(np.concatenate([rows[:, 0], rows[rows[:, 2] != _NONE, 2]]))
    batch = np.full(len(documents), np.searchsorted(numbering.keys, key))
    return packed(numbering.batch_of(documents), np.stack([documents, batch], 1))


def words_asked(
    numbering: Numbering, _settings: PassageSettings, asked: pa.Table, words: pa.Table
) -> pa.Table:
    """Words of documents, by the batch that asked for them."""
    if not len(asked):
        return packed(np.empty(0, np.int64), np.empty((0, 1), np.uint32))
    first, hashes = numbering.documents(*_row(words))
    wanted = np.unique(rows_in(asked, 2), axis=0)
    batches = np.unique(wanted[:, 1])
    data = []
    for batch in batches.tolist():
        documents = wanted[wanted[:, 1] == batch, 0]
        chosen = hashes.take(documents.astype(np.int64) - first)
        data.append(documents.tobytes() + as_words(chosen))
    # The number of the documents stands behind their numbers, so the row begins with it, too.
    sizes = [np.uint32(np.count_nonzero(wanted[:, 1] == batch)).tobytes() for batch in batches]
    rows = [size + each for size, each in zip(sizes, data, strict=True)]
    keys = pa.array(numbering.keys[batches], pa.int64())
    return pa.table({"key": keys, "data": pa.array(rows, pa.binary())})


def compared(
    numbering: Numbering, settings: PassageSettings, lists: pa.Table, asked: pa.Table
) -> pa.Table:
    """The copies in the documents of a batch, and the grams that they do not store."""
    numbers, words = _asked_words(asked)
    kernel = settings.kernel()
    kernel.borrow(words.values, words.offsets)
    rows = rows_in(lists, _LIST)
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    rows[:, 0] = np.searchsorted(numbers, rows[:, 0])
    known = rows[:, 2] != _NONE
    rows[known, 2] = np.searchsorted(numbers, rows[known, 2])
    covered = kernel.listed(rows.reshape(-1), numbers).reshape(-1, _COVERED)
    covered[:, 0] = numbers[covered[:, 0]]
    copies = kernel.copies().reshape(-1, Copied.COUNT)
    for column in (Copied.DOCUMENT, Copied.SOURCE):
        copies[:, column] = numbers[copies[:, column]]
    found = packed(np.full(len(copies), COPIES), copies)
    return pa.concat_tables([found, packed(covered[:, 2] % numbering.buckets, covered)])


def _asked_words(asked: pa.Table) -> tuple[Numbers, Ragged]:
    """Documents that came from several batches, sorted by number."""
    numbers, lengths, words = [], [], []
    for data in asked.column("data").to_pylist():
        row = np.frombuffer(data, np.uint32)
        count = int(row[0])
        numbers.append(row[1 : 1 + count])
        lengths.append(row[2 + count : 2 + 2 * count].astype(np.int64))
        words.append(row[2 + 2 * count :])
    joined = Ragged(np.concatenate(words), offsets_of(np.concatenate(lengths)))
    order = np.argsort(np.concatenate(numbers))
    return np.concatenate(numbers)[order], joined.take(order)
