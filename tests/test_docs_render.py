"""Every page renders: a CommonMark parser reads it as its writer meant it.

Fences are closed, tables keep their cells, headings stay headings, links and pictures lead
somewhere, and no mark of Markdown is left in the text that a reader sees.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from pages import each_page

LANGUAGES = {"bash", "console", "json", "py", "python", "sh", "text", "toml", "yaml"}
LEFT_OVER = re.compile(r"\*|`|\]\(|\]\[|!\[|^#+ |^\| | \|$|<!--|-->")
CELL_END = re.compile(r"(?<!\\)\|")
SWALLOWED = re.compile(r"^(?:##+ |```|\|[ :-]*-{3}|<!--)", re.MULTILINE)


def tokens(page: Path) -> list[Token]:
    return parsed(page.read_text("utf-8"))


@cache
def parsed(source: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(source)


def inlines(found: list[Token]) -> Iterator[Token]:
    """What stands in paragraphs, headings and cells, piece by piece."""
    for token in found:
        yield from token.children or ()


def headings(found: list[Token]) -> list[tuple[int, str]]:
    """Level and text of every heading, the text without marks."""
    return [
        (int(token.tag[1:]), "".join(piece.content for piece in found[i + 1].children or ()))
        for i, token in enumerate(found)
        if token.type == "heading_open"
    ]


def anchors(found: list[Token]) -> set[str]:
    """The names that GitHub gives to headings; the second of a name gets -1."""
    seen: Counter[str] = Counter()
    made = set()
    for _, heading in headings(found):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        made.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return made


def faults_of_code(source: str) -> list[str]:
    """Blocks of code that are not closed, not named, or hold what was meant as text."""
    lines, faults = source.splitlines(), []
    for token in parsed(source):
        if token.type == "code_block" and token.map:
            faults.append(f"line {token.map[0] + 1}: code by indentation")
        if token.type != "fence" or not token.map:
            continue
        first, end = token.map
        if lines[end - 1].strip() != token.markup or end - first < 2:
            faults.append(f"line {first + 1}: the fence is never closed")
        if token.info not in LANGUAGES:
            faults.append(f"line {first + 1}: {token.info!r} is no known language")
        if swallowed := SWALLOWED.search(token.content):
            faults.append(f"line {first + 1}: the code holds {swallowed[0]!r}")
    return faults


def faults_of_tables(source: str) -> list[str]:
    """Rows with more or fewer cells than the head: a parser cuts or fills them without a word."""
    lines, faults = source.splitlines(), []
    for token in parsed(source):
        if token.type != "table_open" or not token.map:
            continue
        first, end = token.map
        cells = len(CELL_END.findall(lines[first]))
        faults += [
            f"line {i + 1}: not {cells - 1} cells"
            for i in range(first, end)
            if len(CELL_END.findall(lines[i])) != cells
        ]
    return faults


def faults_of_text(source: str) -> list[str]:
    """Marks that a reader would see as they are, and HTML that is no comment."""
    found = parsed(source)
    faults = [
        piece.content
        for piece in inlines(found)
        if piece.type == "text" and LEFT_OVER.search(piece.content)
    ]
    html = [t for t in [*found, *inlines(found)] if t.type in ("html_block", "html_inline")]
    return faults + [t.content for t in html if not t.content.startswith("<!--")]


def faults_of_headings(source: str) -> list[str]:
    levels = headings(parsed(source))
    faults = [text for level, text in levels[1:] if level == 1]
    if [level for level, _ in levels[:1]] != [1]:
        faults.append("the page does not begin with its title")
    return faults + [
        f"{text}: level {level} after {before}"
        for (before, _), (level, text) in pairwise(levels)
        if level > before + 1
    ]


@each_page
def test_code_is_closed_and_named(page: Path) -> None:
    assert faults_of_code(page.read_text("utf-8")) == []


@each_page
def test_rows_have_the_cells_of_their_head(page: Path) -> None:
    assert faults_of_tables(page.read_text("utf-8")) == []


@each_page
def test_no_mark_is_left_in_the_text(page: Path) -> None:
    assert faults_of_text(page.read_text("utf-8")) == []


@each_page
def test_headings_go_down_step_by_step(page: Path) -> None:
    assert faults_of_headings(page.read_text("utf-8")) == []


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    for piece in inlines(tokens(page)):
        if piece.type != "link_open" or re.match("https?://", link := str(piece.attrs["href"])):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(tokens(target)), link


@each_page
def test_pictures_are_there_and_described(page: Path) -> None:
    for piece in inlines(tokens(page)):
        if piece.type == "image":
            assert (page.parent / str(piece.attrs["src"])).is_file(), piece.attrs["src"]
            assert piece.content.strip(), f"{piece.attrs['src']} needs words beside it"


@pytest.mark.parametrize(
    ("faults", "source"),
    [
        (faults_of_code, "# A\n\n```text\nsome output\n\n## Swallowed\n"),
        (faults_of_code, "# A\n\n```text\nsome output\n\n## B\n\n```sh\nls\n```\n"),
        (faults_of_code, "# A\n\n```\nls\n```\n"),
        (faults_of_code, "# A\n\n    ls\n"),
        (faults_of_tables, "| a | b |\n|---|---|\n| 1 | 2 | 3 |\n"),
        (faults_of_tables, "| a | b |\n|---|---|\n| 1 |\n"),
        (faults_of_text, "A **word and** more** stars.\n"),
        (faults_of_text, "[text] (page.md) and [text](a page.md)\n"),
        (faults_of_text, "a `tick that never ends\n"),
        (faults_of_text, "| a | b |\n|---|\n| 1 | 2 |\n"),
        (faults_of_text, "<b>bold</b>\n"),
        (faults_of_headings, "# A\n\n### C\n"),
        (faults_of_headings, "# A\n\n# B\n"),
        (faults_of_headings, "## B\n"),
    ],
)
def test_what_does_not_render_is_seen(faults: object, source: str) -> None:
    assert callable(faults)
    assert faults(source)
