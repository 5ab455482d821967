"""The pages of the site: what ``make docs`` gives to MkDocs (or Zensical) as their folder.

The pages link to each other as they stand in the repository, so the folder has the same layout, and
no link is rewritten. The one page that is made here is the API reference, because the lines that
mkdocstrings reads (``::: neardup.dedup``) would mean nothing to a reader of the repository.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build" / "pages"  # docs_dir of mkdocs.yml
API = Path("docs") / "api.md"
LLMS = "llms.txt"  # looked for at the root of a site
API_HEAD = """\
# API reference

This page is made from the docstrings of the code. [Python API](python-api.md) explains the same \
names with examples.
"""


def copied(target: Path = PAGES) -> None:
    """All pages of the repository, and what they show and link to."""
    shutil.rmtree(target, ignore_errors=True)
    for folder in ("docs", "examples"):
        shutil.copytree(ROOT / folder, target / folder)
    for file in (*ROOT.glob("*.md"), ROOT / "LICENSE"):
        shutil.copy2(file, target)
    listed = (ROOT / "docs" / LLMS).read_text("utf-8").replace("](", "](docs/")
    (target / LLMS).write_text(listed.replace(".md)", ".html)"), "utf-8")
    (target / API).write_text(reference(), "utf-8")


def reference() -> str:
    sys.path.insert(0, str(ROOT / "src"))
    import neardup  # loads nothing that would have to be installed

    return "\n".join([API_HEAD, *(f"::: neardup.{name}\n" for name in sorted(neardup._HOMES))])


if __name__ == "__main__":
    copied()
