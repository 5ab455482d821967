"""What a notebook shows of a result: a sentence and the first rows of a table, safe as a page is.

The markup brings its style with it, and every rule holds only inside its own block: the notebook
around it keeps its look, light or dark. What is left out is counted.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from neardup.report.html_page import Cell, Table, html, name, prose, style, table_html
from neardup.report.run_report import REPORT
from neardup.report.side_by_side import fragment

if TYPE_CHECKING:
    from neardup.runs.comparison import Comparison
    from neardup.runs.explanation import Explanation
    from neardup.runs.grouped_list import Grouped
    from neardup.runs.result import Result

MOST_ROWS = 10
MOST_CHARACTERS = 20_000  # of two texts side by side


class Summary(Protocol):
    """A section of an evaluation."""

    @property
    def title(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def table(self) -> Table | None: ...


def result_html(result: Result) -> str:
    """The counts, the duplicates that are least similar, and how to look closer."""
    settings = result.info["settings"]
    lead = f"{settings['method']}, threshold {result.threshold:.4g}: {result.counts.sentence()}."
    rows: list[tuple[Cell, ...]] = [
        (name(row["id"]), name(row["kept_id"]), float(row["score"]), row["kind"] or "")
        for row in result.weakest(MOST_ROWS).to_pylist()
    ]
    header = ("weakest duplicates", "of the kept document", "score", "kind")
    return _block(lead, _table(header, rows, len(result.duplicates)), _closer(result))


def _closer(result: Result) -> str:
    """The report of a run that was saved, as a link from the folder of the notebook."""
    ways = ["<code>result.show(id)</code> puts a duplicate beside its kept document"]
    ways = ways if result.counts.duplicates else []
    page = result.folder / REPORT if result.folder else None
    if page and page.is_file():
        where = quote(Path(os.path.relpath(page)).as_posix())
        ways.append(f'<a href="{where}">{REPORT}</a> has the whole run')
        ways.append(f"<code>neardup review {html(shlex.quote(str(result.folder)))}</code> opens it")
    return f"<p>{'; '.join(ways)}.</p>" if ways else ""


def explanation_html(explained: Explanation) -> str:
    parts = [f"<p>{html(line)}</p>" for line in explained.head()[1:]]
    if explained.comparison:
        parts.append(_side_by_side(explained.comparison))
    return _block(explained.head()[0], *parts)


def comparison_html(compared: Comparison) -> str:
    facts = dict(compared.facts())
    lead = f"{facts.pop('kind')}; passages: {facts.pop('passages')}"
    said = "; ".join(f"{name}: {value}" for name, value in facts.items() if name != "note")
    return _block(lead, f"<p>{html(said)}</p>", _side_by_side(compared))


def _side_by_side(compared: Comparison) -> str:
    texts, names = (compared.a, compared.b), compared.names
    return fragment(*texts, compared.alignment, names=names, most=MOST_CHARACTERS)


def grouped_html(grouped: Grouped) -> str:
    rows: list[tuple[Cell, ...]] = [
        (
            group.representative.position,
            name(group.representative.id),
            len(group.others),
            name(", ".join(member.id for member in group.others)) if group.others else "",
        )
        for group in grouped[:MOST_ROWS]
    ]
    header = ("rank", "result", "near-duplicates", "their ids")
    return _block(f"{grouped.sentence()}.", _table(header, rows, len(grouped)))


def evaluation_html(lead: str, sections: Sequence[Summary]) -> str:
    parts = []
    for one in sections:
        if one.table:
            parts += [prose(one.text), table_html(one.table)]
    return _block(lead, *parts)


def _table(header: Sequence[str], rows: Sequence[tuple[Cell, ...]], every: int) -> str:
    if not rows:
        return ""
    more = every - len(rows)
    return table_html(Table(header, rows)) + (f"<p>… and {more:,} more</p>" if more else "")


def _block(lead: str, *parts: str) -> str:
    look = style("notebook", "side_by_side")
    first = f"<p><b>{html(lead)}</b></p>" if lead else ""
    return f'<div class="nd-cell"><style>{look}</style>{first}{"".join(parts)}</div>'
