"""The texts of some documents of a run, read again from its inputs and its references.

For many texts there is one pass over the inputs (``reread``), or over the rows where they were: a
text is asked for by a key of 64 bits, its digest in the run, so that a changed input gives no wrong
text and a million copies are one, or its place. Only texts that are asked for are kept, in memory
up to a limit and then on disk.
A few texts are read by id (``texts_of``), each where it stands. What cannot be read again is left
out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.classes import dataclass
from neardup.documents.clashes import labels_of
from neardup.documents.collection import Collection, collect_inputs
from neardup.documents.columns import Chunk, Columns, DocumentBatch
from neardup.documents.lost import Watch
from neardup.documents.source import chunk_results
from neardup.errors import NeardupError
from neardup.matching.evidence import EvidenceStore
from neardup.methods.preparation import text_digests
from neardup.progress import LOG, Progress, Silent
from neardup.runs.run_info import check_place, is_run
from neardup.schema import Array, Ragged

if TYPE_CHECKING:
    from neardup.runs.result import Result

Keys = Callable[[DocumentBatch], npt.NDArray[np.uint64]]
Inputs = Sequence[tuple[Collection, Columns]]
Rows = Mapping[str, Array]  # by file, sorted


@dataclass(frozen=True)
class Means:
    """What a pass may use: threads, bytes in memory, a folder for what is beyond, and memory that
    was used before (``EvidenceStore.hand_over``)."""

    workers: int = 1
    limit: int = 256 << 20
    folder: Path | None = None
    progress: Progress = field(default_factory=Silent)
    room: Array | None = None


@dataclass(frozen=True)
class TextsAgain:
    """``slot`` has, for each key that was asked for, the place of its text in the store, or −1."""

    slot: npt.NDArray[np.int64]
    store: EvidenceStore

    @property
    def lengths(self) -> Array:
        """The length of each text in bytes, by key; 0 for texts that could not be read again."""
        stored = np.concatenate([self.store.lengths, [0]])
        return np.asarray(stored[self.slot])

    def texts(self, numbers: Array) -> tuple[Ragged, Array]:
        """The texts of some of the keys, all in the store, each text once; and for each number the
        place of its text among them."""
        slots, places = np.unique(self.slot[numbers], return_inverse=True)
        return self.store.take(slots), places.astype(np.int64)

    def strings(self, numbers: Array) -> list[str]:
        texts, places = self.texts(numbers)
        return [bytes(texts[i]).decode() for i in places.tolist()]


def text_keys(batch: DocumentBatch) -> npt.NDArray[np.uint64]:
    return text_digests(batch.records)


def place_keys(files: Sequence[str]) -> Keys:
    """Keys by file and row; ``files`` are numbered as they stand here."""
    number = {file: i for i, file in enumerate(files)}

    def keys(batch: DocumentBatch) -> npt.NDArray[np.uint64]:
        return places(
            np.full(batch.records.num_rows, number.get(batch.file, len(files))),
            batch.records.column("row").to_numpy(),
        )

    return keys


def places(file: Array, row: Array) -> npt.NDArray[np.uint64]:
    return np.asarray(file).astype(np.uint64) << np.uint64(40) | np.asarray(row).astype(np.uint64)


def reread(
    wanted: npt.NDArray[np.uint64],
    inputs: Inputs,
    keys: Keys,
    means: Means,
    rows: Rows | None = None,
) -> TextsAgain:
    """The texts with the keys ``wanted``, sorted and distinct. It ends when it has all of them.
    ``rows`` are those of the first input where they were before; they are read first."""
    store = EvidenceStore(np.uint8, limit=means.limit, folder=means.folder, room=means.room)
    again = TextsAgain(np.full(len(wanted), -1, np.int64), store)
    left, stored = len(wanted), 0
    for batch, numbers, places in _matches(wanted, _chunks(inputs, rows), keys, means.workers):
        fresh = again.slot[numbers] < 0
        numbers, places = numbers[fresh], places[fresh]
        texts = batch.records.column("text").take(pa.array(places))
        store.append(Ragged.of_strings(texts))
        again.slot[numbers] = stored + np.arange(len(numbers))
        stored, left = stored + len(numbers), left - len(numbers)
        means.progress.advance(len(numbers))
        if not left:
            break
    return again


def wanted_rows(keys: Array, wanted: Array) -> tuple[Array, Array]:
    """Which of the keys ``wanted``, sorted and distinct, are among the ``keys`` of a batch: their
    numbers, and the first row that has each. ``np.isin`` would sort ``wanted`` for every batch."""
    found, rows = found_in(wanted, keys)
    numbers, first = np.unique(found, return_index=True)
    return numbers, rows[first]


def found_in(wanted: Array, keys: Array) -> tuple[Array, Array]:
    """The same of all rows: the numbers of those that have a key of ``wanted``, and these rows."""
    if not len(wanted):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    number = np.minimum(np.searchsorted(wanted, keys), len(wanted) - 1)
    rows = np.flatnonzero(wanted[number] == keys)
    return number[rows], rows


_Match = tuple[DocumentBatch, Array, Array]


def _matches(wanted: Array, chunks: Iterator[Chunk], keys: Keys, workers: int) -> Iterator[_Match]:
    """Each batch, in order, with the ``wanted_rows`` of it."""

    def match(chunk: Chunk) -> _Match | None:
        try:
            batch = chunk.read()
        except (NeardupError, OSError, pa.ArrowException) as error:
            LOG.warning("texts could not be read again: %s", error)
            return None
        return batch, *wanted_rows(keys(batch), wanted)

    return filter(None, chunk_results(chunks, match, workers))


def _chunks(inputs: Inputs, rows: Rows | None) -> Iterator[Chunk]:
    """A text that is not in its row any more may be elsewhere, so the first input is read whole
    after all others."""
    passes: list[tuple[Collection, Columns, Rows | None]] = [(*both, None) for both in inputs]
    if rows is not None:
        passes = [(*inputs[0], rows), *passes[1:], passes[0]]
    for collection, columns, some in passes:
        for source in collection.sources:
            again = untouched(source)
            try:
                if some is None:
                    chunks = again.chunks(columns)
                else:
                    chunks = again.chunks_at(some.get(source.file, np.empty(0, np.int64)), columns)
                yield from collection.page_texts(source, chunks)
            except (NeardupError, OSError, pa.ArrowException) as error:
                LOG.warning("%s could not be read again: %s", source.file, error)


def untouched(source: Any) -> Any:
    """A copy with a watch of its own: what was noted when documents were taken in must stay."""
    return replace(source, watch=Watch()) if source.watch else source


REFERENCE = "ref:"  # what the id of a reference document begins with


def texts_of(result: Result, ids: Iterable[str]) -> dict[str, str]:
    """The texts by id, read a file at a time, without those that cannot be read, or differ from
    what the run read: a run that somebody else made may name any file. A rejected document may have
    the id of another one; the accepted one is meant."""
    wanted = list(dict.fromkeys(ids))
    texts = _input_texts(result, wanted)
    changed = _changed(result, texts)
    texts = {id: text for id, text in texts.items() if id not in changed}
    missing = {id for id in wanted if id not in texts and id.startswith(REFERENCE)}
    if missing and result.info["against"]:
        names = {id.removeprefix(REFERENCE): id for id in missing}
        texts |= {names[name]: text for name, text in _reference_texts(result, names.keys())}
    return texts


def _changed(result: Result, texts_now: dict[str, str]) -> set[str]:
    expected, table = result.text_digests, result.decisions
    if expected is None:
        return set()
    names, texts = (pa.array(some, pa.large_string()) for some in (texts_now, texts_now.values()))
    row = _accepted_rows(table, names)
    same = text_digests(pa.record_batch({"text": texts})) == expected[row]
    return {id for id, ok in zip(texts_now, ((row < 0) | same).tolist(), strict=True) if not ok}


def _accepted_rows(table: pa.Table, names: pa.Array) -> npt.NDArray[np.int64]:
    """The first row with each name that was not rejected, or −1. It asks which rows have one of the
    names: to look the names up among the rows would take a table of all ids."""
    number = np.asarray(pc.fill_null(pc.index_in(table["id"], names), -1))
    rows = np.flatnonzero(number >= 0)
    refused = pc.equal(table["decision"].take(pa.array(rows)), schema.REJECTED)
    rows = rows[~np.asarray(refused)]
    place = np.full(len(names), -1, np.int64)
    place[number[rows][::-1]] = rows[::-1]
    return place


def values_of(result: Result, ids: Iterable[str], column: str) -> dict[str, str]:
    """The values of another column that holds strings, by id, without references and documents
    that have changed. Documents that have no columns give their text."""
    unchanged = texts_of(result, (id for id in ids if not id.startswith(REFERENCE)))
    return _input_texts(result, list(unchanged), column)


def _input_texts(result: Result, ids: list[str], column: str | None = None) -> dict[str, str]:
    """The texts, or the values of ``column`` where one is named."""
    table = result.decisions
    wanted = pc.and_(
        pc.is_in(table["id"], pa.array(ids, pa.large_string())),
        pc.not_equal(table["decision"], schema.REJECTED),
    )
    rows = table.filter(wanted).select(["id", "file", "row"]).to_pylist()
    files: dict[str, list[tuple[str, int]]] = {}
    for row in rows:
        files.setdefault(row["file"], []).append((row["id"], row["row"]))
    columns = Columns(text=column or result.info["settings"]["text"])
    texts: dict[str, str] = {}
    for file, places in files.items():
        values = result.collection().texts(file, [row for _, row in places], columns)
        texts |= {id: value for (id, _), value in zip(places, values, strict=True)}
    return texts


def _reference_texts(result: Result, ids: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each from the first reference that has it. A reference that can no longer be read is passed
    over."""
    left, places = set(ids), result.info["against"]
    labels = labels_of(places)
    for place in places:
        asked = _names_in(labels[place], left)
        try:
            by_name = _of_reference(result, place, set(asked))
        except (NeardupError, OSError, LookupError):
            continue
        texts = {asked[name]: text for name, text in by_name.items()}
        yield from texts.items()
        left -= texts.keys()


def _names_in(label: str, ids: Iterable[str]) -> dict[str, str]:
    """What documents may be called in the reference ``label``: an id that several references have
    begins with the one that is meant."""
    wanted = list(ids)
    labelled = [id for id in wanted if id.startswith(f"{label}:")]
    bare = {id.removeprefix(label).lstrip(":"): id for id in labelled}
    return {id: id for id in wanted} | bare


def _of_reference(result: Result, place: str, ids: set[str]) -> dict[str, str]:
    """A run may have been made against others, whose documents count as its own."""
    from neardup.runs.stored_run import load

    check_place(place, "reference")
    if is_run(Path(place)):
        run = load(Path(place))
        texts = _input_texts(run, list(ids))
        return texts | dict(_reference_texts(run, ids - texts.keys()))
    settings = result.info["settings"]
    columns = Columns(text=settings["text"], id=settings["id"])
    collection = collect_inputs([(None, place)], encoding=settings.get("encoding"))
    records = records_by_id(collection.told_apart(columns)[0], ids, columns)
    return {id: record["text"][0].as_py() for id, record in records.items()}


def records_by_id(
    collection: Collection, ids: Iterable[str], columns: Columns
) -> dict[str, pa.RecordBatch]:
    """One row for each id. Reads only as far as the last of them."""
    left, by_id = set(ids), dict[str, pa.RecordBatch]()
    for chunk in collection.chunks(columns) if left else ():
        records = chunk.read().records
        for id in sorted(left):
            place = pc.index(records.column("id"), id).as_py()
            if place >= 0:
                by_id[id] = records.slice(place, 1)
        left -= by_id.keys()
        if not left:
            break
    return by_id


def columns_of(result: Result, ids: Sequence[str], names: Sequence[str]) -> dict[str, pa.Array]:
    """Other columns of some documents, as the run read them. Empty if a document is not among the
    inputs: of a reference only the text is read again."""
    settings, collection = result.info["settings"], result.collection()
    columns = Columns(settings["text"], settings["id"], extra=tuple(names))
    twins = [untouched(source) for source in collection.sources]
    again = Collection(twins, collection.limit, collection.inputs, collection.extractor)
    if "shared_ids" in result.info:  # else documents have the ids of their files
        again, _ = again.told_apart(columns)
    records = records_by_id(again, ids, columns)
    if not set(ids) <= records.keys():
        return {}
    return beside([records[id] for id in ids], names)


def beside(records: Sequence[pa.RecordBatch], names: Sequence[str]) -> dict[str, pa.Array]:
    """Columns of single documents, one under the other; files may have them in different types."""
    return {name: _one_under_another([record[name] for record in records]) for name in names}


def _one_under_another(parts: list[pa.Array]) -> pa.Array:
    alike = len({part.type for part in parts}) == 1
    return pa.concat_arrays(parts if alike else [part.cast(pa.large_string()) for part in parts])
