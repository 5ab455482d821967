"""The accessor of frames answers as ``nd.dedup`` does, in the type of the frame."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pandas as pd
import polars as pl
import pytest

import neardup as nd
import neardup.integrations.frames

assert neardup.integrations.frames.NAME == "neardup"

SAME = "one two three four five six seven eight nine ten eleven twelve"
ROWS = {"id": ["a", "b", "c"], "body": [SAME, "something else is written here", SAME + "!"]}
FRAMES = [pd.DataFrame(ROWS, index=[7, 8, 9]), pl.DataFrame(ROWS)]
frames = pytest.mark.parametrize("frame", FRAMES, ids=["pandas", "polars"])

HIDDEN = """
import sys

class Hidden:
    def find_spec(self, name, *_):
        if name in {}:
            raise ModuleNotFoundError(name=name)

sys.meta_path.insert(0, Hidden())
"""


@frames
def test_the_kept_rows_are_a_frame(frame: Any) -> None:
    kept = frame.neardup.dedup("body", method="exact", keep="last")
    assert kept.equals(frame.neardup.dedup(text="body", method="exact", keep="last"))
    assert type(kept) is type(frame)
    assert list(kept["id"]) == ["b", "c"]
    assert list(getattr(kept, "index", [8, 9])) == [8, 9]


@frames
def test_all_rows_with_their_decisions(frame: Any) -> None:
    annotated = frame.neardup.annotate("body", method="exact")
    assert type(annotated) is type(frame)
    assert list(annotated["decision"]) == ["kept", "kept", "duplicate"]
    assert annotated["kept_id"][2 if isinstance(frame, pl.DataFrame) else 9] == "a"


@frames
def test_pairs_and_explanations(frame: Any) -> None:
    pairs = frame.neardup.find("body", method="exact").pairs
    assert pairs.select(["a", "b"]).to_pylist() == [{"a": "a", "b": "c"}]
    assert "duplicate of a" in str(frame.neardup.result("body", method="exact").explain("c"))


@frames
def test_a_series_has_it_too(frame: Any) -> None:
    kept = frame["body"].neardup.dedup(method="exact")
    assert type(kept) is type(frame["body"])
    assert list(kept) == ROWS["body"][:2]


@frames
def test_a_column_that_is_missing(frame: Any) -> None:
    with pytest.raises(nd.NeardupError, match="'text' is not in"):
        frame.neardup.dedup()


@pytest.mark.parametrize("absent", [["pandas"], ["polars"], ["pandas", "polars"]])
def test_one_library_is_enough(absent: list[str]) -> None:
    code = HIDDEN.format(absent) + "import neardup.integrations.frames"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if len(absent) == 1:
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert "needs pandas or polars; neither is installed. Hint: pip install" in done.stderr
