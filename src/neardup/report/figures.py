"""Charts with axes, drawn as SVG: lines, bars and shaded cells, for every page that has one.

A chart is a :class:`Figure` of panels, shown in a page by ``html`` and written as a file by
``figure_file.py``. The places along the x-axis are percentages and texts have their own size, so
that a chart fits a telephone and its labels stay readable. Colours come from
``styles/figures.css``; series differ in their dashes too, so that nothing is told by colour alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from neardup.report.html_page import Html, html, rect, rule, text

WIDE, NARROW = 736, 300  # pixels of a panel that is alone, and of one among several
HEIGHT = 200  # pixels of the part between the axes
RIGHT = 97.0  # percent
LINE = 16  # pixels of a line of text
CHARACTER = 6.6  # pixels of one, about
COLOURS = 7  # series that differ; more begin again


@dataclass(frozen=True)
class Axis:
    """An axis from ``low`` to ``high``; each of the ``ticks`` is a value and what is written at
    it."""

    label: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    log: bool = False

    @classmethod
    def of(
        cls,
        label: str,
        values: Iterable[float],
        *,
        form: str = "g",
        log: bool = False,
        tight: bool = False,
    ) -> Axis:
        """The axis of these values, with ticks at round numbers. A ``tight`` axis ends with them;
        any other ends with a tick, and begins with 0 unless it is logarithmic."""
        known = sorted(values) or [0.0, 1.0]
        low, high = known[0], known[-1]
        if log:
            powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            ticks = [10.0**power for power in powers] if len(powers) > 1 else [low / 10, low * 10]
        elif tight:
            ticks = [tick for tick in _round(low, high) if low <= tick <= high]
        else:
            ticks = _round(min(low, 0.0), high)
        first, last = (low, high) if tight and not log else (ticks[0], ticks[-1])
        return cls(label, first, last, [(tick, format(tick, form)) for tick in ticks], log)

    def part(self, value: float) -> float:
        """Where a value is: 0 at the beginning of the axis, 1 at its end."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = (math.log10(end) for end in (low, high, value))
        return (value - low) / ((high - low) or 1)


def _round(low: float, high: float) -> list[float]:
    """Multiples of 1, 2 or 5 (times a power of ten) from below ``low`` to above ``high``."""
    span = (high - low) or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(span / 4))
    step = next(power * factor for factor in (1, 2, 5, 10) if span / (power * factor) <= 5)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 12) for i in range(first, max(last, first + 1) + 1)]


UNIT = Axis("", 0, 1, [(tick, f"{tick:g}") for tick in (0, 0.25, 0.5, 0.75, 1)])


class Series(NamedTuple):
    """A line; the ``band`` (x, low, high) is drawn behind it."""

    label: str
    points: Sequence[tuple[float, float]]
    band: Sequence[tuple[float, float, float]] = ()


class BarSeries(NamedTuple):
    """A bar for each group, with its interval; ``titles`` are shown under the mouse."""

    label: str
    values: Sequence[float | None]
    intervals: Sequence[tuple[float, float] | None] = ()
    titles: Sequence[str] = ()


class Shade(NamedTuple):
    """A cell between values of both axes; ``share`` from 0 to 1 is how dark it is."""

    x: tuple[float, float]
    y: tuple[float, float]
    share: float
    text: str = ""


@dataclass(frozen=True)
class Panel:
    """One pair of axes. ``drawn`` has places along x in percent and along y in pixels."""

    title: str
    drawn: str
    width: int
    height: int
    css: str = "chart"

    def element(self, place: str) -> str:
        title = html(self.title)
        return (
            f'<svg class="{self.css}" role="img" aria-label="{title}" {place} '
            f'height="{self.height}"><title>{title}</title>{self.drawn}</svg>'
        )


@dataclass(frozen=True)
class _Frame:
    """The axes of a panel, and where values are between them."""

    x: Axis
    y: Axis
    heading: str = ""
    width: int = WIDE
    height: int = HEIGHT
    foot: int = LINE  # pixels of what is written at the ticks of x
    grid: bool = True

    @property
    def top(self) -> int:
        return 10 + LINE * (bool(self.heading) + bool(self.y.label))

    @property
    def left(self) -> float:
        """Percent: room for the longest label of the y-axis."""
        longest = max((len(label) for _, label in self.y.ticks), default=0)
        return max(9.0, 100 * (CHARACTER * longest + 12) / self.width)

    def across(self, x: float) -> float:
        return self.left + (RIGHT - self.left) * self.x.part(x)

    def down(self, y: float) -> float:
        return self.top + self.height * (1 - self.y.part(y))

    def panel(self, title: str, drawn: str) -> Panel:
        height = self.top + self.height + self.foot + (LINE + 8) * bool(self.x.label)
        return Panel(title, self._axes() + drawn, self.width, height + 8)

    def inside(self, drawn: str) -> str:
        """What is drawn in the pixels of :meth:`spot`, stretched between the axes."""
        width = self._inner
        return (
            f'<svg x="{self.left:.2f}%" y="{self.top}" width="{RIGHT - self.left:.2f}%" '
            f'height="{self.height}" viewBox="0 0 {width:.0f} {self.height}" '
            f'preserveAspectRatio="none" overflow="visible">{drawn}</svg>'
        )

    def spot(self, x: float, y: float) -> str:
        return f"{self._inner * self.x.part(x):.1f},{self.height * (1 - self.y.part(y)):.1f}"

    @property
    def _inner(self) -> float:
        return round(self.width * (RIGHT - self.left) / 100)

    def _axes(self) -> str:
        left, bottom = self.left, self.top + self.height
        drawn = [text(0, LINE - 4, self.heading, "heading")] if self.heading else []
        if self.y.label:
            drawn.append(text(0, self.top - 14, self.y.label, "first"))
        for value, label in self.y.ticks:
            y = self.down(value)
            if self.grid:
                drawn.append(rule("grid", left, RIGHT, y, y))
            drawn.append(text(left - 1, y + 4, label, "before"))
        drawn.append(rule("axis", left, RIGHT, bottom, bottom))
        if self.foot == LINE:
            drawn += [text(self.across(x), bottom + LINE, label) for x, label in self.x.ticks]
        if self.x.label:
            y = bottom + self.foot + LINE + 4
            drawn.append(text((left + RIGHT) / 2, y, self.x.label))
        return "".join(drawn)


def colour(number: int) -> str:
    return f"s{number % COLOURS + 1}"


def line_panel(
    title: str,
    series: Sequence[Series],
    x: Axis,
    y: Axis = UNIT,
    *,
    heading: str = "",
    mark: float | None = None,
    dots: bool = False,
    width: int = WIDE,
) -> Panel:
    """A line for each series; ``mark`` is the x of a dashed upright line."""
    frame = _Frame(x, y, heading, width)
    lines, spots = "", ""
    for number, one in enumerate(series):
        css = colour(number)
        upper = [frame.spot(at, high) for at, _, high in one.band]
        lower = [frame.spot(at, low) for at, low, _ in reversed(one.band)]
        if one.band:
            lines += f'<polygon class="{css}" points="{" ".join(upper + lower)}"/>'
        points = " ".join(frame.spot(*point) for point in one.points)
        lines += f'<polyline class="{css}" points="{points}"/>'
        if dots:
            spots += "".join(
                f'<circle class="{css}" cx="{frame.across(at):.2f}%" cy="{frame.down(to):.1f}" '
                f'r="2.5"><title>{html(one.label)}: {to:.4g} at {at:.4g}</title></circle>'
                for at, to in one.points
            )
    if mark is not None and x.low <= mark <= x.high:
        at = frame.across(mark)
        spots += rule("threshold", at, at, frame.top, frame.top + frame.height)
    return frame.panel(title, frame.inside(lines) + spots)


def bar_panel(
    title: str,
    groups: Sequence[Sequence[str]],
    series: Sequence[BarSeries],
    y: Axis = UNIT,
    *,
    x_label: str = "",
    heading: str = "",
    width: int = WIDE,
) -> Panel:
    """Bars side by side for each group. A group is named by lines of text, slanted where they
    would not fit."""
    longest = max((len(line) for lines in groups for line in lines), default=0)
    step = (RIGHT - 9) / max(len(groups), 1)
    slanted = longest * CHARACTER > step * width / 100
    most = max((len(lines) for lines in groups), default=1)
    foot = int(longest * CHARACTER * 0.6) + LINE if slanted else LINE * most + 1
    frame = _Frame(Axis(x_label, 0, len(groups), ()), y, heading, width, foot=foot)
    step, each = (RIGHT - frame.left) / max(len(groups), 1), 0.76 / max(len(series), 1)
    drawn = ""
    for i, lines in enumerate(groups):
        x = frame.left + step * i
        for number, one in enumerate(series):
            at = x + step * (0.12 + each * number)
            drawn += _one_bar(frame, one, i, colour(number), at, step * each)
        drawn += _names(lines, x + step / 2, frame.top + frame.height, slanted)
    return frame.panel(title, drawn)


def _one_bar(frame: _Frame, bars: BarSeries, i: int, css: str, x: float, width: float) -> str:
    value, foot = bars.values[i], frame.top + frame.height
    if value is None:
        return text(x + width / 2, foot - 6, "–")
    title = bars.titles[i] if bars.titles else f"{bars.label}: {value:.4g}"
    height = max(foot - frame.down(value), 1) if value else 0
    drawn = rect(css, x, width * 0.92, foot - height, height, title)
    interval = bars.intervals[i] if bars.intervals else None
    if interval:
        low, high = map(frame.down, interval)
        drawn += rule("whisker", x + width / 2, x + width / 2, low, high)
    return drawn


def _names(lines: Sequence[str], x: float, y: float, slanted: bool) -> str:
    if not slanted:
        return "".join(text(x, y + LINE * (i + 1), line) for i, line in enumerate(lines))
    # A rotation turns about a place in pixels; the inner svg is that place.
    return (
        f'<svg x="{x:.2f}%" y="{y + 12:.1f}" width="1" height="1" overflow="visible">'
        f'<text class="before" transform="rotate(-35)">{html(" ".join(lines))}</text></svg>'
    )


def shade_panel(
    title: str,
    shades: Sequence[Shade],
    x: Axis,
    y: Axis,
    *,
    heading: str = "",
    width: int = WIDE,
    height: int = HEIGHT,
) -> Panel:
    """Cells that are the darker the larger their share is."""
    frame = _Frame(x, y, heading, width, height, grid=False)
    drawn = []
    for one in shades:
        (left, right), (low, high) = map(frame.across, one.x), map(frame.down, one.y)
        drawn.append(
            f'<rect class="shade" x="{left:.2f}%" width="{right - left:.2f}%" y="{high:.1f}" '
            f'height="{low - high:.1f}" fill-opacity="{one.share:.3f}"/>'
        )
        if one.text:
            css = "shaded dark" if one.share > 0.5 else "shaded"
            drawn.append(text((left + right) / 2, (low + high) / 2 + 3.5, one.text, css))
    panel = frame.panel(title, "".join(drawn))
    return replace(panel, css="chart whole") if any(one.text for one in shades) else panel


@dataclass(frozen=True)
class Figure:
    """Panels, ``columns`` in a row where there is room. ``labels`` are those of the series, which
    all panels share; a figure of one series needs none."""

    panels: Sequence[Panel]
    labels: Sequence[str] = ()
    columns: int = 3
    marks: Literal["line", "bar"] = "line"
    more: Sequence[Figure] = ()  # with series of their own

    def html(self) -> Html:
        drawn = "".join(panel.element('width="100%"') for panel in self.panels)
        css = "panels" if len(self.panels) > 1 else "panel"
        inner = f'{self._key()}<div class="{css}">{drawn}</div>'
        others = "".join(f"<div>{one.html()}</div>" for one in self.more)
        if others:
            return Html(f'<div class="beside"><div><figure>{inner}</figure></div>{others}</div>')
        return Html(f"<figure>{inner}</figure>")

    def _key(self) -> str:
        if not self.labels:
            return ""
        samples = (
            f'<span><svg class="sample" aria-hidden="true">{sample(self.marks, i)}</svg>'
            f" {html(label)}</span>"
            for i, label in enumerate(self.labels)
        )
        return f'<p class="series">{"".join(samples)}</p>'


def sample(kind: Literal["line", "bar"], number: int) -> str:
    """The line or bar of a series, as the key shows it."""
    css = colour(number)
    return rule(css, 0, 100, 6, 6) if kind == "line" else rect(css, 0, 100, 1, 10)
