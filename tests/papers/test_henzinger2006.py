from __future__ import annotations

from typing import Any

import pytest

from neardup import api as nd
from neardup.papers import run
from neardup.papers.henzinger2006 import METHODS, PRINTED

from .test_papers import FULL


def test_rows_equal_counts_of_runs(documents: list[dict[str, Any]]) -> None:
    made = run("henzinger2006", documents, FULL)
    of = {row["id"]: row for row in documents}
    found = {
        name: {
            tuple(sorted((pair["a"], pair["b"])))
            for pair in nd.find(documents, **settings).pairs.to_pylist()
        }
        for name, settings in METHODS.items()
    }
    found["combined"] = found["supershingles"] & found["SimHash"]
    for row in made.tables[0].rows:
        pairs = found[row["algorithm"]]
        same = {(a, b) for a, b in pairs if of[a]["site"] == of[b]["site"]}
        pairs = {"all": pairs, "same source": same, "different sources": pairs - same}[
            row["sources"]
        ]
        right = [of[a]["group"] == of[b]["group"] for a, b in pairs]
        assert row["pairs"] == len(pairs)
        assert row["correct"] == (pytest.approx(sum(right) / len(right)) if right else None)
        assert row["undecided"] in (0, None)


@pytest.mark.parametrize(
    ("algorithm", "pairs", "different"), [("supershingles", 1910, 152), ("SimHash", 1872, 479)]
)
def test_the_printed_shares_add_up(algorithm: str, pairs: int, different: int) -> None:
    for i in (0, 1):
        same = PRINTED[algorithm, "same source"][i] * (pairs - different)
        others = PRINTED[algorithm, "different sources"][i] * different
        whole = PRINTED[algorithm, "all"][i]
        assert (same + others) / pairs == pytest.approx(whole, abs=0.01)
