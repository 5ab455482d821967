"""What a run expects of itself without labels is honest: the truth is mostly in the interval."""

from __future__ import annotations

from pathlib import Path

import pytest

from quality.expected import cases


@pytest.mark.parametrize("name", ["bill_pairs", "laws_de", "ocr_pairs", "clough_stevenson"])
def test_the_truth_is_in_nine_of_ten_intervals(data: Path, name: str) -> None:
    inside = [
        one for case in cases(data / name, (30, 100, 300), whole=False) for one in case.inside
    ]
    known = [one for one in inside if one is not None]
    assert len(known) >= 5
    assert sum(known) >= 0.9 * len(known)
