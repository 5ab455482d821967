"""What a report reads again from the inputs: a few texts and dates, or one column of all."""

from __future__ import annotations

import re
from collections.abc import Collection as Several
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from neardup.decisions.values import plain
from neardup.documents import Columns
from neardup.documents.lost import check_unchanged
from neardup.errors import NeardupError, SettingsError
from neardup.methods import registry
from neardup.outputs.report.columns import Coded, coded
from neardup.outputs.report.run import Run
from neardup.outputs.result import Result
from neardup.outputs.texts import REFERENCE, texts_of, values_of
from neardup.schema import Array
from neardup.text.options import Text

USUAL_DATE = "date"
DATE = re.compile(r"\s*\d{4}-?\d\d-?\d\d([T ][\d:., TZ+-]{,30})?\s*")
# Readers say in many ways that a file or a column is no longer there.
FAULTS = (NeardupError, OSError, LookupError, ValueError, TypeError, pa.ArrowException)


@dataclass(frozen=True)
class Texts:
    """By id. ``fault`` says why there are none; ``words`` what the run counted as the same word."""

    texts: dict[str, str]
    dates: dict[str, str]
    fault: str | None = None
    words: Text | None = None


def read_texts(run: Run, ids: Several[str], dated: Several[str]) -> Texts:
    """Never fails for what cannot be read: the numbers of the run stand without it."""
    if run.info.get("against") and not run.references:
        ids = [id for id in ids if not id.startswith(REFERENCE)]
    if not ids and not dated:
        return Texts({}, {})
    if fault := run.info.get("kept_fault"):
        return Texts({}, {}, str(fault))
    try:
        texts = texts_of(run.result, ids)
        _check_unchanged(run.result)
    except FAULTS as error:
        return Texts({}, {}, error.message if isinstance(error, NeardupError) else str(error))
    return Texts(texts, _dates(run, dated), words=_words(run))


def _words(run: Run) -> Text | None:
    try:
        method = registry.build(run.settings["method"], run.settings["parameters"])
    except SettingsError:  # one that is not registered here
        return None
    return getattr(method, "text", None)


def _check_unchanged(result: Result) -> None:
    for source in result.collection().sources:
        check_unchanged(source)


def _dates(run: Run, ids: Several[str]) -> dict[str, str]:
    """From the column that the run was told, else from the one that is usually there, unless an
    archive would be unpacked again for a guess. What is no date is not shown: of documents that are
    bare texts it would be the text."""
    column = run.settings.get("date") or USUAL_DATE
    sources = run.result.collection().sources
    if not run.settings.get("date") and any(getattr(s, "codec", None) for s in sources):
        return {}
    try:
        found = values_of(run.result, ids, column)
    except FAULTS:
        return {}
    return {id: date for id, date in found.items() if DATE.fullmatch(date)}


def column_values(result: Result, column: str) -> Coded:
    """The values of a column for all documents; none for rejected ones."""
    _check_unchanged(result)
    settings, collection = result.info["settings"], result.collection()
    columns = Columns(text=settings["text"], id=settings["id"], extra=(column,))
    total, position = len(result.decisions), 0
    places: list[Array] = [np.empty(0, np.int64)]
    values = [pa.array([], pa.large_string())]
    for chunk in collection.chunks(columns):
        batch = chunk.read()
        places.append(position + batch.positions())
        values.append(plain(batch.records.column(column), column).cast(pa.large_string()))
        position += len(batch)
        if position >= total:  # a limit
            break
    found = coded(pa.chunked_array(values))
    place = np.concatenate(places)
    codes = np.full(total, -1)
    codes[place[place < total]] = found.codes[place < total]
    return Coded(codes, found.names)
