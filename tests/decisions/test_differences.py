"""The kernel counts every difference of two texts in the class of its twin."""

from __future__ import annotations

import dataclasses
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from neardup.decisions.kinds import Measures, measured
from neardup.schema import Ragged
from reference import differences as twin

PIECES = st.sampled_from(
    [
        *("the ", "Quick ", "brown fox ", "jumps. ", "Over! ", "1999 ", "12. May ", "p. 7\n"),
        *("\n", "\n\n", "\n \t\n", " | ", " • ", "Home | News | Sport\n", "Page 3\n"),
        "Page 14\n",
        *("größe ", "GRÖSSE ", "Œuvre ", "«x» ", "rnodern ", "modern ", "hyphen-\nated ", "\u00a0"),
        *("日本語", "新聞。", "ไทย", "１２", "٣٤ ", "жук ", "\u2028", "\0", "x" * 500 + " ", "İ "),
        "A sentence that goes on for more than the hundred characters that a line may have, so "
        "that lines are paragraphs. ",
        "one two three four five six seven eight nine ten. ",
    ]
)
PARTS = st.lists(PIECES, max_size=40).map("".join)
PASSAGE = " ".join(f"word{i}" for i in range(40)) + ". "


def rows(path: Path) -> list[dict[str, Any]]:
    with pa.input_stream(str(path), compression="zstd") as stream:
        return [json.loads(line) for line in stream.read().splitlines()]


def assert_equal(found: Measures, expected: Measures) -> None:
    for field in dataclasses.fields(Measures):
        one, other = (getattr(measures, field.name) for measures in (found, expected))
        assert one.tolist() == other.tolist(), field.name


@st.composite
def texts(draw: st.DrawFn) -> list[str]:
    """Versions of a text: the same parts in another order, without some, with some of their own."""
    parts = [*draw(st.lists(PARTS, min_size=1, max_size=6)), PASSAGE, PASSAGE[:60]]
    version = st.lists(st.one_of(st.sampled_from(parts), PARTS), max_size=8).map("".join)
    return draw(st.lists(version, min_size=2, max_size=4))


@given(texts())
def test_the_kernel_measures_as_its_twin(drawn: list[str]) -> None:
    ragged = Ragged.of_texts(drawn)
    a, b = (np.array(side) for side in zip(*combinations(range(len(drawn)), 2), strict=True))
    assert_equal(measured(ragged, a, b), twin.measured(ragged, a, b))


def test_the_kernel_measures_real_versions_as_its_twin(data: Path) -> None:
    for name in ("press_de", "laws_de", "manpages_versions"):
        texts_of = {row["id"]: row["text"] for row in rows(data / name / "docs.jsonl.zst")}
        pairs = [(row["a"], row["b"]) for row in rows(data / name / "pairs.jsonl.zst")][:150]
        ids = sorted({one for pair in pairs for one in pair})
        ragged = Ragged.of_texts([texts_of[one] for one in ids])
        a, b = (np.array([ids.index(one) for one in side]) for side in zip(*pairs, strict=True))
        assert_equal(measured(ragged, a, b), twin.measured(ragged, a, b))
