"""The few figures of the report, drawn here as SVG.

Places are in percent and texts in pixels, so that a figure fits a telephone and its labels stay
readable. Colours come from the style of the page; nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neardup.outputs.html.safe import Html, html

LEAST = 0.4  # percent: what is not nothing must be seen
TOP, HEIGHT, FOOT = 44, 150, 22  # pixels of a histogram
TALLEST = 3.0  # times the next: beyond, the tallest bar is cut


def bar(part: float, whole: float, css: str = "aside") -> Html:
    """One bar in a table; the number stands beside it."""
    width = max(LEAST, 100 * part / whole) if part and whole else 0
    return Html(
        '<svg class="bar" aria-hidden="true"><rect class="track" width="100%" height="100%"/>'
        f'<rect class="{css}" width="{width:.2f}%" height="100%"/></svg>'
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
        width = share * scale
        drawn.append(
            f'<rect class="{piece.css}" x="{x:.2f}%" width="{width:.2f}%" height="100%">'
            f"<title>{html(piece.label)}: {piece.count:,}</title></rect>"
        )
        x += width
    return Html(
        f'<svg class="stacked" role="img" aria-label="{html(title)}"><title>{html(title)}</title>'
        f"{''.join(drawn)}</svg>"
    )


@dataclass(frozen=True)
class Bin:
    """``tick`` is written below its left end, or below its middle where it is ``alone``."""

    label: str
    count: int
    tick: str
    alone: bool = False


def histogram(title: str, bins: Sequence[Bin], *, line: float, said: str) -> Html:
    """``line``: where the dashed line stands, in bins from the left; ``said`` is written at it."""
    most, cut = scale([one.count for one in bins])
    step = 100 / len(bins)
    drawn = [_bar(i, one, step, most, cut) for i, one in enumerate(bins)]
    return Html(
        f'<figure><svg class="histogram" style="height:{TOP + HEIGHT + FOOT}px" role="img" '
        f'aria-label="{html(title)}"><title>{html(title)}</title>'
        f'<line class="axis" x1="0" x2="100%" y1="{TOP + HEIGHT}" y2="{TOP + HEIGHT}"/>'
        f"{''.join(drawn)}{_line(line * step, said)}</svg></figure>"
    )


def scale(counts: Sequence[int]) -> tuple[float, bool]:
    """The count that reaches the top, and whether a bar goes beyond it."""
    ordered = sorted(counts, reverse=True)
    if len(ordered) > 1 and ordered[0] > TALLEST * ordered[1] > 0:
        return 1.4 * ordered[1], True
    return max(ordered[0] if ordered else 0, 1), False


def _bar(i: int, one: Bin, step: float, most: float, cut: bool) -> str:
    height = min(1.0, one.count / most) * HEIGHT
    height = max(height, 1.5) if one.count else 0
    middle, top = (i + 0.5) * step, TOP + HEIGHT - height
    broken = ""
    if cut and one.count > most:
        broken = (
            f'<rect class="broken" x="{i * step:.2f}%" width="{step:.2f}%" y="{top + 14}" '
            'height="4"/>'
        )
    count = f'<text class="count" x="{middle:.2f}%" y="{top - 5:.1f}">{one.count:,}</text>'
    return (
        f'<rect class="pairs" x="{i * step + step * 0.08:.2f}%" width="{step * 0.84:.2f}%" '
        f'y="{top:.1f}" height="{height:.1f}"><title>{html(one.label)}: {one.count:,}</title>'
        f"</rect>{broken}{count if one.count else ''}"
        f"{_tick(i, one, step)}"
    )


def _tick(i: int, one: Bin, step: float) -> str:
    x = (i + 0.5) * step if one.alone else i * step
    css = "tick" + (" first" if x == 0 else " wide" if i % 4 and not one.alone else "")
    return f'<text class="{css}" x="{x:.2f}%" y="{TOP + HEIGHT + 16}">{html(one.tick)}</text>'


def _line(x: float, said: str) -> str:
    side, shift = ("before", -6) if x > 60 else ("after", 6)
    return (
        f'<line class="cut" x1="{x:.2f}%" x2="{x:.2f}%" y1="4" y2="{TOP + HEIGHT}"/>'
        f'<text class="said {side}" x="{x:.2f}%" dx="{shift}" y="14">{html(said)}'
        "</text>"
    )
