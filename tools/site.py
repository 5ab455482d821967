"""The pages of the site: what ``make docs`` gives to MkDocs (or Zensical) as their folder.

The pages link to each other as they stand in the repository, so the folder has the same layout, and
links stay as they are; only the tutorials are notebooks there and pages here. The API reference is
made here, because the lines that mkdocstrings reads (``::: neardup.dedup``) would mean nothing to a
reader of the repository.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

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
    for notebook in sorted((target / "docs" / "tutorials").glob("*.ipynb")):
        shown = markdown(json.loads(notebook.read_text("utf-8")))
        notebook.with_suffix(".md").write_text(shown, "utf-8")
    for page in target.rglob("*.md"):
        page.write_text(page.read_text("utf-8").replace(".ipynb)", ".md)"), "utf-8")


def markdown(notebook: dict[str, Any]) -> str:
    """A notebook as a page: its text, its code, and below each cell what it shows."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        else:
            parts += _code(source), *map(_output, cell["outputs"])
    return "\n\n".join(parts) + "\n"


def _code(source: str) -> str:
    """Code as a reader types it: a cell of shell commands without the word that makes it one."""
    language, code = ("sh", source[7:]) if source.startswith("%%bash\n") else ("python", source)
    return f"```{language}\n{code}\n```"


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if svg := data.get("image/svg+xml"):  # as a picture: its styles are not those of the page
        picture = base64.b64encode("".join(svg).encode()).decode()
        return f'<img alt="The figure" src="data:image/svg+xml;base64,{picture}">'
    if html := data.get("text/html"):
        page = "".join(html).replace(' border="1" class="dataframe"', "")  # the look of the site
        return re.sub(r"\n\s*\n", "\n", page)  # a blank line would end the block
    return "```text\n" + "".join(data.get("text/plain") or output["text"]).strip("\n") + "\n```"


def reference() -> str:
    sys.path.insert(0, str(ROOT / "src"))
    import neardup  # loads nothing that would have to be installed

    return "\n".join([API_HEAD, *(f"::: neardup.{name}\n" for name in sorted(neardup._HOMES))])


if __name__ == "__main__":
    copied()
