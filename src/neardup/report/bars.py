"""Counts drawn as bars of SVG without axes of their own: in a table, in a row, over time, by score.

Places are in percent and texts in pixels, so that they fit a telephone and their labels stay
readable. A count that is not zero is always seen. The numbers stand beside every one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from neardup.classes import dataclass
from neardup.report.html_page import Html, html

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


def rect(css: str, x: float, width: float, y: float, height: float, more: str = "") -> str:
    """``more`` is what the element holds: its title."""
    return (
        f'<rect class="{css}" x="{x:.2f}%" width="{width:.2f}%" y="{y:.1f}" height="{height:.1f}"'
        + (f">{more}</rect>" if more else "/>")
    )


def titled(text: str) -> str:
    return f"<title>{html(text)}</title>" if text else ""


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
            f"{titled(f'{piece.label}: {piece.count:,}')}</rect>"
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
    top, broken = scale([one.count for one in bins])
    step, foot = 100 / len(bins), TOP + HEIGHT
    drawn = [rule("axis", 0, 100, foot, foot)]
    for i, one in enumerate(bins):
        drawn.append(_column(i * step, step, one, top, broken))
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


def _column(x: float, step: float, one: Bin, most: float, broken: bool) -> str:
    if not one.count:
        return ""
    height = max(min(1.0, one.count / most) * HEIGHT, 1.5)
    top = TOP + HEIGHT - height
    title = titled(f"{one.label}: {one.count:,}")
    drawn = rect("pairs", x + step * 0.08, step * 0.84, top, height, title)
    if broken and one.count > most:
        drawn += rect("broken", x, step, top + 14, 4)
    return drawn + text(x + step / 2, top - 5, f"{one.count:,}", "count")


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
            f"{titled(f'{low:.3f} to {high:.3f}: {count:,}')}</rect>"
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
        title = titled(label)
        drawn += ["<g>", title, *columns, "</g>"]
    every = max(len(bars) // TICKS, 1)
    for i in range(0, len(bars) - every // 2, every):
        drawn.append(text(i * step, HEIGHT + 16, time_label(bars[i]["time"], unit)))
    title = f"Documents by time, at most {most:,} in one bar"
    return Html(f"{_opened('arrivals', title, HEIGHT + FOOT)}{''.join(drawn)}</svg>")


def time_label(written: str, unit: int) -> str:
    """As short as the bars allow."""
    time = datetime.fromisoformat(written)
    if unit >= DAY:
        return f"{time:%Y-%m-%d}"
    return f"{time:%m-%d %H:%M}" if unit >= HOUR else f"{time:%H:%M}"
