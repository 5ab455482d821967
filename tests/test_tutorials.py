"""The tutorials tell the truth: run again, they show what is stored, and their text is a page."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from pages import DOCS
from test_docs_pages import test_commands_and_their_options_exist as options_exist
from test_docs_render import faults_of_code, faults_of_headings, faults_of_tables, faults_of_text
from tools import notebooks, site

# Warnings of the packages that run a notebook are no faults of ours.
pytestmark = pytest.mark.filterwarnings("ignore")
each_tutorial = pytest.mark.parametrize("path", notebooks.tutorials(), ids=lambda path: path.stem)


@each_tutorial
def test_it_shows_what_is_stored(path: Path) -> None:
    """With NEARDUP_UPDATE_DOCS=1 what it shows is stored; read the difference."""
    if os.environ.get("NEARDUP_UPDATE_DOCS"):
        notebooks.store(path)
    else:
        assert notebooks.shown(notebooks.executed(path)) == notebooks.shown(notebooks.read(path))


@each_tutorial
def test_it_names_no_place_of_a_machine(path: Path) -> None:
    """Nor warnings of packages, which name the files they come from."""
    written = path.read_text("utf-8")
    assert re.findall(r"/(?:tmp|home|root|work|usr|opt)/\S+|site-packages|Warning", written) == []


@each_tutorial
def test_it_is_short_and_leads_to_your_own_files(path: Path) -> None:
    cells = notebooks.read(path).cells
    assert 5 <= sum(cell.cell_type == "code" for cell in cells) <= 12
    assert "With your own" in cells[-1].source


@each_tutorial
def test_its_text_is_a_page(path: Path, tmp_path: Path) -> None:
    notebook = json.loads(path.read_text("utf-8"))
    for cell in notebook["cells"]:
        cell["outputs"] = []
    written = site.markdown(notebook)
    for faults in (faults_of_code, faults_of_headings, faults_of_tables, faults_of_text):
        assert faults(written) == []
    for link in re.findall(r"\]\((\.\./[^)#]+)", written):
        assert (path.parent / link).exists(), link
    page = tmp_path / "page.md"
    page.write_text(written, "utf-8")
    options_exist(page)


def test_the_index_names_all() -> None:
    index = (DOCS / "tutorials" / "README.md").read_text("utf-8")
    assert [path.name for path in notebooks.tutorials() if f"({path.name})" not in index] == []
