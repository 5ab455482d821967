"""A model of pairs that people graded: sections of US bills."""

from __future__ import annotations

from pathlib import Path

from neardup.documents import collect
from neardup.evaluation.training.labels import read_labelled
from neardup.evaluation.training.material import Source, material_of
from neardup.evaluation.training.train import train
from neardup.progress import Silent


def test_duplicates_are_told_from_unrelated_bills(data: Path) -> None:
    """docs/learning.md has the figures."""
    bills = data / "bill_pairs"
    labelled = read_labelled([bills / "pairs.jsonl.zst"], None, ["4", "3"], ["0"])
    material = material_of(Source(collect(bills / "docs.jsonl.zst")), labelled, Silent())
    assert (material.data.positives, material.data.negatives) == (221, 340)
    assert material.about["unused"] == {"label '1'": 44, "label '2'": 87}
    told = train(material, kind="linear", choose=False).trained
    assert told["not_tested"] == 0
    assert told["validated"]["f1"] > 0.98
