from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from neardup.evaluation.sections import Section, write_report
from neardup.report.figures import (
    Axis,
    BarSeries,
    Figure,
    Series,
    Shade,
    bar_panel,
    line_panel,
    shade_panel,
)
from neardup.report.html_page import Html, Table, shown

HOSTILE = "<script>alert('x')</script>&\"'"


class Checked(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def checked(page: str) -> Checked:
    parser = Checked()
    parser.feed(page)
    assert parser.open == []
    assert "script" not in parser.tags
    return parser


def figure() -> Html:
    """Everything a figure writes is hostile."""
    x, y = Axis(HOSTILE, 0, 1, [(0, HOSTILE)]), Axis(HOSTILE, 0, 1, [(1, HOSTILE)])
    lines = line_panel(HOSTILE, [Series(HOSTILE, [(0, 0), (1, 1)])], x, y, heading=HOSTILE)
    bars = bar_panel(HOSTILE, [(HOSTILE,)], [BarSeries(HOSTILE, [1])], y, x_label=HOSTILE)
    shades = shade_panel(HOSTILE, [Shade((0, 1), (0, 1), 1, HOSTILE)], x, y)
    return Figure([lines, bars, shades], [HOSTILE]).html()


def test_a_report_is_one_file_without_scripts(tmp_path: Path) -> None:
    table = Table(("name", "f1", "pairs"), [(HOSTILE, 0.5, 1200), ("b", None, 3)], marked=[0])
    section = Section(HOSTILE, f"First {HOSTILE}.\n\n$ neardup dedup {HOSTILE}", table, figure)
    write_report(tmp_path / "report.html", HOSTILE, [section], lead=HOSTILE)
    page = (tmp_path / "report.html").read_text("utf-8")
    tags = checked(page).tags
    assert {"svg", "table", "pre", "h1"} <= set(tags)
    assert "<td class=n>0.500</td><td class=n>1,200</td>" in page
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_cells() -> None:
    assert [shown(cell) for cell in (None, 0.98765, 12345, "x")] == ["–", "0.988", "12,345", "x"]
