"""Rows and folds hold all of both texts, once and in order, and stay level."""

from __future__ import annotations

from hypothesis import given

from neardup.report.side_by_side import BETWEEN, MOVED, SHARED, Fold, Row, rows
from neardup.text.alignment import Alignment, Passage, Span, align
from report.aligned import Made, made

TEXT = " ".join(f"word{i}" for i in range(200))


@given(made())
def test_nothing_is_lost_or_repeated(pair: Made) -> None:
    shown = ["", ""]
    for one in rows(*pair):
        for side, text in enumerate((pair.a, pair.b)):
            spans = [one[side]] if isinstance(one, Fold) else [p.span for p in (one.a, one.b)[side]]
            shown[side] += "".join(text[span.begin : span.end] for span in spans)
    assert shown == [pair.a, pair.b]


@given(made())
def test_every_passage_is_in_a_piece_of_its_kind(pair: Made) -> None:
    for side in (0, 1):
        found = {SHARED: 0, MOVED: 0, "differs": 0, BETWEEN: 0}
        for one in rows(*pair):
            if isinstance(one, Fold):
                found[SHARED] += one[side].end - one[side].begin
                continue
            for piece in (one.a, one.b)[side]:
                found[piece.how] += piece.span.end - piece.span.begin
        for how in (SHARED, MOVED, "differs"):
            spans = [(p.a, p.b)[side] for p in pair.alignment.passages if p.how == how]
            assert found[how] == sum(span.end - span.begin for span in spans)


def test_what_is_alike_is_folded_between_what_differs() -> None:
    a, b = f"{TEXT} old {TEXT}", f"{TEXT} new {TEXT}"
    found = list(rows(a, b, align(a, b)))
    assert [type(one) for one in found] == [Row, Fold, Row, Fold, Row]
    fold = found[1]
    assert isinstance(fold, Fold)
    assert fold.words == len(a[fold.a.begin : fold.a.end].split())
    assert a[fold.a.begin : fold.a.end] == b[fold.b.begin : fold.b.end]


def test_a_moved_passage_has_one_number_on_both_sides() -> None:
    passages = (
        Passage("moved", Span(0, 3), Span(8, 11), (1, 1)),
        Passage("shared", Span(4, 7), Span(0, 3), (1, 1)),
        Passage("moved", Span(8, 11), Span(4, 7), (1, 1)),
    )
    (row,) = rows("one two six", "two six one", Alignment(passages, (3, 3), True))
    assert isinstance(row, Row)
    assert [p.move for p in row.a if p.how == MOVED] == [1, 2]
    assert [p.move for p in row.b if p.how == MOVED] == [2, 1]
