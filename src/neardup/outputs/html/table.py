"""Tables of a page, and how numbers are written in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from neardup.outputs.html.safe import Html, html


class Ranged(NamedTuple):
    """A value with its interval."""

    value: float | None
    interval: tuple[float, float] | None = None


class Share(NamedTuple):
    """A part of a whole, in percent."""

    part: int
    whole: int


Cell = str | int | float | Ranged | Share | None
NONE = "–"


@dataclass(frozen=True)
class Table:
    """Cells are shown by :func:`shown`; ``marked`` rows stand out."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    marked: Sequence[int] = ()


def shown(cell: Cell) -> str:
    """Scores with three decimals, whole numbers with commas, – for what is undefined."""
    if cell is None:
        return NONE
    if isinstance(cell, Share):
        return percent(cell)
    if isinstance(cell, Ranged):
        return " ".join(filter(None, _ranged(cell)))
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def percent(share: Share) -> str:
    """One decimal; what is neither nothing nor all is never written as 0 or 100."""
    part, whole = share
    if not whole:
        return NONE
    if 0 < part * 2000 < whole:
        return "< 0.1 %"
    if 0 < (whole - part) * 2000 < whole:
        return "> 99.9 %"
    return f"{100 * part / whole:.1f} %"


def _ranged(cell: Ranged) -> tuple[str, str]:
    if cell.value is None or cell.interval is None:
        return shown(cell.value), ""
    low, high = cell.interval
    return shown(cell.value), f"({low:.3f}–{high:.3f})"


def table_html(table: Table) -> Html:
    numeric = [
        bool(table.rows) and not any(isinstance(row[i], str) for row in table.rows)
        for i in range(len(table.header))
    ]
    head = "".join(
        _cell("th scope=col", html(name), right)
        for name, right in zip(table.header, numeric, strict=True)
    )
    body = "".join(
        f"<tr{' class=marked' if number in table.marked else ''}>"
        + "".join(_cell("td", _html(c), right) for c, right in zip(row, numeric, strict=True))
        + "</tr>"
        for number, row in enumerate(table.rows)
    )
    head, body = f"<thead><tr>{head}</tr></thead>", f"<tbody>{body}</tbody>"
    return Html(f'<div class="scroll"><table>{head}{body}</table></div>')


def _cell(tag: str, content: str, right: bool) -> str:
    return f"<{tag}{' class=n' if right else ''}>{content}</{tag.partition(' ')[0]}>"


def _html(cell: Cell) -> Html:
    if isinstance(cell, str):
        return html(cell)
    if not isinstance(cell, Ranged):
        return html(shown(cell))
    value, interval = _ranged(cell)
    return Html(f"{value} <small>{interval[1:-1]}</small>" if interval else value)
