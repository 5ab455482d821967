"""The site has every page, and nothing of it is fetched from elsewhere. No test builds it:
`make docs` does, and stops at a link that leads nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

import neardup as nd
from pages import PAGES, ROOT
from tools import notebooks, site

CONFIGURATION = (ROOT / "mkdocs.yml").read_text("utf-8")


def configuration() -> dict[str, Any]:
    return dict(yaml.safe_load(CONFIGURATION))


def listed(entry: Any) -> Iterator[str]:
    """The pages of the navigation, however deep."""
    if isinstance(entry, str):
        yield entry
        return
    for inner in entry.values() if isinstance(entry, dict) else entry:
        yield from listed(inner)


def test_every_page_is_in_the_navigation_once() -> None:
    tutorials = [path.with_suffix(".md") for path in notebooks.tutorials()]
    pages = [page.relative_to(ROOT).as_posix() for page in [*PAGES, *tutorials]]
    assert sorted(listed(configuration()["nav"])) == sorted([*pages, site.API.as_posix()])


def test_the_folder_of_pages_has_all_that_the_site_names(tmp_path: Path) -> None:
    site.copied(tmp_path / "pages")
    made = configuration()
    named = [*listed(made["nav"]), *made["extra_css"], *made["extra"]["polyfills"], "LICENSE"]
    assert [name for name in named if not (tmp_path / "pages" / name).is_file()] == []
    reference = (tmp_path / "pages" / site.API).read_text("utf-8")
    documented = {*re.findall(r"^::: neardup\.(\w+)$", reference, re.MULTILINE)}
    assert {*nd.__all__} - {"__version__"} <= documented
    assert (ROOT / made["docs_dir"]) == site.PAGES


def test_the_list_for_language_models_names_pages_that_exist(tmp_path: Path) -> None:
    site.copied(tmp_path)
    for place, suffix in ((ROOT / "docs", ".md"), (tmp_path, ".html")):
        named = re.findall(r"\]\(([^)]+)\)", (place / site.LLMS).read_text("utf-8"))
        assert named
        pages = [place / Path(name).with_suffix(".md") for name in named if name.endswith(suffix)]
        assert len(pages) == len(named)
        assert [page for page in pages if not page.exists()] == []


def test_nothing_is_fetched_from_elsewhere() -> None:
    """The theme takes fonts from Google, and the plugin offline a script, unless told otherwise."""
    made = configuration()
    assert made["theme"]["font"] is False
    assert any("iframe-worker" in script for script in made["extra"]["polyfills"])
    assert "://" not in CONFIGURATION
