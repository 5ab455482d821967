"""The terminal: columns that stand, colours where there are some, and nothing that acts."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from neardup.report.side_by_side_lines import show
from neardup.text.alignment import align
from neardup.wording import ACTING
from report.aligned import Made, made

OUR_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def shown(pair: Made, width: int, **options: int | None) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=True, legacy_windows=False)
    show(console, *pair, **options)  # type: ignore[arg-type]
    return stream.getvalue()


@given(made(), st.sampled_from((40, 99, 100, 120, 181)))
def test_nothing_acts_and_the_columns_stand(pair: Made, width: int) -> None:
    plain = OUR_STYLE.sub("", shown(pair, width))
    assert not ACTING.search(plain)
    rows = [line.partition("│") for line in plain.splitlines()]
    assert len({cell_len(left) for left, bar, _ in rows if bar}) <= 1


def test_narrow_terminals_get_lines() -> None:
    a, b = "one two six", "one two ten"
    pair = Made(a, b, align(a, b))
    assert "│" not in shown(pair, 99)
    assert "\x1b[31m1:9 - six\x1b[0m" in shown(pair, 99)
    assert "│" in shown(pair, 100)


@pytest.mark.parametrize("width", [80, 120])
def test_it_says_what_it_leaves_out(width: int) -> None:
    a = " ".join(f"one{i} two{i} six{i} old{i}" for i in range(900))
    b = a.replace("old", "new")
    pair = Made(a, b, align(a, b))
    assert "more passages" in shown(pair, width, most=30)
    assert len(shown(pair, width, most=30).splitlines()) < 60
    assert "more passages" not in shown(pair, width, most=None)
