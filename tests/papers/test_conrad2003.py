from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from neardup.artefacts.idf import IdfNeed
from neardup.engines.batch.table_pass import build_idf
from neardup.evaluation.stability import rank_correlation
from neardup.papers import run
from neardup.papers.conrad2003_growth import growth, idf_tables, in_order, snapshots
from neardup.papers.conrad2003_sets import compared_terms, halves_of
from neardup.papers.experiment import Experiment, Options
from neardup.papers.paper_pass import read
from neardup.progress import Silent
from neardup.text.text_options import Text

from .test_papers import FULL


def rows(made: Experiment, name: str) -> list[dict[str, Any]]:
    return list({table.name: table.rows for table in made.tables}[name])


@pytest.fixture(scope="module")
def sets(documents: list[dict[str, Any]]) -> Experiment:
    return run("conrad2003-sets", documents, FULL)


def test_halves_keep_sets_together() -> None:
    gold = np.array([0, 0, 1, -1, 1, -1, -1, 2])
    halves = halves_of(gold)
    assert halves.tolist() == [0, 0, 1, 0, 1, 1, 0, 0]
    assert gold.tolist() == [0, 0, 1, -1, 1, -1, -1, 2]


def test_gold_sets_are_all_in_one_half(sets: Experiment) -> None:
    for row in rows(sets, "table_8"):
        assert row["gold_sets"] == 6
        assert row["agreement"] + row["partial"] + row["misses"] == 6
    sizes = {row["size"]: row["gold"] for row in rows(sets, "table_7")}
    assert (sizes["quintuplets"], sizes["total"]) == (12, 12)


def test_kinds_and_sizes_count_the_same_sets(sets: Experiment) -> None:
    total = rows(sets, "table_7")[-1]
    for method in ("fingerprint", "term vector"):
        counted = [row for row in rows(sets, "table_2") if row["method"] == method]
        assert sum(row["sets"] for row in counted) == total[method]
        for share in ("share of sets", "share of documents"):
            assert sum(row[share] for row in counted) == pytest.approx(1)
        exact = next(row for row in counted if row["category"] == "1 exact")
        assert (exact["ALLNEWS sets"], exact["ALLNEWSPLUS documents"]) == (0.381, 0.549)
    for row in rows(sets, "table_6"):
        assert row["with"] + row["without"] == row["site"] == 3


def test_terms_are_compared_rarest_first_until_a_pair_is_decided() -> None:
    """§7.3: threshold 48/60, so the 13th miss refuses and the 48th hit accepts."""
    x = np.arange(60)
    assert compared_terms(x, x) == (48, True)
    assert compared_terms(x, x + 60) == (13, False)
    assert compared_terms(x, np.concatenate([x[:2], x[15:] + 60])) == (15, False)


def test_the_duplication_study(sets: Experiment) -> None:
    """§3.2 and §7.3, beside the printed shares."""
    for row in rows(sets, "study"):
        assert 0 < row["share of documents"] <= 1
        assert (row["ALLNEWS"], row["ALLNEWSPLUS"]) == (0.286, 0.290)
        assert row["same title of exact pairs"] is None  # no column of titles
    assert len(rows(sets, "comparisons")) == 1
    assert {row["method"] for row in rows(sets, "table_8")} >= {"term vector, 12 weeks"}


def test_snapshots_grow_as_the_papers_did() -> None:
    first, second, third = snapshots(2_428_263)
    assert third == 2_428_263
    assert second == pytest.approx(2_265_600, rel=1e-4)
    assert first == pytest.approx(2_060_622, rel=1e-3)


def test_documents_come_by_date(documents: list[dict[str, Any]]) -> None:
    table, undated = in_order(read(documents, FULL, Silent()))
    days = table["day"].to_pylist()
    assert days == sorted(days)
    assert undated == 0
    years = [{"text": "x", "year": year} for year in (1900, 899, 2000)]
    table, _ = in_order(read(years, Options(date="year"), Silent()))
    assert table["year"].to_pylist() == ["899", "1900", "2000"]
    iso = [{"text": "x", "day": day} for day in ("2003-11-03", None, "2002-01-01")]
    table, undated = in_order(read(iso, Options(date="day"), Silent()))
    assert (table["day"].to_pylist(), undated) == (["2002-01-01", "2003-11-03"], 1)


def test_merged_slices_are_the_snapshots(documents: list[dict[str, Any]]) -> None:
    material = read(documents, FULL, Silent())
    table, _ = in_order(material)
    cuts = snapshots(len(table))
    made = idf_tables(table, cuts, "alpha", material)
    for cut, one in zip(cuts, made, strict=True):
        whole, _ = build_idf(table.slice(0, cut), IdfNeed(None, "alpha", Text()), min_count=5)
        assert one.digest == whole.digest
    grown = rows(growth(documents, FULL, Silent()), "table_4")
    assert grown[0]["Spearman"] == rank_correlation(made[0], made[1]).coefficient


def test_growth_counts_every_document(documents: list[dict[str, Any]]) -> None:
    made = run("conrad2003-growth", documents, FULL)
    *parts, total = rows(made, "table_3")
    assert total["third"] == 72
    for name in ("first", "second", "third"):
        assert sum(row[name] for row in parts) == total[name]
    lengths = made.data()["stability"]
    assert {row["terms"] for row in lengths} == set(range(1, 31))
    assert all(row["set"] <= row["list"] for row in lengths)


def test_a_collection_that_repeats_keeps_its_signatures() -> None:
    """Each third is the same texts again: ranks do not move."""
    texts = [f"alpha beta gamma{i} delta{i} common words" for i in range(10)] * 30
    made = run("conrad2003-growth", pa.table({"text": texts}))
    alpha = [row for row in rows(made, "table_4") if row["terms"] == "alpha-only"]
    assert [row["Spearman"] for row in alpha] == [None, None, None]  # all terms equally rare
    assert all(row["set"] == row["list"] == 0 for row in made.data()["stability"])
