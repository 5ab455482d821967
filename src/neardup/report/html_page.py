"""The renderer of every page that is one file: text, tables and sections become safe markup.

Markup has the type :class:`Html`; any other string is escaped where it is shown, and characters
that act instead of being seen are made visible, because documents are hostile. The templates of
the web service follow the same rule with the same type. A page has its style (``styles/*.css``)
inside, has no script, and forbids the browser to load anything. Why this is no template engine is
in docs/decisions/0023-pages-without-a-template-engine.md.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from neardup.classes import dataclass
from neardup.wording import LONGEST_NAME, shortened, visible

LONGEST_PATH = 40
ONE_LINE = 30
NONE = "–"
STYLES = Path(__file__).parent / "styles"


class Html(str):
    """Markup that is safe as it stands; any other string is escaped where it is shown."""

    __slots__ = ()

    def __html__(self) -> str:
        """The protocol of template engines: they show it as it stands, too."""
        return self


def html(text: str) -> Html:
    return text if isinstance(text, Html) else Html(escape(visible(text)))


def name(text: str | None, most: int = LONGEST_NAME) -> Html:
    """An id or a source, apart from the direction of what stands around it."""
    if text is None:
        return Html(NONE)
    line = shortened(text, most)
    made = Html(f"<bdi>{html(line)}</bdi>")
    return made if len(line) <= ONE_LINE else wrapped(made)


def place(file: str, row: int, path: str | None = None) -> Html:
    """Where a document stands, as ``names.where`` has it; of a long path the end."""
    whole = path or file
    end = whole if len(whole) <= LONGEST_PATH else "…" + whole[1 - LONGEST_PATH :]
    made = Html(f"<bdi>{html(end)}</bdi>" + ("" if path else f", row {row:,}"))
    return made if len(end) <= ONE_LINE else wrapped(made)


def wrapped(text: str) -> Html:
    """May have several lines in a cell."""
    return Html(f"<span class=wrap>{html(text)}</span>")


@functools.cache
def style(*names: str) -> str:
    """The text of these files of ``styles/``."""
    return "".join((STYLES / f"{name}.css").read_text("utf-8") for name in names)


WARNING = "WARNING: "  # what a paragraph begins with that must not be overlooked
# Should markup of a document ever slip through, the browser still runs and loads nothing.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(title: str, parts: Iterable[str], *styles: str) -> str:
    """``styles`` names the files of ``styles/`` that the parts need beside those of every page."""
    look, body = style("colours", "page", "figures", *styles), "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html(title)}</title><style>{look}</style></head><body><main>"
        f"{body}\n</main></body></html>\n"
    )


def card(title: str, *parts: str, anchor: str = "") -> Html:
    place = f' id="{anchor}"' if anchor else ""
    return Html(f"<section{place}><h2>{html(title)}</h2>{''.join(parts)}</section>")


def folded(summary: str, *parts: str) -> Html:
    """Shown when the reader unfolds it."""
    return Html(f"<details><summary>{html(summary)}</summary>{''.join(parts)}</details>")


def paragraphs(text: str) -> list[str]:
    return [part for part in re.split(r"\n\s*\n", text.strip()) if part]


def prose(text: str, css: str = "") -> Html:
    """Plain text, paragraphs parted by blank lines; one that begins with "$ " is a command to
    paste, one that begins with WARNING stands out."""
    made = []
    for paragraph in paragraphs(text):
        if paragraph.startswith("$ "):
            made.append(f"<pre>{html(paragraph[2:])}</pre>")
        else:
            kind = "warning" if paragraph.startswith(WARNING) else css
            made.append(f"<p{f' class={kind}' if kind else ''}>{html(paragraph)}</p>")
    return Html("".join(made))


class Ranged(NamedTuple):
    """A value with its interval."""

    value: float | None
    interval: tuple[float, float] | None = None


class Share(NamedTuple):
    """A part of a whole, in percent."""

    part: int
    whole: int


Cell = str | int | float | Ranged | Share | None


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
    side = [" class=n" if right else "" for right in numeric]
    head = "".join(
        f"<th scope=col{css}>{html(name)}</th>"
        for name, css in zip(table.header, side, strict=True)
    )
    body = "".join(
        f"<tr{' class=marked' if number in table.marked else ''}>"
        + "".join(f"<td{css}>{_html(cell)}</td>" for cell, css in zip(row, side, strict=True))
        + "</tr>"
        for number, row in enumerate(table.rows)
    )
    head, body = f"<thead><tr>{head}</tr></thead>", f"<tbody>{body}</tbody>"
    return Html(f'<div class="scroll"><table>{head}{body}</table></div>')


def _html(cell: Cell) -> Html:
    if isinstance(cell, str):
        return html(cell)
    if not isinstance(cell, Ranged):
        return html(shown(cell))
    value, interval = _ranged(cell)
    return Html(f"{value} <small>{interval[1:-1]}</small>" if interval else value)
