"""Two texts on a terminal: side by side where it is wide enough, else one passage a line.

In lines, ``-`` marks a passage of the first text only, ``+`` of the second only, ``<`` and ``>`` a
moved passage in the first and in the second. Each line begins with the place of the passage in its
text, as line:column, both from 1. Lines do not depend on the width of a terminal.

In columns, red is in the first text only, green in the second only, cyan was moved; without colours
the marks of wdiff are used. Widths are counted in cells, so wide characters do not break the
columns. A terminal turns lines with right-to-left text by itself, so such texts are never set in
columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from neardup.report.side_by_side import (
    BETWEEN,
    DIFFERS,
    MOVED,
    SHARED,
    Fold,
    Piece,
    Places,
    Row,
    flowed,
    left_out,
    rows,
)
from neardup.text.alignment import Alignment, Span
from neardup.wording import shortened, visible

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

MOST_LINES = 200
MOST_PIECE = 600  # characters of a line; more are cut in the middle
SIGNS = {SHARED: "  ", MOVED: "<>"}
UNLIKE = "-+"
_SPACE, _NO_SPACE = re.compile(r"\s"), re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class Line:
    """``side`` says in which text ``begin`` counts characters."""

    sign: str
    text: str
    side: int
    begin: int


def lines(a: str, b: str, alignment: Alignment, *, most: int | None = MOST_LINES) -> list[str]:
    """At most ``most`` of them (None for all) and one that says what was left out."""
    found = list(islice(passage_lines(a, b, alignment), None if most is None else most + 1))
    shown = found[:most]
    places = Places((a, b))
    where = [places.of(line.side, line.begin) for line in shown]
    width = max(map(len, where), default=0)
    told = [f"{at:>{width}} {line.sign} {line.text}" for at, line in zip(where, shown, strict=True)]
    if len(found) > len(shown):
        last = found[len(shown)]
        told.append(left_out(alignment, last.side, last.begin))
    return told


def passage_lines(a: str, b: str, alignment: Alignment) -> Iterator[Line]:
    pending: Line | None = None  # a shared passage goes on after a fold
    folded = False
    for one in rows(a, b, alignment):
        if isinstance(one, Fold):
            if pending:
                pending = replace(pending, text=f"{pending.text} … {one.words:,} words …")
            folded = True
            continue
        for line in _row_lines(a, b, one):
            if folded and pending and line.sign == pending.sign == " ":
                pending = replace(pending, text=f"{pending.text} {line.text}")
            else:
                if pending:
                    yield pending
                pending = line
            folded = False
    if pending:
        yield pending


def _row_lines(a: str, b: str, row: Row) -> Iterator[Line]:
    """What is unlike in the first before what is unlike in the second, up to the next shared."""
    left, right = _joined(a, 0, row.a), _joined(b, 1, row.b)
    while left or right:
        for side in (left, right):
            while side and side[0].sign != " ":
                yield side.pop(0)
        if left:
            yield left.pop(0)
        if right:
            right.pop(0)  # the same words


def _joined(text: str, side: int, pieces: tuple[Piece, ...]) -> list[Line]:
    """What stands between two passages goes to the first up to white space, then to the second."""
    whole: list[tuple[str, Span]] = []
    for piece in pieces:
        if piece.how != BETWEEN:
            begin = _back(text, whole[-1][1].end if whole else pieces[0].span.begin, piece.span)
            whole.append((SIGNS.get(piece.how, UNLIKE)[side], Span(begin, piece.span.end)))
        elif whole:
            sign, span = whole[-1]
            whole[-1] = sign, Span(span.begin, _on(text, piece.span))
    if whole:
        sign, span = whole[-1]
        whole[-1] = sign, Span(span.begin, pieces[-1].span.end)
    elif pieces:
        whole = [(UNLIKE[side], pieces[0].span)]
    return [Line(sign, shortened_span(text, span), side, span.begin) for sign, span in whole]


def _on(text: str, between: Span) -> int:
    """Where the first white space is."""
    found = _SPACE.search(text, between.begin, between.end)
    return found.start() if found else between.end


def _back(text: str, after: int, passage: Span) -> int:
    """Where the text begins that stands before a passage and belongs to nothing else."""
    found = _NO_SPACE.search(text, after, passage.begin)
    return found.start() if found else passage.begin


def shortened_span(text: str, span: Span) -> str:
    size, half = span.end - span.begin, MOST_PIECE // 2
    if size <= MOST_PIECE + half // 2:  # to leave out less is not worth a cut
        return flowed(text[span.begin : span.end])
    head, tail = text[span.begin : span.begin + half], text[span.end - half : span.end]
    return f"{flowed(head)} … {size - 2 * half:,} characters … {flowed(tail)}"


WIDE = 100  # columns from which two texts stand side by side
COLOURS = {"-": "red", "+": "green", "<": "cyan", ">": "cyan"}
WDIFF = {DIFFERS: (("[-", "-]"), ("{+", "+}")), MOVED: (("<<", ">>"), ("<<", ">>"))}
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def show(
    console: Console,
    a: str,
    b: str,
    alignment: Alignment,
    *,
    names: tuple[str, str] = ("first", "second"),
    most: int | None = MOST_LINES,
) -> None:
    if console.width >= WIDE and not (_RIGHT_TO_LEFT.search(a) or _RIGHT_TO_LEFT.search(b)):
        console.print(columns(a, b, alignment, console, names=names, most=most))
        return
    for line in _coloured(a, b, alignment, most):
        console.print(line, soft_wrap=True)


def _coloured(a: str, b: str, alignment: Alignment, most: int | None) -> list[Text]:
    from rich.text import Text

    signed = re.compile(r" *\d+:\d+ ([-+<>]) ")
    return [
        Text(line, style=COLOURS[found[1]] if (found := signed.match(line)) else "")
        for line in lines(a, b, alignment, most=most)
    ]


def columns(
    a: str,
    b: str,
    alignment: Alignment,
    console: Console,
    *,
    names: tuple[str, str],
    most: int | None,
) -> RenderableType:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=box.MINIMAL, show_edge=False, pad_edge=False, expand=True, header_style="bold"
    )
    for name in map(shortened, names):
        table.add_column(Text(flowed(name)), ratio=1, overflow="fold")
    cells = _Cells(a, b, marks=console.no_color)
    width, used = (console.width - 3) // 2, 0
    for one in rows(a, b, alignment):
        if most is not None and used >= most:
            said = left_out(alignment, 0, one.starts[0])
            table.add_row(*[Text(said, style="dim")] * 2)
            break
        left, right = cells.fold(one) if isinstance(one, Fold) else cells.row(one)
        table.add_row(left, right)
        used += max(_height(left, width), _height(right, width))
    return table


def _height(text: Text, width: int) -> int:
    return sum(1 + line.cell_len // width for line in text.split("\n"))


class _Cells:
    def __init__(self, a: str, b: str, *, marks: bool) -> None:
        self._texts = a, b
        self._marks = marks
        self._places = Places((a, b))
        self._folded = True  # a row at the start, or after a fold, says where it stands

    def row(self, row: Row) -> tuple[Text, Text]:
        left, right = (self._cell(side, pieces) for side, pieces in enumerate((row.a, row.b)))
        self._folded = False
        return left, right

    def fold(self, fold: Fold) -> tuple[Text, Text]:
        from rich.text import Text

        self._folded = True
        told = Text(f"… {fold.words:,} words alike …", style="dim", justify="center")
        return told, told

    def _cell(self, side: int, pieces: tuple[Piece, ...]) -> Text:
        from rich.text import Text

        cell = Text()
        if self._folded and pieces:
            cell.append(f"{self._places.of(side, pieces[0].span.begin)}\n", style="dim")
        for piece in pieces:
            before, after = (
                WDIFF[piece.how][side] if self._marks and piece.how in WDIFF else ("", "")
            )
            cell.append(f"{before}{self._text(side, piece.span)}{after}", self._style(side, piece))
        cell.rstrip()
        return cell[len(cell.plain) - len(cell.plain.lstrip()) :]

    def _style(self, side: int, piece: Piece) -> str:
        if piece.how in (SHARED, BETWEEN):
            return ""
        return "cyan" if piece.how == MOVED else ("red", "green")[side]

    def _text(self, side: int, span: Span) -> str:
        """White space as it is, blank lines at most one; long pieces are cut in the middle."""
        text, size, half = self._texts[side], span.end - span.begin, MOST_PIECE // 2
        if size > MOST_PIECE:
            head, tail = text[span.begin : span.begin + half], text[span.end - half : span.end]
            return f"{_calm(head)} … {size - 2 * half:,} characters … {_calm(tail)}"
        return _calm(text[span.begin : span.end])


def _calm(text: str) -> str:
    return re.sub(r"\n\s*\n", "\n\n", re.sub(r"[ \t]+", " ", visible(text)))
