"""Both texts as they were written, whole, with what they share marked, for two columns that scroll
in step: marks with one number belong together."""

from __future__ import annotations

from collections.abc import Sequence

from neardup.outputs.html.safe import Html, html
from neardup.text.alignment import DIFFERS, MOVED, SHARED, Alignment, Span

MOST = 400_000  # characters of a text that are shown


def columns(texts: tuple[str, str], alignment: Alignment) -> tuple[Html, Html]:
    marks = [
        (passage.how, number, (passage.a, passage.b))
        for number, passage in enumerate(alignment.passages)
    ]
    first, second = (
        _column(text, sorted((spans[side], how, number) for how, number, spans in marks))
        for side, text in enumerate(texts)
    )
    return first, second


def _column(text: str, marks: Sequence[tuple[Span, str, int]]) -> Html:
    made: list[str] = []
    at = 0
    for span, how, number in marks:
        begin, end = max(span.begin, at), min(span.end, MOST)
        if begin >= end:
            continue
        made.append(html(text[at:begin]))
        made.append(_marked(html(text[begin:end]), how, number))
        at = end
    made.append(html(text[at:MOST]))
    if len(text) > MOST:
        made.append(f"<small>… {len(text) - MOST:,} characters more …</small>")
    return Html("".join(made))


def _marked(inside: str, how: str, number: int) -> str:
    if how == SHARED:
        return f'<span class="shared" data-passage="{number}">{inside}</span>'
    if how == MOVED:
        return f'<mark data-passage="{number}">{inside}</mark>'
    assert how == DIFFERS
    return inside
