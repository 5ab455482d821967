"""The texts of some documents of a run, read again from its inputs in one pass.

A text is asked for by a key of 64 bits: the digest that the run has of it, so that a changed input
gives no wrong text, and a million copies are one; or where it stands. Only what is asked for is
kept, in memory up to a limit and then on disk. What cannot be read again is left out.

The texts of some documents of a run, read again from its inputs and its references.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native, schema
from neardup.documents import Chunk, Collection, Columns, DocumentBatch
from neardup.documents.chunk_pass import chunk_results
from neardup.documents.clashes import labels_of
from neardup.documents.collection import collect_inputs
from neardup.documents.lost import Watch
from neardup.errors import NeardupError
from neardup.matching.evidence import EvidenceStore
from neardup.methods.preparation import TEXT_SEED, text_digests
from neardup.progress import LOG, Progress, Silent
from neardup.schema import Array, Ragged

if TYPE_CHECKING:
    from neardup.runs.result import Result

Keys = Callable[[DocumentBatch], npt.NDArray[np.uint64]]


@dataclass(frozen=True)
class Means:
    """What a pass may use: threads, bytes in memory, a folder for what is beyond."""

    workers: int = 1
    limit: int = 256 << 20
    folder: Path | None = None
    progress: Progress = field(default_factory=Silent)


@dataclass(frozen=True)
class Again:
    """``slot`` says of each key that was asked for where its text is in the store, or −1."""

    slot: npt.NDArray[np.int64]
    store: EvidenceStore

    @property
    def lengths(self) -> Array:
        """In bytes, by key; 0 for those that were not found."""
        stored = np.concatenate([self.store.lengths, [0]])
        return np.asarray(stored[self.slot])

    def texts(self, numbers: Array) -> tuple[Ragged, Array]:
        """The texts of some of the keys, all found; and where each number's is among them."""
        slots, where = np.unique(self.slot[numbers], return_inverse=True)
        return self.store.take(slots), where.astype(np.int64)


def text_keys(batch: DocumentBatch) -> npt.NDArray[np.uint64]:
    texts = Ragged.of_strings(batch.records.column("text"))
    return _native.bytes_digests(texts.values, texts.offsets, TEXT_SEED)


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
    inputs: Sequence[tuple[Collection, Columns]],
    keys: Keys,
    means: Means,
) -> Again:
    """The texts with the keys ``wanted``, sorted and distinct. It ends when it has all of them."""
    store = EvidenceStore(np.uint8, limit=means.limit, folder=means.folder)
    found = Again(np.full(len(wanted), -1, np.int64), store)
    left, stored = len(wanted), 0
    for batch, numbers, rows in _batches(wanted, inputs, keys, means.workers):
        fresh = found.slot[numbers] < 0
        fresh[fresh] = _first(numbers[fresh])
        numbers, rows = numbers[fresh], rows[fresh]
        texts = batch.records.column("text").take(pa.array(rows))
        store.append(Ragged.of_strings(texts))
        found.slot[numbers] = stored + np.arange(len(numbers))
        stored, left = stored + len(numbers), left - len(numbers)
        means.progress.advance(len(batch), batch.size)
        if not left:
            break
    return found


def _first(numbers: Array) -> Array:
    """The first of equal ones."""
    first = np.zeros(len(numbers), np.bool_)
    first[np.unique(numbers, return_index=True)[1]] = True
    return first


_Matches = tuple[DocumentBatch, Array, Array]


def _batches(
    wanted: Array, inputs: Sequence[tuple[Collection, Columns]], keys: Keys, workers: int
) -> Iterator[_Matches]:
    """Each batch, in order, with the numbers of the keys it has and the rows that have them."""

    def matches(chunk: Chunk) -> _Matches | None:
        try:
            batch = chunk.read()
        except (NeardupError, OSError, pa.ArrowException) as error:
            LOG.warning("texts could not be read again: %s", error)
            return None
        of_batch = keys(batch)
        number = np.minimum(np.searchsorted(wanted, of_batch), len(wanted) - 1)
        rows = np.flatnonzero(wanted[number] == of_batch)
        return batch, number[rows], rows

    return filter(None, chunk_results(_chunks(inputs), matches, workers))


def _chunks(inputs: Sequence[tuple[Collection, Columns]]) -> Iterator[Chunk]:
    for collection, columns in inputs:
        for source in collection.sources:
            try:
                yield from untouched(source).chunks(columns)
            except (NeardupError, OSError, pa.ArrowException) as error:
                LOG.warning("%s could not be read again: %s", source.file, error)


def untouched(source: Any) -> Any:
    """A twin with a watch of its own: what was noted when documents were taken in must stay."""
    return replace(source, watch=Watch()) if hasattr(source, "watch") else source


REFERENCE = "ref:"  # what the id of a reference document begins with


def texts_of(result: Result, ids: Iterable[str]) -> dict[str, str]:
    """By id, a file at a time. A rejected document may bear the id of another: it is not meant.
    What is not found is left out."""
    wanted = list(dict.fromkeys(ids))
    found = _input_texts(result, wanted)
    missing = {id for id in wanted if id not in found and id.startswith(REFERENCE)}
    if missing and result.info["against"]:
        names = {id.removeprefix(REFERENCE): id for id in missing}
        found |= {names[name]: text for name, text in _reference_texts(result, names.keys())}
    return found


def unchanged_texts_of(result: Result, ids: Iterable[str]) -> dict[str, str]:
    """As ``texts_of``, without those that are not what the run read."""
    found = texts_of(result, ids)
    changed = _changed(result, found)
    return {id: text for id, text in found.items() if id not in changed}


def _changed(result: Result, found: dict[str, str]) -> set[str]:
    expected, table = result.text_digests, result.decisions
    if expected is None:
        return set()
    names, texts = (pa.array(some, pa.large_string()) for some in (found, found.values()))
    refused = pc.equal(table["decision"], schema.REJECTED).combine_chunks()
    ids = pc.if_else(refused, None, table["id"].combine_chunks())
    row = np.asarray(pc.fill_null(pc.index_in(names, ids), -1)).astype(np.int64)
    same = text_digests(pa.record_batch({"text": texts})) == expected[row]
    return {id for id, ok in zip(found, ((row < 0) | same).tolist(), strict=True) if not ok}


def values_of(result: Result, ids: Iterable[str], column: str) -> dict[str, str]:
    """As ``texts_of``, of another column that holds strings; no references. Documents that have no
    columns give their text."""
    return _input_texts(result, list(dict.fromkeys(ids)), column)


def _input_texts(result: Result, ids: list[str], column: str | None = None) -> dict[str, str]:
    """Of another column than that of the text, where one is named."""
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
    found: dict[str, str] = {}
    for file, some in files.items():
        texts = result.collection().texts(file, [row for _, row in some], columns)
        found |= {id: text for (id, _), text in zip(some, texts, strict=True)}
    return found


def _reference_texts(result: Result, ids: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Of the first reference that has it. One that cannot be read any more is passed over."""
    left, places = set(ids), result.info["against"]
    labels = labels_of(places)
    for place in places:
        asked = _names_in(labels[place], left)
        try:
            found = _of_reference(result, place, set(asked))
        except (NeardupError, OSError, LookupError):
            continue
        texts = {asked[name]: text for name, text in found.items()}
        yield from texts.items()
        left -= texts.keys()


def _names_in(label: str, ids: Iterable[str]) -> dict[str, str]:
    """What documents may be called in the reference ``label``: an id that several references have
    begins with the one that is meant."""
    wanted = list(ids)
    told_apart = [one for one in wanted if one.startswith(f"{label}:")]
    bare = {one.removeprefix(label).lstrip(":"): one for one in told_apart}
    return {one: one for one in wanted} | bare


def _of_reference(result: Result, place: str, ids: set[str]) -> dict[str, str]:
    """A run may have been made against others, whose documents count as its own."""
    from neardup.runs.run_folder import load

    if Path(place).is_dir():
        run = load(Path(place))
        found = _input_texts(run, list(ids))
        return found | dict(_reference_texts(run, ids - found.keys()))
    settings = result.info["settings"]
    columns = Columns(text=settings["text"], id=settings["id"])
    collection = collect_inputs([(None, place)], encoding=settings.get("encoding"))
    return texts_by_id(collection.told_apart(columns)[0], ids, columns)


def texts_by_id(collection: Collection, ids: Iterable[str], columns: Columns) -> dict[str, str]:
    found = records_by_id(collection, ids, columns)
    return {id: record["text"][0].as_py() for id, record in found.items()}


def records_by_id(
    collection: Collection, ids: Iterable[str], columns: Columns
) -> dict[str, pa.RecordBatch]:
    """One row each. Reads only as far as the last of them."""
    left, found = set(ids), dict[str, pa.RecordBatch]()
    for chunk in collection.chunks(columns) if left else ():
        records = chunk.read().records
        for id in sorted(left):
            place = pc.index(records.column("id"), id).as_py()
            if place >= 0:
                found[id] = records.slice(place, 1)
        left -= found.keys()
        if not left:
            break
    return found


def columns_of(result: Result, ids: Sequence[str], names: Sequence[str]) -> dict[str, pa.Array]:
    """Other columns of some documents, as the run read them. Empty where one is not among the
    inputs: of a reference only the text is read again."""
    settings, collection = result.info["settings"], result.collection()
    columns = Columns(settings["text"], settings["id"], extra=tuple(names))
    twins = [untouched(source) for source in collection.sources]
    again = Collection(twins, collection.limit, collection.inputs, collection.extractor)
    if "shared_ids" in result.info:  # else documents have the ids of their files
        again, _ = again.told_apart(columns)
    found = records_by_id(again, ids, columns)
    if not set(ids) <= found.keys():
        return {}
    return beside([found[id] for id in ids], names)


def beside(records: Sequence[pa.RecordBatch], names: Sequence[str]) -> dict[str, pa.Array]:
    """Columns of single documents, one under the other; files may have them in unlike types."""
    return {name: _one_under_another([record[name] for record in records]) for name in names}


def _one_under_another(parts: list[pa.Array]) -> pa.Array:
    alike = len({part.type for part in parts}) == 1
    return pa.concat_arrays(parts if alike else [part.cast(pa.large_string()) for part in parts])
