"""A report: one HTML file of sections, offline, without a script; charts are SVG inside it.

Everything that comes from documents, labels or settings is escaped. Without the extra `plots` the
tables are there and the report says what is missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from neardup.documents.streams import whole_file
from neardup.errors import MissingExtraError
from neardup.evaluation.style import STYLE


class Ranged(NamedTuple):
    """A value with its interval."""

    value: float | None
    interval: tuple[float, float] | None = None


Cell = str | int | float | Ranged | None
NONE = "–"
WARNING = "WARNING: "  # what a paragraph begins with that must not be overlooked
DATA, REPORT = "evaluation.json", "report.html"


@dataclass(frozen=True)
class Table:
    """Cells are shown by :func:`shown`; ``marked`` rows stand out."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    marked: Sequence[int] = ()


@dataclass(frozen=True)
class Section:
    """``text`` is plain, paragraphs parted by blank lines; one that begins with "$ " is a command
    to paste, one that begins with WARNING stands out. ``chart`` makes an altair chart, and is
    called only where it is drawn."""

    title: str
    text: str = ""
    table: Table | None = None
    chart: Callable[[], Any] | None = None


def shown(cell: Cell) -> str:
    """Shares with three decimals, whole numbers with commas, – for what is undefined."""
    if cell is None:
        return NONE
    if isinstance(cell, Ranged):
        return " ".join(filter(None, _ranged(cell)))
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def _ranged(cell: Ranged) -> tuple[str, str]:
    if cell.value is None or cell.interval is None:
        return shown(cell.value), ""
    low, high = cell.interval
    return shown(cell.value), f"({low:.3f}–{high:.3f})"


def write_report(path: Path, title: str, sections: Sequence[Section], lead: str = "") -> None:
    """The file appears only when it is whole."""
    page = html_page(title, sections, lead)
    with whole_file(path) as part:
        part.write_text(page, "utf-8")


class Reported(Protocol):
    """What an evaluation of any sort gives."""

    def data(self) -> dict[str, Any]: ...

    def sections(self) -> list[Section]: ...


def save_report(found: Reported, folder: Path, title: str = "Evaluation") -> None:
    """``report.html`` and, when that is whole, ``evaluation.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    lead = getattr(found, "lead", str)()
    write_report(folder / REPORT, title, found.sections(), lead)
    with whole_file(folder / DATA) as part:
        part.write_text(json.dumps(found.data(), indent=2, ensure_ascii=False) + "\n", "utf-8")


def html_page(title: str, sections: Sequence[Section], lead: str = "") -> str:
    missing: list[str] = []
    body = "\n".join(_section(section, missing) for section in sections)
    told = f'<p class="warning">{escape(missing[0])}</p>' if missing else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>"
        f"<h1>{escape(title)}</h1>{_paragraphs(lead, 'lead')}{told}\n{body}\n"
        "</main></body></html>\n"
    )


def _section(section: Section, missing: list[str]) -> str:
    return (
        f"<section><h2>{escape(section.title)}</h2>{_paragraphs(section.text)}"
        f"{_chart(section, missing)}{_table(section.table) if section.table else ''}</section>"
    )


def paragraphs(text: str) -> list[str]:
    return [part for part in re.split(r"\n\s*\n", text.strip()) if part]


def _paragraphs(text: str, css: str = "") -> str:
    made = []
    for paragraph in paragraphs(text):
        if paragraph.startswith("$ "):
            made.append(f"<pre>{escape(paragraph[2:])}</pre>")
        else:
            kind = "warning" if paragraph.startswith(WARNING) else css
            made.append(f"<p{f' class={kind}' if kind else ''}>{escape(paragraph)}</p>")
    return "".join(made)


def _table(table: Table) -> str:
    numeric = [
        bool(table.rows) and not any(isinstance(row[i], str) for row in table.rows)
        for i in range(len(table.header))
    ]
    head = "".join(
        _cell("th", escape(name), right) for name, right in zip(table.header, numeric, strict=True)
    )
    body = "".join(
        f"<tr{' class=marked' if number in table.marked else ''}>"
        + "".join(_cell("td", _html(c), right) for c, right in zip(row, numeric, strict=True))
        + "</tr>"
        for number, row in enumerate(table.rows)
    )
    head, body = f"<thead><tr>{head}</tr></thead>", f"<tbody>{body}</tbody>"
    return f'<div class="scroll"><table>{head}{body}</table></div>'


def _cell(tag: str, content: str, right: bool) -> str:
    return f"<{tag}{' class=n' if right else ''}>{content}</{tag}>"


def _html(cell: Cell) -> str:
    if not isinstance(cell, Ranged):
        return escape(shown(cell))
    value, interval = _ranged(cell)
    return f"{value} <small>{interval[1:-1]}</small>" if interval else value


def _chart(section: Section, missing: list[str]) -> str:
    if section.chart is None:
        return ""
    try:
        drawn = svg(section.chart())
    except MissingExtraError as error:
        missing.append(f"{error.message} {error.hint}")
        return ""
    return f'<figure role="img" aria-label="{escape(section.title)}">{drawn}</figure>'


def svg(chart: Any) -> str:
    """The chart as an SVG element: no script, no network, texts escaped by the renderer."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(chart.to_json(), format_locale=None)
    return drawn
