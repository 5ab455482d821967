"""Long runs write what they measured into a page, between ``<!-- NAME -->`` and ``<!-- end NAME
-->``, so that no figure there was typed by hand."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "reliability.md"
SUMMARY = PAGE.with_name("how-good.md")


def record(name: str, lines: Iterable[str], page: Path = PAGE) -> None:
    page.write_text(written(page, name, lines), "utf-8")
    if page == PAGE:
        SUMMARY.write_text(written(SUMMARY, "sure", summary(page.read_text("utf-8"))), "utf-8")


def written(page: Path, name: str, lines: Iterable[str]) -> str:
    """The page with these lines in the place of that name."""
    text, body = page.read_text("utf-8"), "\n".join(lines)
    marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
    if not marked.search(text):
        raise ValueError(f"{page} has no place <!-- {name} --> … <!-- end {name} -->")
    return marked.sub(lambda found: f"{found[1]}\n{body}\n\n{found[2]}", text)


def summary(page: str) -> list[str]:
    """What docs/how-good.md shows of the tables of docs/reliability.md."""
    faults, load = _rows(page, "faults"), _rows(page, "load")
    rows = [
        [f"fuzzing: inputs of {target}", inputs, f"{failures} failed"]
        for target, (inputs, *_, failures) in [*_rows(page, "fuzz").items()][2:]
    ]
    points = sum(int(count.replace(",", "")) for count in faults["all"])
    (added,), (lost,) = load["documents acknowledged"], load["acknowledged documents lost"]
    kept = "nothing acknowledged was lost, nothing half-written was seen"
    rows += [
        ["failing disks and memory, kills, power cuts: points", f"{points:,}", kept],
        ["days of a flow with kills: documents acknowledged", added, f"{lost} lost"],
    ]
    return ["| what was done | how often | what came of it |", "|---|--:|---|", *map(_row, rows)]


def _rows(page: str, name: str) -> dict[str, list[str]]:
    """The cells behind the first one of each row of a table that was recorded."""
    marked = re.search(rf"<!-- {name} -->\n(.*?)<!-- end {name} -->", page, re.DOTALL)
    assert marked, name
    rows = [line.strip("| ").split("|") for line in marked[1].splitlines() if line[:1] == "|"]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in rows}


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    """A table of which the first column is text and the others are numbers."""
    names = list(head)
    rule = "|".join(["---", *["--:"] * (len(names) - 1)])
    return [f"| {' | '.join(names)} |", f"|{rule}|", *(_row(row) for row in rows)]


def _row(values: Iterable[object]) -> str:
    return f"| {' | '.join(f'{v:,}' if isinstance(v, int) else str(v) for v in values)} |"
