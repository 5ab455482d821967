"""Models of real labels: graded sections of US bills, and RFCs that replace others."""

from __future__ import annotations

from pathlib import Path

from benchmarks.halves import gold_of, halves
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


def test_half_of_the_rfcs_teaches_the_other_half(data: Path, tmp_path: Path) -> None:
    """The general model has 0.67 there, and a model of another mixture of pairs had 0.51."""
    given, tested = halves(gold_of("rfc_lineage", data), 10)
    material = material_of(given.source, given.labelled(), Silent())
    train(material, kind="linear", choose=False).save(tmp_path / "rfc.model")
    assert tested.f1(model=str(tmp_path / "rfc.model")) > 0.84
