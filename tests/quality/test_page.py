"""The pages show the pinned figures, and docs/quality.md says of every method where it fails."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from neardup.methods import registry
from quality import floors, peers
from quality.table import BESIDE, OTHERS, TABLES, Measured, tables

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "quality.md"
SHOWN = {PAGE: [*TABLES, *OTHERS], DOCS / "how-good.md": [*BESIDE]}
TABLE = re.compile(r"<!-- quality: ([\w ]+) -->\n\n?(?:\|.*\n)*")


def pinned(file: Path) -> Measured:
    return {
        (method, name): figures
        for name, one in floors.read(file).items()
        for method, figures in one.measured.items()
    }


def with_tables(page: str) -> str:
    ours, others = pinned(floors.FILE), pinned(peers.FILE)
    default = {key: figures for key, figures in ours.items() if key[0] == registry.DEFAULT}
    of = ((TABLES, ours), (OTHERS, others), (BESIDE, default | dict(others)))
    made = {name: table(figures) for every, figures in of for name, table in every.items()}
    return TABLE.sub(lambda found: f"<!-- quality: {found[1]} -->\n\n{made[found[1]]}\n", page)


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.name)
def test_the_page_shows_what_is_pinned(page: Path) -> None:
    written = page.read_text("utf-8")
    assert TABLE.findall(written) == SHOWN[page]
    if os.environ.get("NEARDUP_UPDATE_DOCS"):
        page.write_text(with_tables(written), "utf-8")
        return
    assert written == with_tables(written), "run the tests once with NEARDUP_UPDATE_DOCS=1"


def test_the_page_says_where_each_method_fails() -> None:
    said = PAGE.read_text("utf-8").partition("## Where each fails")[2]
    for name in registry.METHODS:
        assert re.search(rf"\*\*\[?{name}\b", said), name


def test_what_is_absent_is_not_shown_as_a_figure() -> None:
    figures: Measured = {
        ("exact", "bill_pairs"): {"recall": 0.0, "f1": 0.0},
        ("simhash", "bill_pairs"): {"precision": 0.99961, "recall": 1.0, "f1": 0.99981},
        ("simhash", "lee_news"): {floors.UNFINISHED: 300.0},
    }
    made = tables(figures).splitlines()
    assert "| `exact` | – | – | – | – | .000 | – | – | – | – | – |" in made
    assert f"| `simhash` |{' – / – |' * 4} 1.000 / 1 |{' – / – |' * 4}" in made
    assert "| `simhash` | – | † | – | – |" in made
