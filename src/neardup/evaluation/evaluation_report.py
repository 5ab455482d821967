"""The report of an evaluation, an experiment or a model: sections of text, figure and table.

The sections are plain data. A terminal prints them (``cli/evaluate.py``), and here they become
one HTML file that works offline and has no script; what comes from documents, labels or settings is
escaped in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from neardup.files import make_folder, whole_file, write_text
from neardup.report.html_page import Html, Table, card, html, page, prose, table_html

DATA, REPORT = "evaluation.json", "report.html"


@dataclass(frozen=True)
class Section:
    """``text`` is plain, with blank lines between paragraphs; one that begins with "$ " is a
    command to paste, one that begins with WARNING is highlighted. ``figure`` draws the figure of
    the section, and is called only for a page."""

    title: str
    text: str = ""
    table: Table | None = None
    figure: Callable[[], Html] | None = None


def write_report(path: Path, title: str, sections: Sequence[Section], lead: str = "") -> None:
    write_text(path, html_page(title, sections, lead))


class Reported(Protocol):
    """What an evaluation of any sort gives."""

    def data(self) -> dict[str, Any]: ...

    def sections(self) -> list[Section]: ...


def save_report(found: Reported, folder: Path, title: str = "Evaluation") -> None:
    """``report.html`` and, when that is whole, ``evaluation.json``."""
    make_folder(folder)
    lead = getattr(found, "lead", str)()
    write_report(folder / REPORT, title, found.sections(), lead)
    with whole_file(folder / DATA) as part:
        part.write_text(json.dumps(found.data(), indent=2, ensure_ascii=False) + "\n", "utf-8")


def html_page(title: str, sections: Sequence[Section], lead: str = "") -> str:
    head = f"<h1>{html(title)}</h1>{prose(lead, 'lead')}"
    return page(title, [head, *map(_section, sections)])


def _section(section: Section) -> Html:
    figure = section.figure() if section.figure else ""
    table = table_html(section.table) if section.table else ""
    return card(section.title, prose(section.text), figure, table)
