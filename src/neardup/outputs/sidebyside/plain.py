"""Two texts as lines for a narrow terminal, a pipe or a log: one passage a line, no colours.

``-`` is in the first text only, ``+`` in the second only, ``<`` and ``>`` stand where a moved
passage was in the first and is in the second. Before it stands where it begins in its text, as
line:column, both from 1. Lines do not depend on the width of a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from neardup.outputs.sidebyside.rows import BETWEEN, MOVED, SHARED, Fold, Piece, Row, left_out, rows
from neardup.outputs.sidebyside.visible import flowed
from neardup.text.alignment import Alignment, Span

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
    places = Places(a, b)
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
    return [Line(sign, shortened(text, span), side, span.begin) for sign, span in whole]


def _on(text: str, between: Span) -> int:
    """Where the first white space is."""
    found = _SPACE.search(text, between.begin, between.end)
    return found.start() if found else between.end


def _back(text: str, after: int, passage: Span) -> int:
    """Where the text begins that stands before a passage and belongs to nothing else."""
    found = _NO_SPACE.search(text, after, passage.begin)
    return found.start() if found else passage.begin


def shortened(text: str, span: Span) -> str:
    size, half = span.end - span.begin, MOST_PIECE // 2
    if size <= MOST_PIECE + half // 2:  # to leave out less is not worth a cut
        return flowed(text[span.begin : span.end])
    head, tail = text[span.begin : span.begin + half], text[span.end - half : span.end]
    return f"{flowed(head)} … {size - 2 * half:,} characters … {flowed(tail)}"


class Places:
    """Characters → line:column, cheap where they are asked for in order."""

    def __init__(self, a: str, b: str) -> None:
        self._texts = a, b
        self._seen = [(0, 1), (0, 1)]

    def of(self, side: int, begin: int) -> str:
        text, (at, line) = self._texts[side], self._seen[side]
        if begin < at:
            at, line = 0, 1
        line += text.count("\n", at, begin)
        self._seen[side] = begin, line
        column = begin - text.rfind("\n", 0, begin)
        return f"{line}:{column}"
