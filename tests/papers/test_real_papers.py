"""Each experiment on real documents; docs/papers.md has the figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.json
import pytest

from neardup.labels.gold import Gold, from_groups
from neardup.labels.labelled_pairs import from_pairs
from neardup.papers import experiments, run
from neardup.papers.experiment import Experiment, Options
from neardup.schema import Array


def labelled(path: Path, positive: list[str], negative: list[str]) -> Callable[[Any, Any], Gold]:
    with pa.CompressedInputStream(pa.OSFile(str(path)), "zstd") as stream:
        rows = pa.json.read_json(stream)
    rows = rows.set_column(2, "label", rows["label"].cast(pa.large_string()))

    def gold(table: pa.Table, same: Array) -> Gold:
        ids = table["id"].combine_chunks()
        return from_pairs(rows, ids, positive=positive, negative=negative, same=same)

    return gold


def grouped(table: pa.Table, same: Array) -> Gold:
    return from_groups(table["group"], same=same)


def at(made: Experiment, table: str, **where: Any) -> dict[str, Any]:
    rows = {one.name: one.rows for one in made.tables}[table]
    (row,) = (row for row in rows if where.items() <= row.items())
    return row


def broder1997(data: Path) -> None:
    made = run("broder1997", data / "bbc_news" / "docs.jsonl.zst")
    every = at(made, "clusters", **{"": "all clusters"})
    assert every["documents"] > 2 * 100
    assert every["clusters"] > 100


def conrad2003_sets(data: Path) -> None:
    options = Options(gold=grouped, columns=("group",))
    made = run("conrad2003-sets", data / "licences" / "docs.jsonl.zst", options)
    found = at(made, "table_8", method="term vector", terms="48 of 60", sets="rule", half="test")
    assert found["recall"] > 0.5
    assert found["precision"] > 0.4


def williams2013(data: Path) -> None:
    """Human labels: shingles are better than SimHash, as in the paper."""
    folder = data / "bill_pairs"
    gold = labelled(folder / "pairs.jsonl.zst", ["4", "3"], ["2", "1", "0"])
    made = run("williams2013", folder / "docs.jsonl.zst", Options(gold=gold))
    shingles, simhash = (at(made, "best", method=name)["F"] for name in ("shingles", "simhash"))
    assert shingles > simhash > 0.8
    assert at(made, "figure_1a", k=0)["precision"] > 0.99
    assert at(made, "figure_1a", k=10)["pairs"] > 20 * at(made, "figure_1a", k=0)["pairs"]


def montanari2012(data: Path) -> None:
    folder = data / "bill_pairs"
    gold = labelled(folder / "pairs.jsonl.zst", ["4", "3"], ["2", "1", "0"])
    made = run("montanari2012", folder / "docs.jsonl.zst", Options(gold=gold))
    best = {row["method"]: row["F1"] for row in made.tables[1].rows}
    assert best["DDD (q-grams)"] > best["I-Match on words"]


def montanari2012_time(data: Path) -> None:
    made = run("montanari2012-time", data / "bbc_news" / "docs.jsonl.zst")
    assert [table.name for table in made.tables] == ["figure_7", "figure_8", "figure_9"]


def conrad2003_growth(data: Path) -> None:
    """A high correlation, and signatures that change all the same."""
    options = Options(date="date", source="source")
    made = run("conrad2003-growth", data / "press_de" / "docs.jsonl.zst", options)
    row = at(made, "table_4", terms="alpha-only", snapshots="first and third")
    assert row["Spearman"] > 0.98
    changed = at(made, "figures_1_4", domain="all", snapshots="first and third", terms=6)
    assert changed["documents"] == 3000
    assert 1 / 6 < changed["set"] < changed["list"]


def henzinger2006(data: Path) -> None:
    options = Options(gold=grouped, columns=("group",), source="release")
    made = run("henzinger2006", data / "manpages_versions" / "docs.jsonl.zst", options)
    for algorithm in ("supershingles", "SimHash", "combined"):
        across = at(made, "pairs", algorithm=algorithm, sources="different sources")
        within = at(made, "pairs", algorithm=algorithm, sources="same source")
        assert across["correct"] > 0.99 > within["correct"]


def raveena2014(data: Path) -> None:
    folder = data / "bill_pairs"
    gold = labelled(folder / "pairs.jsonl.zst", ["4", "3"], ["2", "1", "0"])
    made = run("raveena2014", folder / "docs.jsonl.zst", Options(gold=gold))
    kernel = {"k": 20, "discriminant": "linear, g(x) ≥ 0", "features of": "document"}
    fixed = {**kernel, "discriminant": "none: cosine ≥ .5"}
    assert at(made, "levels", **kernel)["F1"] > 0.75 > 0.6 > at(made, "levels", **fixed)["F1"]


def park2002(data: Path) -> None:
    """A couple of rare words beside frequent ones identify a document, and lead to related ones
    where rare words alone lead nowhere."""
    made = run("park2002", data / "bbc_news" / "docs.jsonl.zst")
    mixed, rare = (at(made, "signatures", signature=name) for name in ("3 tf + 2 df", "df"))
    assert mixed["unique"] > 0.9
    assert mixed["relevance"] > rare["relevance"]


CHECKS = (
    park2002,
    raveena2014,
    broder1997,
    conrad2003_sets,
    williams2013,
    montanari2012,
    montanari2012_time,
    conrad2003_growth,
    henzinger2006,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_on_real_data(data: Path, check: Callable[[Path], None]) -> None:
    check(data)


def test_every_experiment_is_checked() -> None:
    assert {check.__name__.replace("_", "-") for check in CHECKS} == experiments().keys()
