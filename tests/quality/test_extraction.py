"""Extractors on real pages: none falls below what it reached."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from quality.extraction import HOWS, digest, figures
from quality.floors import gate, read
from quality.sets import rounded

FILE = Path(__file__).with_name("extraction.toml")
PAGE = Path(__file__).parents[2] / "docs" / "extraction.md"
TABLE = re.compile(r"<!-- extraction -->\n\n?(?:\|.*\n)*")


@pytest.mark.parametrize("how", HOWS)
def test_extraction_reaches_its_floors(data: Path, how: str) -> None:
    folder = data / "html_extraction"
    made = rounded(figures(folder, how))
    assert not gate("html_extraction", digest(folder), how, made, FILE)


def table() -> str:
    shown = ("precision", "recall", "f1", "must", "apart", "skins")
    lines = ["| | " + " | ".join(shown) + " |", "|---" * (len(shown) + 1) + "|"]
    measured = read(FILE)["html_extraction"].measured
    for how in HOWS:
        figures = " | ".join(f"{measured[how][name]:.2f}" for name in shown)
        lines.append(f"| `{how}` | {figures} |")
    return "\n".join(lines)


def test_the_page_shows_what_is_pinned() -> None:
    page = PAGE.read_text("utf-8")
    with_table = TABLE.sub(f"<!-- extraction -->\n\n{table()}\n", page)
    if os.environ.get("NEARDUP_UPDATE_DOCS"):
        PAGE.write_text(with_table, "utf-8")
        return
    assert page == with_table, "run the tests once with NEARDUP_UPDATE_DOCS=1"
