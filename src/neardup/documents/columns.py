"""The columns that a reader is asked for, and the batches of documents that it returns.

A *position* counts all documents of a collection over all its files, from 0: every row of a table
and every line that is not blank, including rejected ones. A *row* counts lines (blank ones too) or
table rows in their file, from 1.

Text and id columns of every string-like Arrow type, and lists of Python objects, become valid
large_string columns. Null stays null; a value that cannot be used becomes null and has a reason.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.classes import dataclass
from neardup.errors import ColumnError, UnreadableError, all_problems
from neardup.wording import LONGEST_NAME, shortened, where

Mask = npt.NDArray[np.bool_]
DEFAULT_ID = "id"
OURS = ("row", "id", "text")
TEXT_COLUMNS = (
    *("content", "body", "article", "raw_content", "document", "passage", "abstract"),
    *("message", "description", "sentence", "fulltext", "full_text", "html"),
)


@dataclass(frozen=True)
class Columns:
    """Which columns to read. ``id=None``: the column ``id`` where there is one, else file:row.

    ``extra`` names columns that policies need (dates, groups). From tables they come in their own
    type; from JSON as strings: the text of a string, the JSON text of anything else. Those that
    are ``optional`` are in a batch only where a file has them.
    """

    text: str = "text"
    id: str | None = None
    extra: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()

    @property
    def id_name(self) -> str:
        return self.id if self.id is not None else DEFAULT_ID

    @property
    def delivered(self) -> tuple[str, ...]:
        """The extra columns of a batch. A column that is present as ``id`` or ``text`` is not
        repeated; one that would hide another column of a batch is refused."""
        present = {
            name for name, ours in ((self.id_name, "id"), (self.text, "text")) if name == ours
        }
        names = tuple(dict.fromkeys(name for name in self.extra if name not in present))
        for name in names:
            if name in OURS:
                raise ColumnError(
                    f"Column {name!r} cannot be read as an extra column: neardup's own column of "
                    "that name would hide it.",
                    hint=f"rename the column {name!r} in the input.",
                )
        return names

    @property
    def required(self) -> tuple[str, ...]:
        explicit = () if self.id is None else (self.id,)
        extra = (name for name in self.delivered if name not in self.optional)
        return tuple(dict.fromkeys((self.text, *explicit, *extra)))

    def found(self, names: Container[str]) -> tuple[str, ...]:
        """The extra columns that exist in a file with the columns ``names``."""
        return tuple(n for n in self.delivered if n in names or n not in self.optional)


def mask_for(keep: Mask, rows: int) -> Mask:
    """The next ``rows`` entries; documents after the end of the mask (``limit``) are not kept."""
    part = keep[:rows]
    return part if len(part) == rows else np.pad(part, (0, rows - len(part)))


def kept_rows(rows: pa.Table, keep: Mask) -> pa.Table:
    """The kept rows; for types that Arrow cannot filter (string views), as slices."""
    try:
        return rows.filter(pa.array(keep))
    except pa.ArrowNotImplementedError:
        edges = np.flatnonzero(np.diff(keep.astype(np.int8), prepend=0, append=0))
        runs = [rows.slice(i, j - i) for i, j in edges.reshape(-1, 2).tolist()]
        return pa.concat_tables(runs) if runs else rows.slice(0, 0)


@dataclass(frozen=True)
class Rejected:
    """A document that cannot be used, its place, and a sentence with the reason. ``path`` is that
    of a document that is a file by itself, where ``file`` may be its folder."""

    file: str
    row: int
    reason: str
    id: str | None
    path: str | None = None

    @property
    def where(self) -> str:
        return where(self.file, self.row, self.path)


@dataclass(frozen=True)
class DocumentBatch:
    """``records`` has the columns of ``schema.documents()`` and the extra ones, in row order.

    ``rows`` is the number of lines or rows that were read, including blank lines; ``len(batch)`` is
    the number of documents among them, which positions count.
    """

    file: str
    records: pa.RecordBatch
    rejected: list[Rejected]
    rows: int
    size: int = 0  # bytes read of a plain file, for progress

    def __len__(self) -> int:
        return int(self.records.num_rows) + len(self.rejected)

    def positions(self) -> npt.NDArray[np.int64]:
        """The positions of the records, counted from the first document of the batch."""
        rows: npt.NDArray[np.int64] = self.records.column("row").to_numpy()
        lost = np.array([rejected.row for rejected in self.rejected], dtype=np.int64)
        before = np.searchsorted(lost, rows).astype(np.int64, copy=False)
        return np.arange(len(rows), dtype=np.int64) + before


class Chunk(Protocol):
    """A bounded piece of a source, not yet parsed. ``read`` is thread-safe."""

    def read(self) -> DocumentBatch: ...


@dataclass(frozen=True)
class LostChunk:
    """A part of a file that cannot be read: one rejected document, or as many as are known to be in
    it."""

    rejected: Rejected
    extra: dict[str, pa.DataType]
    rows: int = 1

    def read(self) -> DocumentBatch:
        records = pa.RecordBatch.from_pylist([], schema=schema.documents(self.extra))
        first = self.rejected.row
        lost = [replace(self.rejected, row=first + i) for i in range(self.rows)]
        return DocumentBatch(self.rejected.file, records, lost, self.rows)


class LostRows(NamedTuple):
    """Rows of a file with a schema that cannot be read, although later ones may be readable."""

    num_rows: int
    reason: str

    def check(self, needed: Mask, path: object) -> None:
        """Raises an error if a row that is to be written is among them, because it was readable
        before."""
        if needed.any():
            raise UnreadableError(
                f"Cannot read {path}: {self.reason}, and a kept document is there.",
                hint="check the file; a column that was not compared may be broken.",
            )


_FEW = 32


def generated_ids(file: str, rows: pa.Array) -> pa.Array:

    if len(rows) < _FEW:  # a kernel takes longer to call than to run
        return pa.array([f"{file}:{row}" for row in rows.to_pylist()], pa.large_string())
    return pc.binary_join_element_wise(
        pa.scalar(file, pa.large_string()),
        rows.cast(pa.large_string()),
        pa.scalar(":", pa.large_string()),
    )


def refuse_missing(
    missing: Sequence[str], names: Sequence[str] | Mapping[str, Any], file: str
) -> None:
    """Raises one error for all columns that a file lacks, if it lacks any. ``names`` is a document
    where names may also be paths into it."""
    if missing:
        raise all_problems([unknown_column(name, names, file) for name in missing])


def refuse_others(columns: Columns, names: Sequence[str], file: str) -> None:
    """Refuses other columns than ``names``, which are those of every file of the format."""
    known = [name for name in names if name != "text"]
    for name in (columns.id_name, *columns.found(known)):
        if name not in known:
            raise unknown_column(name, names, file)
    if columns.text != "text":
        raise unknown_column(columns.text, names, file)


def unknown_column(
    name: str, names: Sequence[str] | Mapping[str, Any], file: str, option: str = ""
) -> ColumnError:
    """An error that lists the existing columns, with the nearest name as the hint; ``option`` is
    how to name one, unless it is that of the text."""
    import difflib

    nested = _paths(names) if isinstance(names, Mapping) else []
    names = [str(column) for column in names]
    listed = ", ".join(repr(shortened(column)) for column in names[:20])
    listed += ", …" if len(names) > 20 else ""
    lower = {column.lower(): column for column in reversed(names)}
    near = difflib.get_close_matches(name.lower(), list(lower), n=1, cutoff=0.6)
    usual = "name one of the columns above"
    usual += f", or of {', '.join(map(repr, nested[:20]))}" if nested else ""
    option = option or ("--text (in Python text=)" if name == "text" else "")
    usual += f" with {option}." if option else "."
    hint = f"did you mean {lower[near[0]]!r}?" if near else usual
    if inside := [path for path in nested if path.lower().endswith(f".{name.lower()}")]:
        near, hint = [], f"did you mean {inside[0]!r}?"
    if name == "text" and (likely := _text_column(lower, near, nested)):
        hint = f"did you mean {likely!r}? Then give --text {likely} (in Python text={likely!r})."
    if any(len(column) > LONGEST_NAME for column in names):
        hint = "does its first line hold a document? It is read as the header; put one before it."
    if not names:
        return ColumnError(f"Column {name!r} is not in {file}: it has no columns.")
    return ColumnError(f"Column {name!r} is not in {file}; it has {listed}.", hint=hint)


def _paths(item: Mapping[str, Any], above: str = "") -> list[str]:
    """What is inside the objects of a document, as names with dots; the outermost first."""
    objects = {f"{above}{key}.": value for key, value in item.items() if isinstance(value, Mapping)}
    here = [path + str(key) for path, value in objects.items() for key in value]
    return here + [path for prefix, value in objects.items() for path in _paths(value, prefix)]


def _text_column(
    names: Mapping[str, str], near: Sequence[str], nested: Sequence[str]
) -> str | None:
    """The column that probably has the texts: a similar name, or a common one, at the top or
    inside an object."""
    known = [names[name] for name in (*near, *TEXT_COLUMNS) if name in names]
    usual = [
        path for last in ("text", *TEXT_COLUMNS) for path in nested if path.endswith(f".{last}")
    ]
    column = next(iter((*known, *usual)), None)
    return column if column and column.replace(".", "_").isidentifier() else None
