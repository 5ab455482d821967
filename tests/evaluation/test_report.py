from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from neardup.evaluation.evaluation_report import Section, html_page, write_report
from neardup.report.html_page import Table, shown

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


def chart() -> Any:
    import altair as alt

    rows = [{"x": HOSTILE, "y": 1}, {"x": "b", "y": 2}]
    return alt.Chart(alt.Data(values=rows), title=HOSTILE).mark_bar().encode(x="x:N", y="y:Q")


def test_a_report_is_one_file_without_scripts(tmp_path: Path) -> None:
    table = Table(("name", "f1", "pairs"), [(HOSTILE, 0.5, 1200), ("b", None, 3)], marked=[0])
    section = Section(HOSTILE, f"First {HOSTILE}.\n\n$ neardup dedup {HOSTILE}", table, chart)
    write_report(tmp_path / "report.html", HOSTILE, [section], lead=HOSTILE)
    page = (tmp_path / "report.html").read_text("utf-8")
    tags = checked(page).tags
    assert {"svg", "table", "pre", "h1"} <= set(tags)
    assert "<td class=n>0.500</td><td class=n>1,200</td>" in page
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_without_the_extra_tables_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    from neardup.evaluation.evaluation_report import altair_module

    monkeypatch.setitem(sys.modules, "altair", None)
    page = html_page("t", [Section("s", "", Table(("a",), [(1,)]), altair_module)])
    checked(page)
    assert "pip install &#x27;neardup[plots]&#x27;" in page
    assert "<td class=n>1</td>" in page


def test_cells() -> None:
    assert [shown(cell) for cell in (None, 0.98765, 12345, "x")] == ["–", "0.988", "12,345", "x"]
