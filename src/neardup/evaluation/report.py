"""A report: one HTML file of sections, offline, without a script; charts are SVG inside it.

Everything that comes from documents, labels or settings is escaped. Without the extra `plots` the
tables are there and the report says what is missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from neardup.documents.streams import whole_file
from neardup.errors import MissingExtraError
from neardup.outputs.html.page import card, page, prose, write_page
from neardup.outputs.html.safe import html
from neardup.outputs.html.table import Table, table_html

DATA, REPORT = "evaluation.json", "report.html"


@dataclass(frozen=True)
class Section:
    """``text`` is plain, paragraphs parted by blank lines; one that begins with "$ " is a command
    to paste, one that begins with WARNING stands out. ``chart`` makes an altair chart, and is
    called only where it is drawn."""

    title: str
    text: str = ""
    table: Table | None = None
    chart: Callable[[], Any] | None = None


def write_report(path: Path, title: str, sections: Sequence[Section], lead: str = "") -> None:
    write_page(path, html_page(title, sections, lead))


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
    body = [_section(section, missing) for section in sections]
    told = f'<p class="warning">{html(missing[0])}</p>' if missing else ""
    return page(title, [f"<h1>{html(title)}</h1>{prose(lead, 'lead')}{told}", *body])


def _section(section: Section, missing: list[str]) -> str:
    table = table_html(section.table) if section.table else ""
    return card(section.title, prose(section.text), _chart(section, missing), table)


def _chart(section: Section, missing: list[str]) -> str:
    if section.chart is None:
        return ""
    try:
        drawn = svg(section.chart())
    except MissingExtraError as error:
        missing.append(f"{error.message} {error.hint}")
        return ""
    return f'<figure role="img" aria-label="{html(section.title)}">{drawn}</figure>'


def svg(chart: Any) -> str:
    """The chart as an SVG element: no script, no network, texts escaped by the renderer."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(chart.to_json(), format_locale=None)
    return drawn
