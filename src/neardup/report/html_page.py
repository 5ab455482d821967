"""The renderer of every page that is one file: text, tables, bars and sections become safe markup.

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
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

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
        + "".join(
            f"<td{css}>{_ranged_html(cell) if isinstance(cell, Ranged) else html(shown(cell))}</td>"
            for cell, css in zip(row, side, strict=True)
        )
        + "</tr>"
        for number, row in enumerate(table.rows)
    )
    head, body = f"<thead><tr>{head}</tr></thead>", f"<tbody>{body}</tbody>"
    return Html(f'<div class="scroll"><table>{head}{body}</table></div>')


def _ranged_html(cell: Ranged) -> Html:
    value, interval = _ranged(cell)
    return Html(f"{value} <small>{interval[1:-1]}</small>" if interval else value)


# Counts as bars of SVG without axes of their own: in a table, in a row, over time, by score. Places
# are in percent and texts in pixels, so that they fit a telephone and their labels stay readable.
# The numbers stand beside every one of them.
LEAST = 0.4  # percent: what is not nothing must be seen
TOP, HEIGHT, FOOT = 44, 150, 22  # pixels of a histogram
TALLEST = 3.0  # times the next: beyond, the tallest bar is broken
TICKS = 6  # times that are written below arrivals
HOUR, DAY = 3_600_000, 86_400_000  # milliseconds, in which units of time are counted


def text(x: float, y: float, written: str, css: str = "") -> str:
    kind = f' class="{css}"' if css else ""
    return f'<text{kind} x="{x:.2f}%" y="{y:.1f}">{html(written)}</text>'


def rule(css: str, x1: float, x2: float, y1: float, y2: float) -> str:
    return f'<line class="{css}" x1="{x1:.2f}%" x2="{x2:.2f}%" y1="{y1:.1f}" y2="{y2:.1f}"/>'


def rect(css: str, x: float, width: float, y: float, height: float, title: str = "") -> str:
    """The ``title`` is shown under the mouse."""
    return (
        f'<rect class="{css}" x="{x:.2f}%" width="{width:.2f}%" y="{y:.1f}" height="{height:.1f}"'
        + (f"><title>{html(title)}</title></rect>" if title else "/>")
    )


def bar(part: float, whole: float, css: str = "aside") -> Html:
    """One bar in a table; the number stands beside it."""
    width = max(LEAST, 100 * part / whole) if part and whole else 0
    return Html(
        '<svg class="bar" aria-hidden="true"><rect class="track" width="100%" height="100%"/>'
        f'<rect class="{css}" width="{width:.2f}%" height="100%"/></svg>'
    )


def _opened(css: str, title: str, height: int | None = None) -> str:
    tall = f' height="{height}"' if height else ""
    return (
        f'<svg class="{css}" width="100%"{tall} role="img" aria-label="{html(title)}">'
        f"<title>{html(title)}</title>"
    )


@dataclass(frozen=True)
class Piece:
    label: str
    count: int
    css: str


def stacked(title: str, pieces: Sequence[Piece]) -> Html:
    """One bar of all documents."""
    whole = sum(piece.count for piece in pieces) or 1
    shares = [max(LEAST, 100 * p.count / whole) if p.count else 0.0 for p in pieces]
    scale, x, drawn = 100 / (sum(shares) or 1), 0.0, []
    for piece, share in zip(pieces, shares, strict=True):
        drawn.append(
            f'<rect class="{piece.css}" x="{x:.2f}%" width="{share * scale:.2f}%" height="100%">'
            f"<title>{html(piece.label)}: {piece.count:,}</title></rect>"
        )
        x += share * scale
    return Html(f"{_opened('stacked', title)}{''.join(drawn)}</svg>")


@dataclass(frozen=True)
class Bin:
    """``tick`` is written below its left end, or below its middle where it is ``alone``."""

    label: str
    count: int
    tick: str
    alone: bool = False


def histogram(title: str, bins: Sequence[Bin], *, line: float, label: str) -> Html:
    """``line``: where the dashed line stands, in bins from the left, with its ``label``."""
    most, broken = scale([one.count for one in bins])
    step, foot = 100 / len(bins), TOP + HEIGHT
    drawn = [rule("axis", 0, 100, foot, foot)]
    for i, one in enumerate(bins):
        if one.count:
            top = foot - max(min(1.0, one.count / most) * HEIGHT, 1.5)
            column = (i + 0.08) * step, step * 0.84, top, foot - top
            drawn.append(rect("pairs", *column, f"{one.label}: {one.count:,}"))
            drawn += [rect("broken", i * step, step, top + 14, 4)] * (broken and one.count > most)
            drawn.append(text((i + 0.5) * step, top - 5, f"{one.count:,}", "count"))
        x = (i + 0.5) * step if one.alone else i * step
        css = "first" if x == 0 else "wide" if i % 4 and not one.alone else ""
        drawn.append(text(x, foot + 16, one.tick, css))
    x = line * step
    side, shift = ("before", -1) if x > 60 else ("first", 1)
    drawn += [rule("threshold", x, x, 4, foot), text(x + shift, 14, label, f"name {side}")]
    return Html(
        f"<figure>{_opened('histogram', title, foot + FOOT)}{''.join(drawn)}</svg></figure>"
    )


def scale(counts: Sequence[int]) -> tuple[float, bool]:
    """The count that reaches the top, and whether a bar goes beyond it."""
    ordered = sorted(counts, reverse=True)
    if len(ordered) > 1 and ordered[0] > TALLEST * ordered[1] > 0:
        return 1.4 * ordered[1], True
    return max(ordered[0] if ordered else 0, 1), False


def score_bars(bins: Sequence[int], threshold: float) -> Html:
    """Counts by score from 0 to 1, with a line at the threshold; both can be moved by a script."""
    most, step = max(bins, default=0) or 1, 100 / len(bins)
    drawn = []
    for i, count in enumerate(bins):
        low, high = i / len(bins), (i + 1) / len(bins)
        height = max(100 * count / most, 1.5 if count else 0)
        css = ' class="out"' if high <= threshold else ""
        drawn.append(
            f'<rect{css} data-low="{low}" x="{i * step:.2f}%" width="{step * 0.86:.2f}%" '
            f'y="{100 - height:.2f}%" height="{height:.2f}%">'
            f"<title>{low:.3f} to {high:.3f}: {count:,}</title></rect>"
        )
    at = f"{100 * threshold}%"
    drawn.append(f'<line data-threshold x1="{at}" x2="{at}" y1="0" y2="100%"/>')
    title = "Pairs by score; the table below has the numbers"
    return Html(f"{_opened('scores', title)}{''.join(drawn)}</svg>")


def interval(value: float | None, ends: tuple[float, float] | None) -> Html:
    """A share with its interval on a scale from 0 to 1; nothing where either is unknown."""
    if value is None or not ends:
        return Html("")
    low, high = (100 * end for end in ends)
    ticks = "".join(rule("scale", at, at, 7, 15) for at in (0, 25, 50, 75, 100))
    title = f"{value:.2f}, 95 % interval {ends[0]:.2f} to {ends[1]:.2f}"
    return Html(
        f"{_opened('interval', title, 22)}{rule('scale', 0, 100, 11, 11)}{ticks}"
        f'{rect("range", low, high - low, 7, 8)}<circle cx="{100 * value:.2f}%" cy="11" r="6"/>'
        "</svg>"
    )


def arrivals(bars: Sequence[dict[str, Any]], unit: int) -> Html:
    """Documents by time, a bar for each ``unit`` of milliseconds; the duplicates are in front."""
    if not bars:
        return Html("")
    most, step = max(one["documents"] for one in bars), 100 / len(bars)
    drawn = [rule("axis", 0, 100, HEIGHT, HEIGHT)]
    for i, one in enumerate(bars):
        documents, duplicates = one["documents"], one["duplicates"]
        label = (
            f"{time_label(one['time'], unit)}: {documents:,} documents, {duplicates:,} duplicates"
        )
        heights = [
            (css, max(1.0, HEIGHT * count / most))
            for css, count in (("kept", documents), ("aside", duplicates))
            if count
        ]
        columns = (rect(css, i * step, step * 0.9, HEIGHT - h, h) for css, h in heights)
        drawn += [f"<g><title>{html(label)}</title>", *columns, "</g>"]
    every = max(len(bars) // TICKS, 1)
    for i in range(0, len(bars) - every // 2, every):
        drawn.append(text(i * step, HEIGHT + 16, time_label(bars[i]["time"], unit)))
    title = f"Documents by time, at most {most:,} in one bar"
    return Html(f"{_opened('arrivals', title, HEIGHT + FOOT)}{''.join(drawn)}</svg>")


def time_label(written: str, unit: int) -> str:
    """The label of a bar's time, as short as the ``unit`` of the bars allows."""
    time = datetime.fromisoformat(written)
    if unit >= DAY:
        return f"{time:%Y-%m-%d}"
    return f"{time:%m-%d %H:%M}" if unit >= HOUR else f"{time:%H:%M}"
