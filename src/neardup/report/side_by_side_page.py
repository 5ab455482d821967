"""Two texts side by side as HTML: a fragment for any page, and whole pages about one pair.

Everything of the texts is escaped and made visible, so a document can neither end the page nor
turn it round. What is alike is folded (``details``); what is shown is bounded by ``most``
characters, and a last line says what was left out. A page with a fragment needs the style
``side_by_side``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neardup.report.html_page import Table, folded, html, page, table_html
from neardup.report.side_by_side import (
    BETWEEN,
    DIFFERS,
    MOVED,
    SHARED,
    Fold,
    Piece,
    Places,
    Row,
    left_out,
    rows,
)
from neardup.schema import DUPLICATE
from neardup.text.alignment import Alignment, Span
from neardup.wording import shortened

if TYPE_CHECKING:
    from neardup.runs.comparison import Comparison
    from neardup.runs.explanation import Explanation

MOST = 1_000_000  # characters of both texts in a fragment
MOST_PIECE = 20_000  # of them in one piece; more are cut in the middle


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
    writer = _Writer(a, b, most, folds)
    head = ""
    if names:
        above = _cells(*(html(shortened(name)) for name in names))
        head = f'<div class="nd-row nd-head">{above}</div>'
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


class _Writer:
    """Counts down what may still be shown, and knows on which line it is."""

    def __init__(self, a: str, b: str, most: int, folds: bool) -> None:
        self._texts = a, b
        self._folds = folds
        self._places = Places(a, b)
        self._folded = True  # a row at the start, or after a fold, says where it stands
        self.left = most

    def row(self, row: Row) -> str:
        cells = [
            (f"<small>{self._places.of(side, begin)}</small>" if self._folded else "")
            + "".join(self._piece(side, piece) for piece in pieces)
            for side, (pieces, begin) in enumerate(zip((row.a, row.b), row.starts, strict=True))
        ]
        self._folded = False
        return f'<div class="nd-row">{_cells(*cells)}</div>'

    def fold(self, fold: Fold) -> str:
        self._folded = True
        words = "1 word" if fold.words == 1 else f"{fold.words:,} words"
        if not self._folds:
            return f'<div class="nd-left">… {words} alike …</div>'
        cells = [self._text(side, span) for side, span in enumerate((fold.a, fold.b))]
        return (
            f'<details class="nd-fold"><summary>… {words} alike …</summary>'
            f'<div class="nd-row">{_cells(*cells)}</div></details>'
        )

    def _piece(self, side: int, piece: Piece) -> str:
        inside = self._text(side, piece.span)
        if piece.how == DIFFERS:
            tag = ("del", "ins")[side]
            return f"<{tag}>{inside}</{tag}>"
        if piece.how == MOVED:
            there = ("second", "first")[side]
            title = f"also in the {there} text, at a different place: number {piece.move}"
            return f'<mark title="{title}"><sup>{piece.move}</sup>{inside}</mark>'
        assert piece.how in (SHARED, BETWEEN)
        return inside

    def _text(self, side: int, span: Span) -> str:
        text = self._texts[side]
        size = span.end - span.begin
        room = max(min(MOST_PIECE, self.left), 200)
        self.left -= min(size, room)
        if size <= room:
            return html(text[span.begin : span.end])
        half = room // 2
        head, tail = text[span.begin : span.begin + half], text[span.end - half : span.end]
        return f"{html(head)}<small>… {size - 2 * half:,} characters …</small>{html(tail)}"


def _cells(a: str, b: str) -> str:
    return f'<div dir="auto">{a}</div><div dir="auto">{b}</div>'


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
        (pair.id, f"{pair.score:.4f}", pair.kind or "", pair.decision or "reference")
        for pair in explained.pairs
    ]
    more = explained.pair_count - len(rows)
    rows += [(f"… {more:,} more", "", "", "")] if more else []
    return table_html(Table(("document", "score", "kind", "decision"), rows))


def _became(decision: str) -> str:
    return "is a duplicate" if decision == DUPLICATE else f"was {decision}"
