"""Passages on texts whose copied parts are known: nothing falls below what it reached."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from quality import passages
from quality.floors import gate, read
from quality.sets import Figures, rounded

FILE = Path(__file__).with_name("passages.toml")
PAGE = Path(__file__).parents[2] / "docs" / "passages.md"
TABLE = re.compile(r"<!-- quality -->\n\n?(?:\|.*\n)*")
MEASURED: dict[tuple[str, str], Callable[[Path], Figures]] = {
    ("bbc_news", "verbatim"): lambda folder: passages.planted(folder, 0),
    ("bbc_news", "a tenth of the words changed"): lambda folder: passages.planted(folder, 0.1),
    ("clough_stevenson", "reuse in four classes"): passages.reuse,
    ("newsgroups20", "quoted lines of replies"): passages.quoted,
    ("html_extraction", "pages with their menus"): lambda folder: passages.boilerplate(folder, 6),
}


@pytest.mark.parametrize(("set_name", "what"), MEASURED)
def test_passages_reach_their_floors(data: Path, set_name: str, what: str) -> None:
    folder = data / set_name
    made = rounded(MEASURED[set_name, what](folder))
    assert not gate(set_name, passages.digest(folder), what, made, FILE)


def table() -> str:
    lines = ["| set | what is known | reached |", "|---|---|---|"]
    floors = read(FILE)
    for set_name, what in MEASURED:
        figures = floors[set_name].measured[what]
        shown = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
        lines.append(f"| {set_name} | {what} | {shown} |")
    return "\n".join(lines)


def test_the_page_shows_what_is_pinned() -> None:
    page = PAGE.read_text("utf-8")
    with_table = TABLE.sub(f"<!-- quality -->\n\n{table()}\n", page)
    if os.environ.get("NEARDUP_UPDATE_DOCS"):
        PAGE.write_text(with_table, "utf-8")
        return
    assert page == with_table, "run the tests once with NEARDUP_UPDATE_DOCS=1"
