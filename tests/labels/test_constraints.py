"""Clusters under constraints from labels: must-links together, cannot-links apart."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from neardup import api as nd
from neardup.cli import main
from neardup.decisions.clusters import components, constrained_clusters
from neardup.labels.label_store import DUPLICATE, NOT, Label, LabelStore
from neardup.matching.evidence import Pairs

LINKS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda p: p[0] != p[1]))


def pairs_of(links: list[tuple[int, int]]) -> Pairs:
    a, b = (np.array([link[side] for link in links], np.int64) for side in (0, 1))
    return Pairs(a, b, np.linspace(1, 0.5, len(links)))


@given(LINKS, LINKS, LINKS)
def test_labels_hold_and_nothing_else_keeps_pairs_apart(
    found: list[tuple[int, int]], must: list[tuple[int, int]], cannot: list[tuple[int, int]]
) -> None:
    number, conflicts = constrained_clusters(8, pairs_of(found), must, cannot)
    together = {(a, b) for a, b in combinations(range(8), 2) if number[a] == number[b] >= 0}

    def is_together(a: int, b: int) -> bool:
        return (min(a, b), max(a, b)) in together

    assert all(is_together(*link) for link in must)
    assert sum(is_together(*link) for link in cannot) == conflicts
    if not cannot:
        a, b = (np.array([x[i] for x in [*found, *must]], np.int64) for i in (0, 1))
        assert number.tolist() == components(8, a, b).tolist()


def test_the_command_groups_a_run_by_its_labels(tmp_path: Path) -> None:
    words = [f"word{i}" for i in range(40)]
    texts = {"a": words, "b": [*words, "more"], "c": [*words, "other", "end"], "d": ["x"] * 20}
    rows = [{"id": id_, "text": " ".join(text)} for id_, text in texts.items()]
    nd.find(rows, method="shingles").save(tmp_path / "run")
    store = LabelStore(tmp_path / "labels.jsonl")
    labels = [("a", "c", NOT), ("b", "c", NOT), ("c", "d", DUPLICATE), ("a", "z", NOT)]
    store.add_all([Label(a, b, label, "ann") for a, b, label in labels])
    asked = ["label", "clusters", str(tmp_path / "run"), str(tmp_path / "labels.jsonl")]
    done = CliRunner().invoke(main, [*asked, "-o", str(tmp_path / "out.jsonl")])
    assert done.exit_code == 0, done.output
    read = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert [(row["id"], row["cluster"], row["reference"]) for row in read] == [
        ("a", 0, True),
        ("b", 0, False),
        ("d", 1, True),  # which the run kept; it set c aside for a
        ("c", 1, False),
    ]
    assert "4 documents are in 2 clusters; must-links: 1, cannot-links: 2." in done.output
    assert "Labels of documents that are not in the run: 1." in done.output
