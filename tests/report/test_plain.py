"""Plain lines: one passage a line, with its sign and its place, whatever the texts hold."""

from __future__ import annotations

import re

from hypothesis import given

from neardup.report.side_by_side import flowed
from neardup.report.side_by_side_lines import lines, passage_lines
from neardup.text.alignment import Alignment, Passage, Span, align
from neardup.wording import ACTING
from report.aligned import Made, made

LINE = re.compile(r" *(\d+):(\d+) ([ \-+<>]) (.*)")


@given(made())
def test_every_line_has_its_place_and_nothing_acts(pair: Made) -> None:
    for line in lines(*pair, most=None):
        assert LINE.fullmatch(line)
        assert not ACTING.search(line)
        assert "\n" not in line


@given(made())
def test_what_differs_or_moved_is_on_a_line_of_its_own(pair: Made) -> None:
    found = list(passage_lines(*pair))
    for passage in pair.alignment.passages:
        signs = {"differs": "-+", "moved": "<>"}.get(passage.how)
        for side, span in enumerate((passage.a, passage.b)):
            if signs is None or not passage.words[side] or span.end - span.begin > 500:
                continue
            said = flowed((pair.a, pair.b)[side][span.begin : span.end])
            assert any(line.sign == signs[side] and said in line.text for line in found)


def test_places_are_lines_and_columns() -> None:
    a, b = "one two\nthree four", "one two\nthree\n\nfive"
    assert lines(a, b, align(a, b)) == [
        "1:1   one two three",
        "2:7 - four",
        "4:1 + five",
    ]


def test_moved_passages_stand_in_both_places() -> None:
    passages = (
        Passage("moved", Span(0, 3), Span(8, 11), (1, 1)),
        Passage("shared", Span(4, 11), Span(0, 7), (2, 2)),
    )
    assert lines("one two six", "two six one", Alignment(passages, (3, 3), True)) == [
        "1:1 < one",
        "1:5   two six",
        "1:9 > one",
    ]


def test_texts_without_words_are_shown() -> None:
    assert lines("!!!", "???", align("!!!", "???")) == ["1:1 - !!!", "1:1 + ???"]
    assert lines("", "", align("", "")) == []
