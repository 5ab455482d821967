"""What a notebook shows of a result: a sentence and the first rows of a table, safe as a page is.

The markup brings its style with it, and every rule holds only inside its own block: the notebook
around it keeps its look, light or dark. What is left out is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from neardup.report.html_page import Cell, Table, html, name, prose, style, table_html
from neardup.report.side_by_side import fragment

if TYPE_CHECKING:
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
    settings = result.info["settings"]
    lead = f"{settings['method']}, threshold {result.threshold:.4g}: {result.counts.sentence()}."
    rows: list[tuple[Cell, ...]] = [
        (name(row["id"]), name(row["kept_id"]), float(row["score"]), row["kind"] or "")
        for row in result.duplicates.slice(0, MOST_ROWS).to_pylist()
    ]
    header = ("duplicate", "of the kept document", "score", "kind")
    return _block(lead, _table(header, rows, len(result.duplicates)))


def explanation_html(explained: Explanation) -> str:
    parts = [f"<p>{html(line)}</p>" for line in explained.head()[1:]]
    if compared := explained.comparison:
        texts, names = (compared.a, compared.b), compared.names
        parts.append(fragment(*texts, compared.alignment, names=names, most=MOST_CHARACTERS))
    return _block(explained.head()[0], *parts)


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
