"""Arrivals as bars: all documents, and in front of them the duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from neardup.online.windows import UNITS
from neardup.outputs.html.safe import Html, html

HEIGHT, FOOT = 140, 22  # pixels
TICKS = 6
LEAST = 1.0  # pixel: what is not nothing must be seen


def arrivals(bars: Sequence[dict[str, Any]], unit: int) -> Html:
    if not bars:
        return Html("")
    most = max(one["documents"] for one in bars)
    step = 100 / len(bars)
    drawn = "".join(_bar(i * step, step, one, most, unit) for i, one in enumerate(bars))
    every = max(len(bars) // TICKS, 1)
    ticks = "".join(
        f'<text x="{i * step:.3f}%" y="{HEIGHT + 16}">{_time(bars[i]["time"], unit)}</text>'
        for i in range(0, len(bars) - every // 2, every)
    )
    title = f"Documents by time, at most {most:,} in one bar"
    return Html(
        f'<svg class="arrivals" height="{HEIGHT + FOOT}" role="img" aria-label="{html(title)}">'
        f"<title>{html(title)}</title>"
        f'<line class="axis" x1="0" x2="100%" y1="{HEIGHT}" y2="{HEIGHT}"/>{drawn}{ticks}</svg>'
    )


def _bar(x: float, step: float, one: dict[str, Any], most: int, unit: int) -> str:
    documents, duplicates = one["documents"], one["duplicates"]
    said = f"{_time(one['time'], unit)}: {documents:,} documents, {duplicates:,} duplicates"
    rects = "".join(
        f'<rect class="{css}" x="{x:.3f}%" width="{step * 0.9:.3f}%" '
        f'y="{HEIGHT - tall:.1f}" height="{tall:.1f}"/>'
        for css, count in (("kept", documents), ("aside", duplicates))
        if (tall := max(LEAST, HEIGHT * count / most) if count else 0)
    )
    return f"<g><title>{html(said)}</title>{rects}</g>"


def _time(written: str, unit: int) -> str:
    """As short as the bars allow."""
    time = datetime.fromisoformat(written)
    if unit >= UNITS["d"]:
        return f"{time:%Y-%m-%d}"
    return f"{time:%m-%d %H:%M}" if unit >= UNITS["h"] else f"{time:%H:%M}"
