from __future__ import annotations

from typing import Any

import numpy as np

from neardup.papers import run
from neardup.papers.broder1997 import size_rows


def test_clusters_are_counted(documents: list[dict[str, Any]]) -> None:
    """Of each group here three are equal after normalisation and one is much like them."""
    made = run(
        "broder1997", [row for row in documents if "-4" not in row["id"] or "a" in row["id"]]
    )
    every, same, mixed = made.tables[0].rows
    assert every["clusters"] == same["clusters"] + mixed["clusters"] == 12
    assert every["documents"] == same["documents"] + mixed["documents"]
    assert 36 <= every["documents"] <= 48
    assert every["share of all"] == every["documents"] / 60


def test_identical_ones_are_told(documents: list[dict[str, Any]]) -> None:
    equal = [row for row in documents if row["id"][-2:] in ("-0", "-1", "-2")]
    every, same, mixed = run("broder1997", equal).tables[0].rows
    assert (every["clusters"], same["clusters"], mixed["clusters"]) == (12, 12, 0)
    assert same["documents"] == 36


def test_sizes_are_all_there() -> None:
    rows = size_rows(np.array([2, 2, 3, 7, 10, 11, 100, 101, 5000]))
    assert {row["size"]: row["clusters"] for row in rows if row["clusters"]} == {
        "2": 2,
        "3": 1,
        "6–10": 2,
        "11–20": 1,
        "51–100": 1,
        "101 or more": 2,
    }
    assert sum(row["documents"] for row in rows) == 2 + 2 + 3 + 7 + 10 + 11 + 100 + 101 + 5000
