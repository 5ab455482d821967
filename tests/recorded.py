"""Long runs write what they measured into a page, between ``<!-- NAME -->`` and ``<!-- end NAME
-->``, so that no figure there was typed by hand."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "reliability.md"


def record(name: str, lines: Iterable[str], page: Path = PAGE) -> None:
    text, body = page.read_text("utf-8"), "\n".join(lines)
    marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
    if not marked.search(text):
        raise ValueError(f"{page} has no place <!-- {name} --> … <!-- end {name} -->")
    page.write_text(marked.sub(lambda found: f"{found[1]}\n{body}\n\n{found[2]}", text), "utf-8")


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    """A table of which the first column is text and the others are numbers."""
    names = list(head)
    rule = "|".join(["---", *["--:"] * (len(names) - 1)])
    return [f"| {' | '.join(names)} |", f"|{rule}|", *(_row(row) for row in rows)]


def _row(values: Iterable[object]) -> str:
    return f"| {' | '.join(f'{v:,}' if isinstance(v, int) else str(v) for v in values)} |"
