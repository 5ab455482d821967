"""Kinds are told as well as before on planted edits, and the page shows what was measured."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from quality.floors import HAIR
from quality.kinds.__main__ import PER_CHANGE, SEED
from quality.kinds.figures import figures, read
from quality.kinds.page import TABLES
from quality.kinds.planted import HELD_OUT, planted, told
from quality.sets import digest

PAGE = Path(__file__).parents[3] / "docs" / "kinds.md"
TABLE = re.compile(r"<!-- kinds: ([\w ]+) -->\n\n?(?:\|.*\n)*")
LEAST = 0.9  # of macro F1, whatever is pinned


def test_kinds_of_a_few_planted_edits(data: Path) -> None:
    made = figures(told(planted(data, {"bbc_news": HELD_OUT["bbc_news"]}, 2, SEED)))
    assert made["macro_f1"] >= LEAST


@pytest.mark.long
def test_no_kind_falls_below_its_floor(data: Path) -> None:
    pinned = read()
    assert pinned["digests"] == {name: digest(data / name) for name in HELD_OUT}
    made = figures(told(planted(data, HELD_OUT, PER_CHANGE, SEED)))
    assert made["macro_f1"] >= max(LEAST, pinned["macro_f1"] - HAIR)
    assert made["direction"] >= pinned["direction"] - HAIR
    for kind, one in pinned["kinds"].items():
        assert made["kinds"][kind]["f1"] >= one["f1"] - 4 * HAIR, kind


def test_the_page_shows_what_was_measured() -> None:
    page, pinned = PAGE.read_text("utf-8"), read()
    assert TABLE.findall(page) == [*TABLES]
    made = TABLE.sub(
        lambda found: f"<!-- kinds: {found[1]} -->\n\n{TABLES[found[1]](pinned)}\n", page
    )
    if os.environ.get("NEARDUP_UPDATE_DOCS"):
        PAGE.write_text(made, "utf-8")
        return
    assert page == made, "run the tests once with NEARDUP_UPDATE_DOCS=1"
