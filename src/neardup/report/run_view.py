"""A run as the sections of its report see it: the result, ``run.json``, counts by column, and what
is read again from the inputs (a few texts and dates, or one column of all documents)."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection as Several
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.decisions.order import plain
from neardup.documents.columns import Columns
from neardup.documents.lost import check_unchanged
from neardup.errors import NeardupError, SettingsError
from neardup.methods import registry
from neardup.runs.export import TITLE
from neardup.runs.result import Counts, Result
from neardup.runs.texts_again import REFERENCE, texts_of, values_of
from neardup.schema import Array
from neardup.text.text_options import Text

CODES = (schema.KEPT, schema.DUPLICATE, schema.REJECTED)
KEPT, DUPLICATE, REJECTED = range(3)


class Coded(NamedTuple):
    """``codes`` are places in ``names``; −1 where there is no value."""

    codes: Array
    names: list[str]


def coded(column: pa.ChunkedArray) -> Coded:
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # of no chunk at all
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], column.type)
    return Coded(pc.fill_null(whole.indices, -1).to_numpy(), whole.dictionary.to_pylist())


def decision_codes(decisions: pa.Table) -> Array:
    """0 kept, 1 duplicate, 2 rejected, whatever the order in the file."""
    found = coded(decisions["decision"])
    places = np.array([CODES.index(name) for name in found.names] or [0])
    return places[found.codes] if len(found.codes) else found.codes


def count_by(groups: Coded, decision: Array) -> Array:
    """Documents by group and decision; the last row is of those without a value."""
    size = len(groups.names) + 1
    place = np.where(groups.codes < 0, size - 1, groups.codes).astype(np.int64)
    return np.bincount(place * 3 + decision, minlength=3 * size).reshape(size, 3)


def cluster_numbers(decisions: pa.Table) -> Array:
    return np.asarray(pc.fill_null(decisions["cluster"], -1), dtype=np.int64)


@dataclass(frozen=True)
class Run:
    """``info`` may say more than that of the result: which files were written. ``groups`` are the
    values of a column that was asked for. ``references``: whether to look for their texts, for
    which all of them may have to be read."""

    result: Result
    info: dict[str, Any]
    by: str | None = None
    groups: Coded | None = None
    references: bool = False

    @property
    def counts(self) -> Counts:
        return self.result.counts

    @property
    def settings(self) -> dict[str, Any]:
        found: dict[str, Any] = self.info["settings"]
        return found

    @functools.cached_property
    def decision(self) -> Array:
        return decision_codes(self.result.decisions)

    @functools.cached_property
    def grouped(self) -> tuple[str, Coded]:
        """By what the shares are told: the column asked for, else inputs, else files."""
        if self.groups is not None:
            return str(self.by), self.groups
        for name in ("source", "file"):
            found = coded(self.result.decisions[name])
            if len(np.unique(found.codes)) > 1:
                return name, found
        return "source", coded(self.result.decisions["source"])


USUAL_DATE = "date"
LONGEST_TITLE = 300  # characters
DATE = re.compile(r"\s*\d{4}-?\d\d-?\d\d([T ][\d:., TZ+-]{,30})?\s*")
# Readers say in many ways that a file or a column is no longer there.
FAULTS = (NeardupError, OSError, LookupError, ValueError, TypeError, pa.ArrowException)


@dataclass(frozen=True)
class Texts:
    """By id. ``fault`` says why there are none; ``words`` what the run counted as the same word."""

    texts: dict[str, str]
    dates: dict[str, str]
    titles: dict[str, str] = field(default_factory=dict)
    fault: str | None = None
    words: Text | None = None


def read_texts(run: Run, ids: Several[str], dated: Several[str]) -> Texts:
    """Never fails for what cannot be read: the numbers of the run stand without it."""
    if run.info.get("against") and not run.references:
        ids = [id for id in ids if not id.startswith(REFERENCE)]
    if not ids and not dated:
        return Texts({}, {})
    if fault := run.info.get("kept_fault"):
        return Texts({}, {}, fault=str(fault))
    try:
        texts = texts_of(run.result, ids)
        check_unchanged(*run.result.collection().sources)
    except FAULTS as error:
        said = error.message if isinstance(error, NeardupError) else str(error)
        return Texts({}, {}, fault=said)
    titles = {
        id: title for id, title in _titles(run, {*ids, *dated}).items() if title != texts.get(id)
    }
    return Texts(texts, _dates(run, dated), titles, words=_words(run))


def _words(run: Run) -> Text | None:
    try:
        method = registry.build(run.settings["method"], run.settings["parameters"])
    except SettingsError:  # one that is not registered here
        return None
    return getattr(method, "text", None)


def _dates(run: Run, ids: Several[str]) -> dict[str, str]:
    """From the column that the run was told, else from the one that is usually there. What is no
    date is not shown: of documents that are bare texts it would be the text."""
    found = _values(run, ids, run.settings.get("date"), USUAL_DATE)
    return {id: date for id, date in found.items() if DATE.fullmatch(date)}


def _titles(run: Run, ids: Several[str]) -> dict[str, str]:
    """What is as long as a text is no title."""
    found = _values(run, ids, None, TITLE)
    lines = {id: " ".join(value.split()) for id, value in found.items()}
    return {id: line for id, line in lines.items() if 0 < len(line) <= LONGEST_TITLE}


def _values(run: Run, ids: Several[str], named: str | None, usual: str) -> dict[str, str]:
    """No compressed file and no Parquet column is unpacked again for a guess."""
    sources = run.result.collection().sources
    if not named and any(source.codec or source.form == "parquet" for source in sources):
        return {}
    try:
        return values_of(run.result, ids, named or usual)
    except FAULTS:
        return {}


def column_values(result: Result, column: str, *, optional: bool = False) -> Coded:
    """The values of a column for all documents; none for rejected ones. An ``optional`` one may be
    missing in files."""
    return columns_values(result, (column,), (column,) if optional else ())[column]


def columns_values(
    result: Result, wanted: Several[str], optional: Several[str] = ()
) -> dict[str, Coded]:
    """The same for several columns, in one reading of the documents."""
    settings, collection = result.info["settings"], result.collection()
    check_unchanged(*collection.sources)
    maybe = tuple(optional)
    columns = Columns(settings["text"], settings["id"], extra=tuple(wanted), optional=maybe)
    total, position = len(result.decisions), 0
    places: list[Array] = [np.empty(0, np.int64)]
    values = {column: [pa.array([], pa.large_string())] for column in wanted}
    for chunk in collection.chunks(columns):
        batch = chunk.read()
        places.append(position + batch.positions())
        for column in wanted:
            values[column].append(_strings(batch.records, column))
        position += len(batch)
        if position >= total:  # a limit
            break
    place = np.concatenate(places)
    return {
        column: _placed(coded(pa.chunked_array(values[column])), place, total) for column in wanted
    }


def _strings(records: pa.RecordBatch, column: str) -> pa.Array:
    there = column in records.schema.names
    found = records.column(column) if there else pa.nulls(len(records))
    return plain(found, column).cast(pa.large_string())


def _placed(values: Coded, place: Array, total: int) -> Coded:
    codes = np.full(total, -1)
    codes[place[place < total]] = values.codes[place < total]
    return Coded(codes, values.names)
