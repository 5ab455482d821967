"""A ranked list in groups: each representative, and the others indented under it.

Every row of the list is in exactly one group. A group stands where its best ranked member stood;
in it the representative comes first and the others follow by rank. Rows that could not be compared
stand alone, with the reason among their flags.

The list can be written as JSON Lines, CSV, a workbook or Parquet, by the name of the file.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.kinds import Kinds
from neardup.decisions.order import Undated
from neardup.documents.lists import json_line
from neardup.errors import UsageError
from neardup.files import whole_file
from neardup.methods.base import FLAGS
from neardup.runs.annotated_sources import as_dicts, reordered, with_columns
from neardup.runs.export import FORMS as EXPORTS
from neardup.runs.export import write_tables
from neardup.schema import Array
from neardup.wording import many, score_text, shortened

CONTAINS = "contains"


@dataclass(frozen=True)
class Places:
    """The places of the ranking, best first: the row of each, the place of its representative, and
    the score and the kind of those that are under another."""

    row: npt.NDArray[np.int64]
    head: npt.NDArray[np.int64]
    score: npt.NDArray[np.float64]
    kind: Sequence[str | None]
    flags: Sequence[str]

    @classmethod
    def of(
        cls,
        order: Array,
        rows: Array,
        reasons: dict[int, str],
        kept_of: Array,
        score: Array,
        kind: Kinds,
        flags: Array,
    ) -> Places:
        """``kept_of`` and what follows are of the ``rows`` that were compared. A result that
        contains its representative has that among its flags."""
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        at, count = place[rows], len(order)
        head, scores = np.arange(count), np.full(count, np.nan)
        under = kept_of >= 0
        head[at[under]], scores[at[under]] = at[kept_of[under]], score[under]
        kinds: list[str | None] = [None] * count
        said = [reasons.get(row, "") for row in order.tolist()]
        names = {code: _names(code) for code in np.unique(flags).tolist()}
        columns = kind.columns()
        contains = pc.fill_null(pc.equal(columns["direction"].cast(pa.string()), "b_in_a"), False)
        of_rows = zip(
            *(at.tolist(), columns["kind"].to_pylist(), contains.to_pylist(), flags.tolist()),
            strict=True,
        )
        for i, one, more, code in of_rows:
            kinds[i] = one
            said[i] = ", ".join(filter(None, [names[code], CONTAINS if more else ""]))
        return cls(order, head, scores, kinds, said)

    @functools.cached_property
    def sequence(self) -> npt.NDArray[np.int64]:
        """All places as the list shows them."""
        places = np.arange(len(self.row))
        best = places.copy()
        np.minimum.at(best, self.head, places)
        return np.asarray(np.lexsort((places, self.head != places, best[self.head])))

    @property
    def indent(self) -> Array:
        under = self.head != np.arange(len(self.head))
        return np.asarray(under[self.sequence], np.int64)


def _names(code: int) -> str:
    return ", ".join(name for bit, name in FLAGS.items() if code & bit)


COLUMNS = ("group", "position", "indent", "copies", "score", "kind", "flags")
PREFIX = "neardup_"


class Listed(Protocol):
    """The list as it came."""

    @property
    def given(self) -> Any: ...

    @property
    def names(self) -> list[str]: ...

    def __len__(self) -> int: ...

    def ids(self, name: str | None) -> list[str]: ...

    def labels(self, name: str) -> list[str | None]: ...


def _printable(text: str) -> str:
    """The text on one line, without the control characters that a terminal would obey."""
    if not text.isprintable():
        text = "".join(sign if sign.isprintable() else " " for sign in text)
    return " ".join(text.split())


class Member(NamedTuple):
    """A result: its row in the input (from 0), its place in the ranking (from 1). ``score`` and
    ``kind`` say how it compares with the representative it stands under."""

    row: int
    position: int
    id: str
    score: float | None = None
    kind: str | None = None
    flags: str = ""


@dataclass(frozen=True)
class Group:
    """The representative, and the others by rank."""

    representative: Member
    others: tuple[Member, ...]

    def __len__(self) -> int:
        return 1 + len(self.others)

    def __iter__(self) -> Iterator[Member]:
        yield self.representative
        yield from self.others


class Grouped(Sequence[Group]):
    """The groups in their order; ``flat`` and ``collapsed`` are the list as it came in, with
    columns. ``collapse`` says which of the two ``to_list`` and ``str`` show. ``undated`` says how
    many dates could not be read, where dates choose the representatives."""

    def __init__(
        self,
        listed: Listed,
        places: Places,
        *,
        id: str | None = None,
        collapse: bool = False,
        undated: Undated | None = None,
    ) -> None:
        self._listed, self._places, self._id = listed, places, id
        self.collapse, self.undated = collapse, undated

    @functools.cached_property
    def _groups(self) -> list[Group]:
        found: list[list[Member]] = []
        for member, indent in zip(self.members, self._places.indent.tolist(), strict=True):
            if indent:
                found[-1].append(member)
            else:
                found.append([member])
        return [Group(first, tuple(others)) for first, *others in found]

    @functools.cached_property
    def members(self) -> list[Member]:
        """All results, as the list shows them."""
        places, ids = self._places, self._listed.ids(self._id)
        score = places.score.tolist()
        rows = places.row.tolist()
        return [
            Member(
                rows[i],
                i + 1,
                ids[rows[i]],
                None if np.isnan(score[i]) else score[i],
                places.kind[i],
                places.flags[i],
            )
            for i in places.sequence.tolist()
        ]

    def __len__(self) -> int:
        return len(self._groups)

    @overload
    def __getitem__(self, index: int) -> Group: ...

    @overload
    def __getitem__(self, index: slice) -> list[Group]: ...

    def __getitem__(self, index: int | slice) -> Group | list[Group]:
        return self._groups[index]

    @property
    def results(self) -> int:
        """How many results there are in all groups."""
        return len(self._listed)

    @functools.cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the added columns: where the list has one of them already, all begin with
        ``neardup_``."""
        prefix = ""
        while {prefix + name for name in COLUMNS} & {*self._listed.names}:
            prefix = prefix + PREFIX
        return tuple(prefix + name for name in COLUMNS)

    def flat(self) -> Any:
        """Every result, in the type that came in, with ``group``, ``position`` (in the ranking),
        ``indent`` (0 or 1), ``copies`` (how many stand under it), ``score``, ``kind``, ``flags``.
        A text becomes a dict."""
        return self._list(np.ones(self.results, np.bool_))

    def collapsed(self) -> Any:
        """The representatives alone; ``copies`` says how many others each stands for."""
        return self._list(self._places.indent == 0)

    def _list(self, shown: Array) -> Any:
        rows = self._places.row[self._places.sequence][shown]
        added = self._added().filter(pa.array(shown))
        given = self._listed.given
        if not isinstance(given, list | tuple):
            return with_columns(reordered(given, rows), added)
        items = [given[row] for row in rows.tolist()]
        return [
            {**(item if isinstance(item, dict) else {"text": item}), **more}
            for item, more in zip(items, added.to_pylist(), strict=True)
        ]

    def _added(self) -> pa.Table:
        places, sequence = self._places, self._places.sequence
        indent = places.indent
        group = np.cumsum(indent == 0)
        copies = np.where(indent == 0, np.bincount(group)[group] - 1, 0) if len(group) else group
        score = places.score[sequence]
        kinds = [places.kind[i] for i in sequence.tolist()]
        flags = [places.flags[i] or None for i in sequence.tolist()]
        columns = [
            pa.array(group, pa.int64()),
            pa.array(sequence + 1, pa.int64()),
            pa.array(indent, pa.int64()),
            pa.array(copies, pa.int64()),
            pa.array(score, mask=np.isnan(score)),
            pa.array(kinds, pa.string()),
            pa.array(flags, pa.string()),
        ]
        return pa.Table.from_arrays(columns, names=list(self.columns))

    def to_list(self) -> list[dict[str, Any]]:
        """The results as dicts: all of them, or the representatives where ``collapse`` says so."""
        made = self.collapsed() if self.collapse else self.flat()
        return made if isinstance(made, list) else as_dicts(made)

    def lines(self, title: str = "title") -> Iterator[str]:
        """The results for people: rank, id, title; under each representative the others."""
        titles = self._listed.labels(title)
        width = len(str(self.results))
        for group in self:
            for member in group:
                if member is group.representative or not self.collapse:
                    yield self._line(group, member, titles[member.row], width)

    def _line(self, group: Group, member: Member, title: str | None, width: int) -> str:
        first = member is group.representative
        said = [] if member.score is None else [score_text(member.score, member.kind)]
        said += [word for word in (member.kind, member.flags) if word]
        if first and self.collapse and group.others:
            said.append(f"+{len(group.others)}")
        label = "  ".join(_printable(shortened(word)) for word in (member.id, title) if word)
        indent = "" if first else " " * (width + 2)
        return f"{indent}{member.position:>{width}}  {label}" + "".join(f"  {one}" for one in said)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def sentence(self) -> str:
        copies = self.results - len(self)
        groups = f"{many(self.results, 'result')} = {many(len(self), 'group')}"
        return f"{groups} + {copies:,} under {'it' if len(self) == 1 else 'them'}"

    def _repr_html_(self) -> str:
        from neardup.report.notebook import grouped_html

        return grouped_html(self)

    def __repr__(self) -> str:
        return f"<Grouped: {self.sentence()}>"


FORMS = (".jsonl", *(f".{form}" for form in EXPORTS))


def check_target(out: Path, results: str, *, overwrite: bool) -> None:
    """Refuses before any work what could not be written, or would be written over."""
    if out.suffix not in FORMS:
        raise UsageError(
            f"{out} has no format that a list is written in; expected {', '.join(FORMS)}.",
            hint="name another file with -o.",
        )
    if out.exists() and Path(results).exists() and out.samefile(results):
        raise UsageError(f"{out} is the list itself.", hint="name another file with -o.")
    if out.exists() and not overwrite:
        raise UsageError(
            f"{out} is already there.", hint="name another file with -o, or give --overwrite."
        )
    if not out.parent.is_dir():
        raise UsageError(f"{out.parent} is no folder.", hint="make it, or name another file.")


def json_lines(made: Grouped) -> bytes:
    return b"".join(json_line(row) for row in made.to_list())


def write_list(made: Grouped, out: Path) -> None:
    """All results, or the representatives where ``collapse`` says so."""
    with whole_file(out) as part:
        if out.suffix == ".jsonl":
            part.write_bytes(json_lines(made))
        else:
            write_tables({"results": _table(made)}, part, out)


def _table(made: Grouped) -> pa.Table:
    found = made.collapsed() if made.collapse else made.flat()
    return pa.Table.from_pylist(found) if isinstance(found, list) else pa.table(found)
