from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from neardup import api as nd
from neardup.cli import main
from neardup.methods.preparation import read_words
from neardup.papers import run
from neardup.papers.experiment import Experiment, Options
from neardup.papers.williams2013 import Cosines
from neardup.testing import batch
from neardup.text.text_options import Text
from neardup.text.words import words

from .test_papers import FULL

Pairs = set[frozenset[str]]


@pytest.fixture(scope="module")
def made(documents: list[dict[str, Any]]) -> Experiment:
    return run("williams2013", documents, FULL)


def found(documents: list[dict[str, Any]], **settings: Any) -> Pairs:
    pairs = nd.find(documents, **settings).pairs.to_pylist()
    return {frozenset((pair["a"], pair["b"])) for pair in pairs}


def duplicates(documents: list[dict[str, Any]]) -> Pairs:
    return {
        frozenset((a["id"], b["id"]))
        for a in documents
        for b in documents
        if a["id"] != b["id"] and a["group"] == b["group"]
    }


def expect(row: dict[str, Any], returned: Pairs, true: Pairs) -> None:
    right = len(returned & true)
    assert row["pairs"] == len(returned)
    assert row["recall"] == right / len(true)
    assert row["precision"] == (right / len(returned) if returned else None)


def test_a_cut_is_a_run_of_its_own(documents: list[dict[str, Any]], made: Experiment) -> None:
    true = duplicates(documents)
    simhash, shingles = made.tables[:2]
    for row in simhash.rows:
        given = {"recipe": "williams2013-simhash", "distance": row["k"]}
        expect(row, found(documents, **given), true)
    assert [(row["w"], row["R"]) for row in shingles.rows][:2] == [(5, 0.9), (5, 0.8)]
    for row in shingles.rows[::4]:
        given = {"recipe": "williams2013-shingles", "words": row["w"], "threshold": row["R"]}
        expect(row, found(documents, **given), true)


def test_relaxing_returns_more(made: Experiment) -> None:
    simhash, shingles = (table.rows for table in made.tables[:2])
    assert [row["k"] for row in simhash] == list(range(11))
    for rows in (simhash, *(shingles[i : i + 9] for i in (0, 9, 18))):
        counts = [row["pairs"] for row in rows]
        assert counts == sorted(counts)


def test_the_best_setting_is_the_best(made: Experiment) -> None:
    tables = {table.name: table.rows for table in made.tables}
    for method, name in (("simhash", "figure_1a"), ("shingles", "figure_1b")):
        (best,) = (row for row in tables["best"] if row["method"] == method)
        assert best["F"] == max(row["F"] for row in tables[name])


def test_kinds_are_of_true_pairs(made: Experiment) -> None:
    tables = {table.name: table.rows for table in made.tables}
    rows = tables["kinds"]
    shingles = {row["kind"]: row["pairs"] for row in rows if row["method"] == "shingles"}
    assert shingles["identical"] == 12
    assert shingles["normalised"] == 24
    assert {row["label"] for row in rows} == {"same group"}
    assert "not classified" not in shingles
    types = {row["type"]: row for row in tables["table_2"] if row["method"] == "shingles"}
    assert types["exact"]["pairs"] == 36
    assert sum(row["pairs"] for row in types.values()) == sum(shingles.values())
    assert [row["paper's pairs"] for row in types.values()] == [9, 5, 6]


def test_without_gold_there_is_a_sample_to_judge(documents: list[dict[str, Any]]) -> None:
    made = run("williams2013", documents, Options(sample=3))
    assert "precision" not in made.tables[0].formats
    pool = {frozenset((row["a"], row["b"])) for row in made.data()["to_judge"]}
    wide = found(documents, recipe="williams2013-simhash", distance=10)
    for words_ in (5, 8, 10):
        wide |= found(documents, recipe="williams2013-shingles", words=words_, threshold=0.1)
    assert pool <= wide
    assert 3 <= len(pool) <= 3 * 38
    assert made.sample is not None
    assert {frozenset((item.a, item.b)) for item in made.sample.items} == pool
    best = [(row["method"], row["setting"]) for row in made.tables[2].rows]
    assert best == [("simhash", "k = 3"), ("shingles", "w = 5, R = 0.5")]


def cosine(a: str, b: str) -> float:
    x, y = Counter(words(a)), Counter(words(b))
    dot = sum(x[word] * y[word] for word in x)
    return dot / math.sqrt(sum(n * n for n in x.values()) * sum(n * n for n in y.values()))


def test_cosines_are_those_of_term_frequencies(documents: list[dict[str, Any]]) -> None:
    texts = [row["text"] for row in documents[:12]]
    made = Cosines(read_words(batch(texts), Text()).words)
    for a in range(12):
        for b in range(a):
            assert made.of(a, b) == pytest.approx(cosine(texts[a], texts[b]))


def test_a_judged_sample_gives_the_curves(documents: list[dict[str, Any]], tmp_path: Path) -> None:
    """From the sample of the paper to its Figure 1, by commands only."""
    docs, out = tmp_path / "docs.jsonl", tmp_path / "out"
    docs.write_text("".join(json.dumps(row) + "\n" for row in documents))
    asked = ["evaluate", "--paper", "williams2013", str(docs), "--sample", "3", "--quiet"]

    def run_command(*arguments: str) -> str:
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 0, done.output
        return done.output

    assert "to_judge.jsonl" in run_command(*asked, "-o", str(out))
    group = {row["id"]: row["group"] for row in documents}
    sample = out / "to_judge.jsonl"
    rows = [json.loads(line) for line in sample.read_text("utf-8").splitlines()]
    for row in rows:
        row["label"] = "correct" if group[row["a"]] == group[row["b"]] else "incorrect"
    judged = tmp_path / "judged.jsonl"
    judged.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run_command("label", "import", str(sample), str(judged), "--assessor", "ann")
    labels = str(out / "to_judge.labels.jsonl")
    told = json.loads(run_command(*asked, "--pairs", labels, "--json"))
    curve = {row["k"]: row for row in told["tables"]["figure_1a"]}
    assert 0 < curve[0]["precision"] <= 1
    assert curve[10]["recall"] >= curve[0]["recall"] > 0
    assert "simhash k = 3" in run_command("label", "measure", str(sample))
