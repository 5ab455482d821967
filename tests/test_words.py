"""What people read has no private words, and is spelt right.

The field's words take the place of ours wherever somebody may meet neardup for the first time: in
help texts, messages, pages of the review, docs and docstrings of the public names. The glossary
explains ours, and decisions and the changelog, which are records, may use them.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import neardup as nd
from cli.every import every_command
from pages import DOCS, PAGES, ROOT
from test_docs import help_text
from tools import notebooks

# A private word, and what a stranger understands.
WORDS = {
    r"valleys?": "a gap in the scores",
    r"traps?": "a decoy, or what is misleading",
    r"stand(?:s|ing)? out": "is unusually similar",
    r"lone(?! surrogate)": "unique, or what one document alone has",
    r"faint": "low-scoring",
    r"set(?:s|ting)?[ -]aside": "is a duplicate of",
    r"(?:a|the|its|any|best|moved|plain|to) cuts?": "a threshold",
}
PRIVATE = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`|\]\([^)]*\)|<!--.*?-->", re.MULTILINE | re.DOTALL)
RECORDS = {DOCS / "glossary.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"}
SOURCES = ROOT / "src" / "neardup"
# A summary that begins so is a fragment: it leaves out the noun that the function returns.
FRAGMENT = re.compile(r"(?:Of|By|Who|Into|With|As|From|To|On|Those of)\b")
HOLDERS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def private(text: str) -> list[str]:
    """The private words in a text, each with the words around it."""
    prose = CODE.sub(" ", text)
    return [prose[max(0, m.start() - 40) : m.end() + 40] for m in PRIVATE.finditer(prose)]


def prose_pages() -> list[Path]:
    return [page for page in PAGES if page not in RECORDS and page.parent.name != "decisions"]


def messages(path: Path) -> Iterator[str]:
    """All texts in a module that have several words, without docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    explained = {
        ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, HOLDERS)
    }
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and " " in text.strip() and text not in explained:
            yield text


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """The docstrings of a module, each with its line."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, HOLDERS) and (text := ast.get_docstring(node)):
            yield node.body[0].lineno, text


@pytest.mark.parametrize("page", prose_pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_use_the_words_of_the_field(page: Path) -> None:
    assert private(page.read_text("utf-8")) == []


@pytest.mark.parametrize("path", notebooks.tutorials(), ids=lambda path: path.stem)
def test_tutorials_use_the_words_of_the_field(path: Path) -> None:
    cells = [cell.source for cell in notebooks.read(path).cells if cell.cell_type == "markdown"]
    assert private("\n\n".join(cells)) == []


def test_help_uses_the_words_of_the_field() -> None:
    assert {name: found for name in every_command() if (found := private(help_text(name)))} == {}


def test_messages_use_the_words_of_the_field() -> None:
    found = {
        path.relative_to(SOURCES).as_posix(): words
        for path in sorted(SOURCES.rglob("*.py"))
        if (words := [word for text in messages(path) for word in private(text)])
    }
    assert found == {}


def test_templates_use_the_words_of_the_field() -> None:
    for path in sorted((SOURCES / "web" / "templates").rglob("*.html")):
        assert private(re.sub(r"\{[{%].*?[%}]\}", " ", path.read_text("utf-8"))) == [], path.name


def test_public_names_are_explained_in_the_words_of_the_field() -> None:
    for name in nd.__all__:
        assert private(inspect.getdoc(getattr(nd, name)) or "") == [], name


def test_docstrings_begin_with_what_is_returned_or_done() -> None:
    fragments = [
        f"{path.relative_to(ROOT).as_posix()}:{line}: {text.splitlines()[0]}"
        for path in sorted(SOURCES.rglob("*.py"))
        for line, text in docstrings(path)
        if FRAGMENT.match(text)
    ]
    assert not fragments, (
        "These docstrings begin with a fragment. Begin with a noun phrase for what is returned "
        '("The …", "How many …", "Whether …") or with a verb ("Returns …", "Writes …"):\n'
        + "\n".join(fragments)
    )


def test_spelling() -> None:
    """Pages, tutorials and all texts of the package are spelt right."""
    places = [*ROOT.glob("*.md"), DOCS, ROOT / "examples" / "README.md", SOURCES, ROOT / "tools"]
    command = [
        sys.executable,
        "-m",
        "codespell_lib",
        "--toml",
        str(ROOT / "pyproject.toml"),
        *places,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stdout == ""
    cells = [cell.source for path in notebooks.tutorials() for cell in notebooks.read(path).cells]
    done = subprocess.run(
        [*command[:5], "-"], input="\n".join(cells), capture_output=True, text=True, check=False
    )
    assert done.stdout == ""
