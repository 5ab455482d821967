"""Two texts on a terminal: side by side where it is wide enough, else one passage a line.

Red is in the first only, green in the second only, cyan was moved; without colours the marks of
wdiff stand for them. Widths are counted in cells, so wide characters do not break the columns; a
terminal turns lines with right-to-left text by itself, so such texts are never set in columns.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from neardup.names import shortened
from neardup.outputs.sidebyside import plain
from neardup.outputs.sidebyside.rows import (
    BETWEEN,
    DIFFERS,
    MOVED,
    SHARED,
    Fold,
    Piece,
    Row,
    left_out,
    rows,
)
from neardup.outputs.sidebyside.visible import flowed, visible
from neardup.text.alignment import Alignment, Span

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

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
    most: int | None = plain.MOST_LINES,
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
        for line in plain.lines(a, b, alignment, most=most)
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
        self._places = plain.Places(a, b)
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
        text, size, half = self._texts[side], span.end - span.begin, plain.MOST_PIECE // 2
        if size > plain.MOST_PIECE:
            head, tail = text[span.begin : span.begin + half], text[span.end - half : span.end]
            return f"{_calm(head)} … {size - 2 * half:,} characters … {_calm(tail)}"
        return _calm(text[span.begin : span.end])


def _calm(text: str) -> str:
    return re.sub(r"\n\s*\n", "\n\n", re.sub(r"[ \t]+", " ", visible(text)))
