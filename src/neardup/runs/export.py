"""A run as one table for colleagues: CSV, an Excel workbook or Parquet, by the name of the file.
BibTeX and RIS are lists of kept documents (``reference_list.py``).

There is one row for each document, in input order: where it stands, what was decided, and for a
kept document the number of ``copies`` that it stands for, itself among them. Copies are the cluster
sizes by which a training set is weighed again; over all rows they sum to the documents that were
accepted, without the duplicates of references.

No cell can become a formula. In CSV, texts that a spreadsheet would execute begin with an
apostrophe. A workbook states that a cell holds text, so its texts stay as they are.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from neardup import schema
from neardup.documents.text_columns import json_like
from neardup.errors import InputError, NeardupError, UsageError
from neardup.files import whole_file

if TYPE_CHECKING:
    from neardup.runs.result import Result

FORMS = ("csv", "xlsx", "parquet")
ENDINGS = {**{form: f".{form}" for form in FORMS}, "bibtex": ".bib", "ris": ".ris"}
REFERENCES = (ENDINGS["bibtex"], ENDINGS["ris"])
TITLE = "title"
FAMILY = ("family", "attachment")  # of mail: a duplicate may be in another family than its original
_DECIDED = ("decision", "reason", "kept_id", "score", "kind", "cluster")


def write_export(result: Result, path: Path, *, title: str | None = None) -> Path:
    """Writes the table. ``title`` is a column of the documents that people know them by; without
    it, that is a column ``title`` if there is one."""
    check_form(path)
    _spare_files(result, path)
    if (form := path.suffix.lower()) in REFERENCES:
        from neardup.runs.reference_list import write_references

        with whole_file(path) as part:
            write_references(result, part, form, title)
        return path
    tables = {"documents": export_table(result, title)}
    if path.suffix.lower() == ".xlsx":
        tables |= {"clusters": result.clusters.drop_columns(["members"])}
    with whole_file(path) as part:
        write_tables(tables, part, path)
    return path


def check_form(path: Path) -> None:
    if path.suffix.lower() not in ENDINGS.values() or path.is_dir():
        raise UsageError(
            f"{path} has no format that a table is exported in; expected "
            f"{', '.join(ENDINGS.values())}.",
            hint="name another file.",
        )


def _spare_files(result: Result, path: Path) -> None:
    """Refuses a table that would replace an input or a file of a run."""
    from neardup.runs.run_folder import spare_inputs
    from neardup.runs.run_info import RUN

    documents = result.collection_if_there
    sources = documents.sources if documents else []
    spare_inputs(path, [getattr(source, "path", None) for source in sources])
    if (path.parent / RUN).exists():
        raise UsageError(
            f"{path} would lie in the folder of a run, whose files have checksums.",
            hint="name a file elsewhere, or run again with --export.",
        )


def write_tables(tables: Mapping[str, pa.Table], part: Path, path: Path) -> None:
    """Writes to ``part`` in the format that the name of ``path`` tells; CSV and Parquet take the
    first table only."""
    first = next(iter(tables.values()))
    if path.suffix.lower() == ".xlsx":
        _write_workbook({name: _cells(table) for name, table in tables.items()}, part, path)
    elif path.suffix.lower() == ".parquet":
        pq.write_table(first, part)
    else:
        _write_csv(_cells(first), part, path)


def _cells(table: pa.Table) -> pa.Table:
    """The table for formats of plain cells: the members of an object become columns such as
    ``_source.title``, and a list becomes its JSON text."""
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    for i, field in enumerate(table.schema):
        if pa.types.is_nested(field.type):
            texts = pa.array(map(json_like, table[i].to_pylist()), pa.large_string())
            table = table.set_column(i, field.name, texts)
    return table


def export_table(result: Result, title: str | None = None) -> pa.Table:
    decisions = result.decisions
    family = FAMILY if _has_mail(result) else ()
    found = stated(result, title, ("url", *family))
    known = {"path": pa.array(_paths(result), pa.large_string()), **found}
    columns = {
        "id": decisions["id"],
        "path": known["path"],
        "row": decisions["row"],
        "title": known["title"],
        "url": known["url"],
        "source": decisions["source"],
        **{name: known[name] for name in family},
        **{name: decisions[name] for name in _DECIDED},
        "copies": _copies(decisions),
        **_of_kept(decisions, known | {"source": decisions["source"]}),
    }
    return pa.table({name: _plain(column) for name, column in columns.items()})


def _of_kept(decisions: pa.Table, known: Mapping[str, Any]) -> dict[str, pa.Array]:
    """The data by which people recognise the document that was kept instead; null for kept ones,
    and for duplicates of references, which are not among the documents."""
    place = pc.index_in(
        decisions["kept_id"].combine_chunks(), _kept_ids(decisions), skip_nulls=True
    )
    names = ("path", "title", "url", "source", *(known.keys() & FAMILY[:1]))
    return {f"kept_{name}": known[name].take(place) for name in names}


def _has_mail(result: Result) -> bool:
    documents = result.collection_if_there
    return any(source.has_families for source in (documents.sources if documents else ()))


def _kept_ids(decisions: pa.Table) -> pa.Array:
    kept = pc.equal(decisions["decision"], schema.KEPT).combine_chunks()
    return pc.if_else(kept, decisions["id"].combine_chunks(), pa.scalar(None, pa.large_string()))


def _plain(column: Any) -> Any:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _paths(result: Result) -> list[str]:
    """The file of each document: the text file itself, or the file that holds it as a row."""
    documents = result.collection_if_there
    sources = documents.sources if documents else []
    single = {source.file for source in sources if source.has_paths}
    paths: list[str] = result.decisions["file"].to_pylist()
    for i in [i for i, file in enumerate(paths) if file in single]:
        row = result.decisions.slice(i, 1).to_pylist()[0]
        paths[i] = result.path_of(row) or paths[i]
    return paths


def stated(
    result: Result, title: str | None = None, names: Sequence[str] = ("url",)
) -> dict[str, pa.Array]:
    """What documents state of themselves: ``title`` and other columns, by name. A column that was
    named as the title has to be there; all others may be missing, like the documents."""
    from neardup.report.run_view import Coded, columns_values

    def strings(values: Coded) -> pa.Array:
        codes = pa.array(values.codes, mask=values.codes < 0)
        return pa.array(values.names, pa.large_string()).take(codes)

    wanted = (title or TITLE, *names)
    try:
        values = columns_values(result, wanted, wanted if title is None else names)
    except (NeardupError, OSError):
        if title:
            raise
        nothing = pa.nulls(len(result.decisions), pa.large_string())
        return dict.fromkeys((TITLE, *names), nothing)
    found = {name: strings(coded) for name, coded in values.items()}
    return {TITLE: found[wanted[0]], **{name: found[name] for name in names}}


def _copies(decisions: pa.Table) -> pa.Array:
    """For each kept document, the number of documents that it stands for; null for all others."""
    ids = _kept_ids(decisions)
    place = pc.index_in(decisions["kept_id"].combine_chunks(), ids, skip_nulls=True)
    own = np.asarray(place.drop_null())
    counts = 1 + np.bincount(own, minlength=len(decisions))
    return pa.array(counts, pa.int64(), mask=np.asarray(ids.is_null()))


_FORMULA = r"^[=+\-@\t\r]"


def _without_formulas(table: pa.Table) -> pa.Table:
    """Texts that a spreadsheet would execute begin with an apostrophe, which it does not show."""
    for i, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            acts = pc.match_substring_regex(table[i], _FORMULA)
            quoted = pc.binary_join_element_wise("'", table[i].cast(pa.string()), "")
            table = table.set_column(i, field, pc.if_else(acts, quoted.cast(field.type), table[i]))
    return table


def _write_csv(table: pa.Table, part: Path, path: Path) -> None:
    try:
        pyarrow.csv.write_csv(_without_formulas(table), part)
    except pa.ArrowException as error:
        raise InputError(
            f"The list cannot be written as {path.name}: {error}.", hint="write .jsonl or .parquet."
        ) from error


# A workbook by ECMA-376: a ZIP archive of XML parts. Texts stand in their cells (inlineStr).
MOST_ROWS, MOST_CHARACTERS = 1_048_576, 32_767
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
# Characters that XML cannot hold are written _xHHHH_, and so is a text that looks like that.
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


def _write_workbook(tables: Mapping[str, pa.Table], part: Path, path: Path) -> None:
    if any(len(table) >= MOST_ROWS for table in tables.values()):
        raise UsageError(
            f"{path.name} would have more than {MOST_ROWS:,} rows, the most that a workbook holds.",
            hint="write .csv or .parquet.",
        )
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _frame(list(tables)).items():
            archive.writestr(_member(name), _HEAD + content, zipfile.ZIP_DEFLATED)
        for n, table in enumerate(tables.values(), 1):
            with archive.open(_member(f"xl/worksheets/sheet{n}.xml"), "w") as sheet:
                _write_sheet(table, sheet)


def _member(name: str) -> zipfile.ZipInfo:
    """A part without the time of writing, so that equal tables give equal files."""
    member = zipfile.ZipInfo(name)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def _frame(names: Sequence[str]) -> dict[str, str]:
    """All parts but the sheets: what they are, and which sheets the workbook has."""
    numbered = list(enumerate(names, 1))
    sheets = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in numbered)
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{_TYPE}.worksheet+xml"/>'
        for n, _ in numbered
    )
    return {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f"{types}</Types>",
        "_rels/.rels": _relations({"r1": ("officeDocument", "xl/workbook.xml")}),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{sheets}'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": _relations(
            {f"r{n}": ("worksheet", f"worksheets/sheet{n}.xml") for n, _ in numbered}
        ),
    }


def _relations(targets: Mapping[str, tuple[str, str]]) -> str:
    inside = "".join(
        f'<Relationship Id="{id}" Type="{_OFFICE}/{type_}" Target="{target}"/>'
        for id, (type_, target) in targets.items()
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{inside}</Relationships>'


def _write_sheet(table: pa.Table, sheet: IO[bytes]) -> None:
    sheet.write(f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
    sheet.write(_row(table.column_names).encode())
    for row in _rows(table):
        sheet.write(_row(row).encode())
    sheet.write(b"</sheetData></worksheet>")


def _rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    for batch in table.to_batches(max_chunksize=10_000):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _row(values: Sequence[Any]) -> str:
    return f"<row>{''.join(map(_cell, values))}</row>"


def _cell(value: Any) -> str:
    """Cells follow one another, so an empty one stands for a missing value. Excel has no number
    that is infinite or none: such a value is a text."""
    if value is None:
        return "<c/>"
    if isinstance(value, int | float) and np.isfinite(value):
        return f"<c><v>{value + 0}</v></c>"
    text = str(value)
    text = text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
    text = _UNWRITABLE.sub(lambda found: f"_x{ord(found[0]):04X}_", text)
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>'
