"""A run as the sections of its report see it: the result, ``run.json``, shares by source and kind,
and what is read again from the inputs (a few texts and dates, or one column of all documents)."""

from __future__ import annotations

import re
from collections.abc import Collection as Several
from dataclasses import field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.classes import dataclass
from neardup.decisions.order import plain
from neardup.documents.columns import Columns
from neardup.documents.lost import check_unchanged
from neardup.errors import NeardupError, SettingsError
from neardup.report.html_page import (
    Cell,
    Html,
    Share,
    Table,
    bar,
    card,
    html,
    name,
    prose,
    table_html,
)
from neardup.runs.export import TITLE
from neardup.runs.result import Counts, Result
from neardup.runs.texts_again import REFERENCE, texts_of, values_of
from neardup.schema import Array
from neardup.text.text_options import Text
from neardup.wording import many, shortened

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
    places = np.array([schema.DECIDED.index(name) for name in found.names] or [0])
    return places[found.codes] if len(found.codes) else found.codes


def count_by(groups: Coded, decision: Array) -> Array:
    """Documents by group and decision; the last row is of those without a value."""
    size = len(groups.names) + 1
    place = np.where(groups.codes < 0, size - 1, groups.codes).astype(np.int64)
    return np.bincount(place * 3 + decision, minlength=3 * size).reshape(size, 3)


def counted(column: pa.ChunkedArray) -> dict[str | None, int]:
    """How often each value occurs."""
    rows = pc.value_counts(column.unify_dictionaries()).to_pylist()
    return {row["values"]: row["counts"] for row in rows}


@dataclass
class Run:
    """``info`` may say more than that of the result: which files were written. ``groups`` are the
    values of a column that was asked for. ``references``: whether to look for their texts, for
    which all of them may have to be read. ``grouped`` is by what shares are shown: the column asked
    for, else inputs, else files."""

    result: Result
    info: dict[str, Any]
    by: str | None = None
    groups: Coded | None = None
    references: bool = False
    counts: Counts = field(init=False)
    settings: dict[str, Any] = field(init=False)
    grouped: tuple[str, Coded] = field(init=False)

    def __post_init__(self) -> None:
        self.counts, self.settings = self.result.counts, self.info["settings"]
        if self.groups is not None:
            self.grouped = str(self.by), self.groups
            return
        columns = {name: coded(self.result.decisions[name]) for name in ("source", "file")}
        several = (name for name, found in columns.items() if len(np.unique(found.codes)) > 1)
        name = next(several, "source")
        self.grouped = name, columns[name]


USUAL_DATE = "date"
LONGEST_TITLE = 300  # characters
DATE = re.compile(r"\s*\d{4}-?\d\d-?\d\d([T ][\d:., TZ+-]{,30})?\s*")
# Readers say in many ways that a file or a column is no longer there.
FAULTS = (NeardupError, OSError, LookupError, ValueError, TypeError, pa.ArrowException)


@dataclass(frozen=True)
class Texts:
    """The texts of documents by id. ``fault`` says why there are none; ``words`` says what the run
    counted as the same word."""

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
    # What is as long as a text is no title, and what is no date is not shown: of documents that are
    # bare texts both would be the text.
    named = _values(run, {*ids, *dated}, None, TITLE)
    titles = {id: " ".join(value.split()) for id, value in named.items()}
    titles = {
        id: title
        for id, title in titles.items()
        if 0 < len(title) <= LONGEST_TITLE and title != texts.get(id)
    }
    dates = _values(run, dated, run.settings.get("date"), USUAL_DATE)
    dates = {id: date for id, date in dates.items() if DATE.fullmatch(date)}
    return Texts(texts, dates, titles, words=_words(run))


def _words(run: Run) -> Text | None:
    """The options by which the run counted words as the same; None if its method has no such
    options."""
    options = run.settings["parameters"].get("text")
    try:
        return Text(**options) if isinstance(options, dict) else None
    except (TypeError, SettingsError):  # of a method with options of its own
        return None


def _values(run: Run, ids: Several[str], named: str | None, usual: str) -> dict[str, str]:
    """No compressed file and no Parquet column is unpacked again for a guess."""
    sources = run.result.collection().sources
    if not named and any(source.codec or source.form == "parquet" for source in sources):
        return {}
    try:
        return values_of(run.result, ids, named or usual)
    except FAULTS:
        return {}


MOST_SOURCES = 20
KINDS = {
    "identical": "equal texts",
    "normalised": "equal words in equal order; case, spaces or punctuation differ",
    "layout": "the same text with different page numbers, notices or formatting",
    "excerpt": "one is a part of the other",
    "elaboration": "one has additional paragraphs",
    "insertion": "one has additional sentences or phrases inside paragraphs",
    "revision": "small edits: dates, numbers, a new version",
    "rewrite": "the same content in clearly different words",
    "other": "similar in none of these ways",
    (NO_KIND := "not classified"): "the kind was not determined",
}
ONE_SOURCE = (
    "All documents come from one input. Several inputs, or inputs with names (--source "
    "NAME=INPUT), are listed separately here; so are the values of a column:\n\n"
    "$ neardup report . --by COLUMN"
)


def by_source(run: Run) -> Html:
    word, groups = run.grouped
    if run.by is None and len(np.unique(groups.codes)) <= 1:
        return card("By source", prose(ONE_SOURCE), anchor="sources")
    decision = decision_codes(run.result.decisions)
    found, same = count_by(groups, decision), _same(run, groups, decision)
    told = Html("") if same is None else prose(_across(run, same, word))
    table = _table(word, groups, found, same)
    return card(f"By {shortened(word)}", told, table_html(table), anchor="sources")


def _table(word: str, groups: Coded, found: Array, same: Array | None) -> Table:
    """The groups with the most duplicates come first."""
    order = np.lexsort((np.arange(len(found)), -found.sum(axis=1), -found[:, DUPLICATE]))
    order = order[found[order].sum(axis=1) > 0]
    names = [*map(name, groups.names), html("no value")]
    lines = _lines(names, order, found, same)
    most = max(line.aside / max(line.every, 1) for line in lines)
    rows = [line.cells(most) for line in lines]
    header = [word, "documents", "kept", "duplicates", "of the same", "rejected", "share", ""]
    if same is None:
        rows, header = [row[:4] + row[5:] for row in rows], header[:4] + header[5:]
    return Table(header, rows, marked=[len(rows) - 1])


def _across(run: Run, same: Array, word: str) -> str:
    inside, every = int(same.sum()), run.counts.duplicates
    return (
        f"{inside:,} of {many(every, 'duplicate')} match a kept document of the same {word}, "
        f"{every - inside:,} one of a different {word}."
    )


@dataclass(frozen=True)
class _Line:
    label: Html
    found: Array
    same: int | None

    @property
    def every(self) -> int:
        return int(self.found.sum())

    @property
    def aside(self) -> int:
        return int(self.found[DUPLICATE])

    def cells(self, most: float) -> tuple[Cell, ...]:
        """The longest bar is that of the largest share."""
        share = self.aside / max(self.every, 1)
        counts = int(self.found[KEPT]), self.aside, self.same, int(self.found[REJECTED])
        return (self.label, self.every, *counts, Share(self.aside, self.every), bar(share, most))


def _lines(names: list[Html], order: Array, found: Array, same: Array | None) -> list[_Line]:
    """The first, the others together, and all."""

    def together(label: str, some: Array) -> _Line:
        inside = None if same is None else int(same[some].sum())
        return _Line(Html(label), found[some].sum(axis=0), inside)

    most = MOST_SOURCES if len(order) > MOST_SOURCES + 1 else len(order)
    lines = [replace(together("", order[i : i + 1]), label=names[order[i]]) for i in range(most)]
    if most < len(order):
        lines.append(together(f"{len(order) - most:,} others", order[most:]))
    return [*lines, together("all", order)]


def _same(run: Run, groups: Coded, decision: Array) -> Array | None:
    """How many duplicates of each group match a kept document of the same group. By the rule a
    cluster has one kept document; chains have several, and references are no input."""
    if run.settings.get("clusters") != "rule" or run.info.get("against"):
        return None
    cluster = np.asarray(pc.fill_null(run.result.decisions["cluster"], -1), dtype=np.int64)
    code = np.where(groups.codes < 0, len(groups.names), groups.codes)
    home = np.full(int(cluster.max(initial=-1)) + 1, -1)
    kept = (decision == KEPT) & (cluster >= 0)
    home[cluster[kept]] = code[kept]
    aside = np.flatnonzero(decision == DUPLICATE)
    inside = aside[home[cluster[aside]] == code[aside]]
    return np.bincount(code[inside], minlength=len(groups.names) + 1)


def by_kind(run: Run) -> Html:
    """How the duplicates differ from the kept documents."""
    if not run.counts.duplicates:
        return card("By kind", prose("There are no duplicates."), anchor="kinds")
    found = counted(run.result.duplicates["kind"])
    by_name = {kind or NO_KIND: count for kind, count in found.items()}
    whole = run.counts.duplicates
    kinds = [*schema.KINDS, *sorted(by_name.keys() - {*schema.KINDS, NO_KIND}), NO_KIND]
    rows = [
        (kind, count, Share(count, whole), bar(count, whole), KINDS.get(kind, ""))
        for kind in kinds
        if (count := by_name.get(kind))
    ]
    table = Table(("kind", "duplicates", "share", "", "meaning"), rows)
    return card("By kind", table_html(table), anchor="kinds")


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
