"""Texts with the alignment they were made from: shared, differing and moved passages."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

from neardup.text.alignment import Alignment, Passage, Span

HOSTILE = (
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\x9b2J",
    "\x00",
    "\ud800",
    "\u202e",
    "\u2066",
    "\r\n",
    "\n\n",
    "\t",
    "<script>alert(1)</script>",
    "</style></details>",
    "\"'&amp;",
    "[bold]",
    "中文",
    "👩‍👩‍👧",
    "שלום",
    "\u0301" * 30,
)
between = st.sampled_from((" ", ", ", ".\n\n", *HOSTILE))
word = st.sampled_from(("rose", "red", "white", "is", "a" * 90, "中文字", "ferry"))


class Made(NamedTuple):
    a: str
    b: str
    alignment: Alignment


@st.composite
def made(draw: st.DrawFn) -> Made:
    hows = draw(st.lists(st.sampled_from(("shared", "differs", "moved")), max_size=8))
    order_b = list(range(len(hows)))
    for i, how in enumerate(hows):
        if how == "moved":
            order_b.remove(i)
            order_b.insert(draw(st.integers(0, len(order_b))), i)
    counts = [_counts(draw, how) for how in hows]
    a, spans_a = _written(draw, range(len(hows)), [x for x, _ in counts])
    b, spans_b = _written(draw, order_b, [y for _, y in counts])
    passages = tuple(Passage(how, spans_a[i], spans_b[i], counts[i]) for i, how in enumerate(hows))
    words = sum(x for x, _ in counts), sum(y for _, y in counts)
    return Made(a, b, Alignment(passages, words, True))


def _counts(draw: st.DrawFn, how: str) -> tuple[int, int]:
    if how != "differs":
        return (draw(st.integers(1, 60)),) * 2
    return draw(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda both: sum(both) > 0))


def _written(
    draw: st.DrawFn, order: range | list[int], counts: list[int]
) -> tuple[str, dict[int, Span]]:
    text, spans = draw(between), {}
    for i in order:
        said = draw(between).join(draw(word) for _ in range(counts[i]))
        spans[i] = Span(len(text), len(text) + len(said))
        text += said + (draw(between) if said else "")
    return text, spans
