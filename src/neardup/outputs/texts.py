"""The texts of some documents of a run, read again from its inputs and its references."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.documents import Collection, Columns
from neardup.documents.clashes import labels_of
from neardup.documents.collection import collect_inputs
from neardup.errors import NeardupError
from neardup.methods.preparing import text_digests
from neardup.outputs.reread import untouched

if TYPE_CHECKING:
    from neardup.outputs.result import Result

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
    from neardup.outputs.folder import load

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
