"""The figures of the evaluation as SVG: places in percent, texts in pixels, colours by class.

Widths fit a telephone and labels stay readable. Lines differ in their dashes too, and every figure
has a table beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neardup.report.html_page import Html, html

LEFT, RIGHT = 9.0, 97.0  # percent
TOP, HEIGHT = 26, 200  # pixels
LEGEND = (0, 52, 74)  # percent of the width at which names of lines stand
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Series:
    """``css`` names the colour; ``band`` is drawn behind it."""

    css: str
    label: str
    points: Sequence[tuple[float, float]]
    band: Sequence[tuple[float, float, float]] = ()


def line_chart(
    title: str,
    series: Sequence[Series],
    *,
    x_label: str,
    x_ticks: Sequence[tuple[float, str]],
    cut: float | None = None,
) -> Html:
    """``y`` goes from 0 to 1, ``x`` from the first tick to the last."""
    first, last = x_ticks[0][0], x_ticks[-1][0]

    def across(x: float) -> float:
        return 100 * (x - first) / ((last - first) or 1)

    inner = "".join(_band(one, across) + _line(one, across) for one in series)
    if cut is not None and first <= cut <= last:
        x = across(cut)
        inner += f'<line class="cut" x1="{x:.2f}" x2="{x:.2f}" y1="0" y2="100"{FIXED}/>'
    ticks = "".join(_x_tick(across(x), said) for x, said in x_ticks)
    return Html(
        _opened(title, 40)
        + _y_axis()
        + f'<svg x="{LEFT}%" y="{TOP}" width="{RIGHT - LEFT}%" height="{HEIGHT}" '
        f'viewBox="0 0 100 100" preserveAspectRatio="none">{inner}</svg>'
        + ticks
        + _x_label(x_label, 34)
        + _legend(series)
        + "</svg>"
    )


@dataclass(frozen=True)
class Bar:
    label: str
    value: float | None
    interval: tuple[float, float] | None
    below: tuple[str, ...]  # lines


def bar_chart(title: str, bars: Sequence[Bar], *, x_label: str) -> Html:
    step = (RIGHT - LEFT) / max(len(bars), 1)
    drawn = "".join(_bar(LEFT + step * i, step, one) for i, one in enumerate(bars))
    return Html(_opened(title, 56) + _y_axis() + drawn + _x_label(x_label, 50) + "</svg>")


FIXED = ' vector-effect="non-scaling-stroke"'


def _opened(title: str, foot: int) -> str:
    return (
        f'<svg class="chart" role="img" aria-label="{html(title)}" width="100%" '
        f'height="{TOP + HEIGHT + foot}"><title>{html(title)}</title>'
    )


def _y(value: float) -> float:
    return TOP + HEIGHT * (1 - value)


def _y_axis() -> str:
    return "".join(
        f'<line class="{"grid" if tick else "axis"}" x1="{LEFT}%" x2="{RIGHT}%" '
        f'y1="{_y(tick):.1f}" y2="{_y(tick):.1f}"/>'
        f'<text x="{LEFT - 1}%" y="{_y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>'
        for tick in TICKS
    )


def _x_tick(x: float, said: str) -> str:
    place = LEFT + (RIGHT - LEFT) * x / 100
    y = TOP + HEIGHT
    return f'<text x="{place:.2f}%" y="{y + 16}" text-anchor="middle">{html(said)}</text>'


def _x_label(said: str, below: int) -> str:
    return (
        f'<text x="{(LEFT + RIGHT) / 2}%" y="{TOP + HEIGHT + below}" text-anchor="middle">'
        f"{html(said)}</text>"
    )


def _legend(series: Sequence[Series]) -> str:
    """Above the lines, where none of them runs."""
    return "".join(
        f'<text class="{one.css}" x="{LEFT + place}%" y="12">{html(one.label)}</text>'
        for one, place in zip(series, LEGEND, strict=False)
    )


def _line(one: Series, across: object) -> str:
    points = " ".join(f"{across(x):.2f},{100 * (1 - y):.2f}" for x, y in one.points)  # type: ignore[operator]
    return f'<polyline class="{one.css}" points="{points}"{FIXED}/>'


def _band(one: Series, across: object) -> str:
    if not one.band:
        return ""
    upper = [(x, high) for x, _, high in one.band]
    lower = [(x, low) for x, low, _ in reversed(one.band)]
    points = " ".join(f"{across(x):.2f},{100 * (1 - y):.2f}" for x, y in upper + lower)  # type: ignore[operator]
    return f'<polygon class="band" points="{points}"/>'


def _bar(x: float, step: float, one: Bar) -> str:
    middle, foot = x + step / 2, TOP + HEIGHT
    below = "".join(
        f'<text x="{middle:.2f}%" y="{foot + 16 + 15 * i}" text-anchor="middle">{html(line)}</text>'
        for i, line in enumerate(one.below)
    )
    if one.value is None:
        none = f'<text x="{middle:.2f}%" y="{foot - 6}" text-anchor="middle">–</text>'
        return none + below
    top = _y(one.value)
    drawn = (
        f'<rect class="bar" x="{x + step * 0.2:.2f}%" width="{step * 0.6:.2f}%" y="{top:.1f}" '
        f'height="{max(foot - top, 1):.1f}"><title>{html(one.label)}</title></rect>'
    )
    if one.interval:
        low, high = (_y(end) for end in one.interval)
        drawn += (
            f'<line class="whisker" x1="{middle:.2f}%" x2="{middle:.2f}%" '
            f'y1="{low:.1f}" y2="{high:.1f}"/>'
        )
    return drawn + below
