from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from neardup import api as nd
from neardup.papers import run
from neardup.papers.experiment import Experiment
from neardup.papers.montanari2012 import METHODS, PRINTED, long_documents, spot_documents

from .test_papers import FULL


@pytest.fixture(scope="module")
def made(documents: list[dict[str, Any]]) -> Experiment:
    return run("montanari2012", documents, FULL)


def test_printed_figures_are_the_papers() -> None:
    """F1 of the printed counts: 111 correct matches, T and T∩C of Figure 5."""
    counts = {
        "DDD (q-grams)": [(133, 110), (114, 106), (101, 101), (101, 101), (99, 99)],
        "SpotSigs": [(99, 84), (88, 84), (82, 80), (76, 74), (76, 74)],
        "LSH on spots": [(100, 85), (89, 85), (83, 81), (77, 75), (77, 75)],
        "I-Match on spots": [(64, 64), (64, 64), (64, 64), (62, 61), (62, 62)],
    }
    for name, printed in PRINTED.items():
        for value, (returned, correct) in zip(printed, counts[name], strict=True):
            assert value == pytest.approx(2 * correct / (returned + 111), abs=6e-4)


def test_rows_are_those_of_runs(documents: list[dict[str, Any]], made: Experiment) -> None:
    group = {row["id"]: row["group"] for row in documents}
    for row in made.tables[0].rows:
        on_spots, settings = METHODS[row["method"]]
        if on_spots:
            continue
        cut = {} if row["method"].startswith("I-Match") else {"threshold": row["threshold"]}
        pairs = nd.find(documents, **settings, **cut).pairs.to_pylist()
        assert row["T"] == len(pairs)
        assert row["T∩C"] == sum(group[pair["a"]] == group[pair["b"]] for pair in pairs)
        assert row["recall"] == row["T∩C"] / (12 * 10)


def test_lsh_on_spots_scores_as_spotsigs_does(documents: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(documents)
    spots = METHODS["SpotSigs"][1]
    lsh = METHODS["LSH on spots"][1]
    one = nd.find(table, **spots, threshold=0.5).pairs
    other = nd.find(spot_documents(table), **lsh, threshold=0.5).pairs
    assert len(one) > 12
    assert (
        one.select(["a", "b", "score"]).to_pylist() == other.select(["a", "b", "score"]).to_pylist()
    )


def test_texts_without_spots_are_equal_only_to_equal_ones() -> None:
    texts = ["Lemon, sugar", "lemon sugar", "Salt", "", "!"]
    made = spot_documents(pa.table({"id": list("abcde"), "text": texts}))["text"].to_pylist()
    assert made[0] == made[1]
    assert made[3] == made[4]
    assert len(set(made)) == 3
    assert all(len(text.split()) == 1 for text in made)


def test_i_match_has_no_threshold(made: Experiment) -> None:
    for name in ("I-Match on words", "I-Match on spots"):
        rows = [row for row in made.tables[0].rows if row["method"] == name]
        assert len({row["T"] for row in rows}) == 1


def test_documents_of_a_length_are_cut_from_all_texts() -> None:
    table = pa.table({"id": ["a", "b"], "text": ["x" * 500_000, "y" * 1_000_000]})
    made = dict(long_documents(table))
    assert list(made) == [1_000, 2_000]
    assert all(len(one) == 732 for one in made.values())
    assert {len(text) for text in made[2_000]["text"].to_pylist()} == {2_000}
