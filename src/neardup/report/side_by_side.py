"""Two aligned texts as rows for people: what both share is level, long shared passages are folded.

A long shared passage gives its first and last characters to the rows around it, and the rest is a
fold. Punctuation and space between two passages belong to neither and are shown as they are. Rows
are made one by one, so that showing only the first of them costs only these.

``visible`` makes hostile texts harmless before they reach a terminal or a page. A terminal obeys
escapes, a browser turns the reading direction at a bidi control (Boucher & Anderson 2021, "Trojan
Source"), an unpaired surrogate cannot be written at all. C0 controls become their pictures (␛), all
others their code point (⟨202E⟩). Tabs, line breaks and joiners stay: without joiners Persian, Hindi
and emoji would break.

``fragment`` shows the rows as HTML on any page; ``comparison_page`` and ``explanation_page`` are
whole pages about one pair. Everything of the texts is escaped and made visible, so a document can
neither end the page nor turn it round. What is shown is bounded by ``most`` characters, and a last
line says what was left out. A page with a fragment needs the style ``side_by_side``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from neardup.classes import dataclass
from neardup.report.html_page import Table, folded, html, page, table_html
from neardup.schema import DUPLICATE
from neardup.text.alignment import Alignment, Passage, Span
from neardup.text.words import words
from neardup.wording import score_text, shortened, visible

if TYPE_CHECKING:
    from neardup.runs.comparison import Comparison
    from neardup.runs.explanation import Explanation

CONTEXT = 60  # characters of a shared passage beside what differs
ROW = 1_000  # characters of both sides from which a row ends at the next shared passage
TILT = 200  # characters that one side may have more than the other before a row ends
_TRAILING = re.compile(r"\S*\s*")
_NEAR = 20  # a cut looks so far for white space

SHARED, MOVED, DIFFERS, BETWEEN = "shared", "moved", "differs", "between"


class Piece(NamedTuple):
    """A stretch of one text; ``move`` counts the moved passages from 1, 0 for all others."""

    how: str
    span: Span
    move: int = 0


class Fold(NamedTuple):
    """The middle of a shared passage, with its words."""

    a: Span
    b: Span
    words: int

    @property
    def starts(self) -> tuple[int, int]:
        return self.a.begin, self.b.begin


class Row(NamedTuple):
    """What stands level: the pieces of either text, in order."""

    a: tuple[Piece, ...]
    b: tuple[Piece, ...]

    @property
    def starts(self) -> tuple[int, int]:
        return self.a[0].span.begin if self.a else 0, self.b[0].span.begin if self.b else 0


def rows(a: str, b: str, alignment: Alignment) -> Iterator[Row | Fold]:
    """All of both texts, in order."""
    builder = _Builder((a, b))
    for unlike, shared in _stretches(alignment.passages):
        if sum(builder.sizes) > ROW:
            yield builder.row(_next(unlike, shared))
        builder.add(*unlike)
        if shared is None:
            break
        if abs(builder.sizes[0] - builder.sizes[1]) > TILT:
            yield builder.row((shared.a.begin, shared.b.begin))
        if (parts := _parts(a, b, shared)) is None:
            builder.add([Piece(SHARED, shared.a)], [Piece(SHARED, shared.b)])
            continue
        head, fold, tail = parts
        builder.add(*([Piece(SHARED, span)] for span in head))
        yield builder.row()
        yield fold
        builder.at = [fold.a.end, fold.b.end]
        builder.add(*([Piece(SHARED, span)] for span in tail))
    builder.fill(0, len(a))
    builder.fill(1, len(b))
    if any(builder.sizes):
        yield builder.row()


def _next(unlike: Sequence[Sequence[Piece]], shared: Passage | None) -> tuple[int, int] | None:
    """Where the next passage begins on either side; None at the end."""
    if shared is None:
        return None
    first = [pieces[0].span.begin if pieces else None for pieces in unlike]
    return (
        shared.a.begin if first[0] is None else first[0],
        shared.b.begin if first[1] is None else first[1],
    )


def left_out(alignment: Alignment, side: int, after: int) -> str:
    """What is said instead of the passages that begin there or later in one of the texts."""
    more = sum((passage.a, passage.b)[side].begin >= after for passage in alignment.passages)
    return f"… and {more:,} more passages" if more > 1 else "… and more"


def _stretches(
    passages: Sequence[Passage],
) -> Iterator[tuple[list[list[Piece]], Passage | None]]:
    """For each passage that is shared in order, and for the end: what is unlike before it, as the
    pieces of either side in the order of that side."""
    moves = [*accumulate(passage.how == MOVED for passage in passages)]
    sides = [
        sorted(
            (
                Piece(passage.how, (passage.a, passage.b)[i], move if passage.how == MOVED else 0)
                for passage, move in zip(passages, moves, strict=True)
                if passage.how != SHARED and passage.words[i]
            ),
            key=lambda piece: piece.span,
        )
        for i in (0, 1)
    ]
    at = [0, 0]
    anchors = [passage for passage in passages if passage.how == SHARED]
    for anchor in [*anchors, None]:
        before: list[list[Piece]] = []
        for i, side in enumerate(sides):
            begin = at[i]
            while at[i] < len(side) and (
                anchor is None or side[at[i]].span < (anchor.a, anchor.b)[i]
            ):
                at[i] += 1
            before.append(side[begin : at[i]])
        yield before, anchor


@dataclass
class _Builder:
    """The row that is being filled, the ``sizes`` of its sides, and up to where (``at``) both texts
    have been shown."""

    texts: tuple[str, str]
    at: list[int] = field(default_factory=lambda: [0, 0])
    pieces: tuple[list[Piece], list[Piece]] = field(default_factory=lambda: ([], []))
    sizes: list[int] = field(default_factory=lambda: [0, 0])

    def add(self, *sides: Iterable[Piece]) -> None:
        """The pieces of either side, each after what stands before it."""
        for side, pieces in enumerate(sides):
            for piece in pieces:
                self.fill(side, piece.span.begin, piece)

    def fill(self, side: int, end: int, piece: Piece | None = None) -> None:
        """What stands before ``end`` and belongs to no passage, and then ``piece``."""
        between = Piece(BETWEEN, Span(self.at[side], end)) if self.at[side] < end else None
        for shown in filter(None, (between, piece)):
            self.pieces[side].append(shown)
            self.at[side] = shown.span.end
            self.sizes[side] += shown.span.end - shown.span.begin

    def row(self, until: tuple[int, int] | None = None) -> Row:
        """The finished row, with the punctuation and space after its last words, which end before
        ``until``."""
        for side, end in enumerate(until or ()):
            found = _TRAILING.match(self.texts[side], self.at[side], end)
            self.fill(side, found.end() if found else end)
        row = Row(tuple(self.pieces[0]), tuple(self.pieces[1]))
        self.pieces, self.sizes = ([], []), [0, 0]
        return row


Both = tuple[Span, Span]


def _parts(a: str, b: str, passage: Passage) -> tuple[Both, Fold, Both] | None:
    """Head, fold and tail of a shared passage that is long on both sides."""
    x, y = _cuts(a, passage.a), _cuts(b, passage.b)
    if min(x.end - x.begin, y.end - y.begin) < 2 * CONTEXT:
        return None
    head = Span(passage.a.begin, x.begin), Span(passage.b.begin, y.begin)
    tail = Span(x.end, passage.a.end), Span(y.end, passage.b.end)
    shown = len(words(a[head[0].begin : head[0].end])) + len(words(a[tail[0].begin : tail[0].end]))
    return head, Fold(x, y, max(passage.words[0] - shown, 1)), tail


def _cuts(text: str, span: Span) -> Span:
    """What lies between head and tail; both end at white space if some is near."""
    head, tail = span.begin + CONTEXT, span.end - CONTEXT
    begin = next((i for i in range(head, head + _NEAR) if text[i : i + 1].isspace()), head)
    end = next((i for i in range(tail, tail - _NEAR, -1) if text[i - 1 : i].isspace()), tail)
    return Span(begin, end)


@dataclass
class Places:
    """Characters → line:column, cheap where they are asked for in order."""

    texts: tuple[str, str]
    _seen: list[tuple[int, int]] = field(default_factory=lambda: [(0, 1), (0, 1)])

    def of(self, side: int, begin: int) -> str:
        text, (at, line) = self.texts[side], self._seen[side]
        if begin < at:
            at, line = 0, 1
        line += text.count("\n", at, begin)
        self._seen[side] = begin, line
        column = begin - text.rfind("\n", 0, begin)
        return f"{line}:{column}"


def flowed(text: str) -> str:
    """The text on one line: every run of white space is one space."""
    return " ".join(visible(text).split())


MOST = 1_000_000  # characters of both texts in a fragment
MOST_PIECE = 20_000  # of them in one piece; more are cut in the middle
LEVEL = '<div class="nd-row{}"><div dir="auto">{}</div><div dir="auto">{}</div></div>'
# How a piece of either side is marked: its text, and the number of a moved one.
MARKS = {
    SHARED: ("{0}", "{0}"),
    BETWEEN: ("{0}", "{0}"),
    DIFFERS: ("<del>{0}</del>", "<ins>{0}</ins>"),
    MOVED: (
        '<mark title="also in the second text, at a different place: number {1}">'
        "<sup>{1}</sup>{0}</mark>",
        '<mark title="also in the first text, at a different place: number {1}">'
        "<sup>{1}</sup>{0}</mark>",
    ),
}


def fragment(
    a: str,
    b: str,
    alignment: Alignment,
    *,
    names: tuple[str, str] | None = None,
    most: int = MOST,
    folds: bool = True,
) -> str:
    """A ``div`` of class ``nd-pair``. ``names`` stand above the two sides. Without ``folds``,
    what is alike is only counted."""
    writer = _Writer((a, b), Places((a, b)), most, folds)
    head = LEVEL.format(" nd-head", *(html(shortened(name)) for name in names)) if names else ""
    body: list[str] = []
    for one in rows(a, b, alignment):
        if writer.left <= 0:
            said = left_out(alignment, 0, one.starts[0])
            body.append(f'<div class="nd-left">{said}, left out.</div>')
            break
        body.append(writer.fold(one) if isinstance(one, Fold) else writer.row(one))
    if not a and not b:
        body.append('<div class="nd-left">Both texts are empty.</div>')
    return f'<div class="nd-pair">{head}{"".join(body)}</div>'


@dataclass
class _Writer:
    """Counts down what may still be shown (``left``), and knows on which line it is."""

    texts: tuple[str, str]
    places: Places
    left: int
    folds: bool
    folded: bool = True  # a row at the start, or after a fold, says where it stands

    def row(self, row: Row) -> str:
        cells = ["", ""]
        for side, pieces in enumerate((row.a, row.b)):
            if self.folded:
                begin = pieces[0].span.begin if pieces else 0
                cells[side] = f"<small>{self.places.of(side, begin)}</small>"
            for piece in pieces:
                mark = MARKS[piece.how][side]
                cells[side] += mark.format(self._text(side, piece.span), piece.move)
        self.folded = False
        return LEVEL.format("", *cells)

    def fold(self, fold: Fold) -> str:
        self.folded = True
        words = "1 word" if fold.words == 1 else f"{fold.words:,} words"
        if not self.folds:
            return f'<div class="nd-left">… {words} alike …</div>'
        cells = [self._text(side, span) for side, span in enumerate((fold.a, fold.b))]
        return (
            f'<details class="nd-fold"><summary>… {words} alike …</summary>'
            f"{LEVEL.format('', *cells)}</details>"
        )

    def _text(self, side: int, span: Span) -> str:
        text = self.texts[side]
        size = span.end - span.begin
        room = max(min(MOST_PIECE, self.left), 200)
        self.left -= min(size, room)
        if size <= room:
            return html(text[span.begin : span.end])
        half = room // 2
        head, tail = text[span.begin : span.begin + half], text[span.end - half : span.end]
        return f"{html(head)}<small>… {size - 2 * half:,} characters …</small>{html(tail)}"


# The same marks as in the texts, so their colours are those of the fragment.
KEY = (
    '<p class="key nd-pair" style="border:0;background:none;font:inherit;font-size:.85rem">'
    "<del>only in the first</del> <ins>only in the second</ins> "
    "<mark>moved</mark>: in both, at different places, with one number</p>"
)


def comparison_page(compared: Comparison, title: str | None = None) -> str:
    first, second = map(shortened, compared.names)
    return _page(title or f"{first} and {second}", comparison_parts(compared))


def comparison_parts(compared: Comparison) -> list[str]:
    both = fragment(compared.a, compared.b, compared.alignment, names=compared.names)
    measures = folded("All measures", facts_table(compared.measure_facts()))
    return [facts_table(compared.facts()), measures, KEY, both]


def facts_table(facts: Sequence[tuple[str, str]]) -> str:
    rows = (
        f'<tr><th scope="row">{html(name)}</th><td>{html(said)}</td></tr>' for name, said in facts
    )
    return f"<table>{''.join(rows)}</table>"


def _page(title: str, parts: Sequence[str]) -> str:
    return page(title, [f"<h1>{html(title)}</h1>", *parts], "comparison", "side_by_side")


def explanation_page(explained: Explanation) -> str:
    parts = [f"<p>{html(line)}</p>" for line in explained.head(pairs=False)]
    if compared := explained.comparison:
        parts.append(f"<h2>{' and '.join(html(shortened(one)) for one in compared.names)}</h2>")
        parts += comparison_parts(compared)
    if explained.pairs:
        parts += ["<h2>Its pairs, the strongest first</h2>", _pairs(explained)]
    return _page(f"Why {explained.id} {_became(explained.decision)}", parts)


def _pairs(explained: Explanation) -> str:
    rows = [
        (pair.id, score_text(pair.score, pair.kind), pair.kind or "", pair.decision or "reference")
        for pair in explained.pairs
    ]
    more = explained.pair_count - len(rows)
    rows += [(f"… {more:,} more", "", "", "")] if more else []
    return table_html(Table(("document", "score", "kind", "decision"), rows))


def _became(decision: str) -> str:
    return "is a duplicate" if decision == DUPLICATE else f"was {decision}"
