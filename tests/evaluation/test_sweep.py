"""A sweep costs one matching pass a method, and goes on where it was stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evaluation.collections import grouped
from neardup.evaluation import scored_pairs
from neardup.evaluation.evaluation import Evaluation, evaluate
from neardup.methods.shingles import Shingles

METHODS = ["shingles words=3", "qgrams", "simhash"]


class Passes:
    """Counts matching passes; the one whose turn has come is interrupted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[str] = []
        self.interrupted: str | None = None
        self._match = scored_pairs.match
        monkeypatch.setattr(scored_pairs, "match", self)

    def __call__(
        self, collection: Any, plan: Any, progress: Any = None
    ) -> scored_pairs.ScoredPairs:
        if plan.method.name == self.interrupted:
            raise KeyboardInterrupt
        self.made.append(plan.method.name)
        return self._match(collection, plan, progress)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Passes:
    return Passes(monkeypatch)


def swept(folder: Path | None, documents: Any = None, **more: Any) -> Evaluation:
    given: dict[str, Any] = {"group": "group", "method": METHODS, "sweep": (0.4, 0.6, 0.8), **more}
    return evaluate(grouped() if documents is None else documents, folder=folder, **given)


def test_one_pass_a_method(passes: Passes) -> None:
    made = swept(None)
    assert passes.made == ["shingles", "qgrams", "simhash"]
    assert [len(one.at) for one in made.measured] == [3, 3, 11]


def test_a_stopped_sweep_goes_on(passes: Passes, tmp_path: Path) -> None:
    passes.interrupted = "simhash"
    with pytest.raises(KeyboardInterrupt):
        swept(tmp_path)
    passes.interrupted = None
    again = swept(tmp_path)
    assert passes.made == ["shingles", "qgrams", "simhash"]
    assert again.data() == swept(None).data()


@pytest.mark.parametrize(
    ("change", "again"),
    [
        ({"group": "other"}, []),
        ({"clusters": "components"}, []),
        ({"method": ["qgrams"]}, []),
        ({"sweep": (0.4, 0.7)}, []),
        ({"sweep": (0.5, 0.8)}, ["shingles", "qgrams"]),
        ({"method": ["qgrams q=5"]}, ["qgrams"]),
        ({"within": "other"}, ["shingles", "qgrams", "simhash"]),
        ({"limit": 20}, ["shingles", "qgrams", "simhash"]),
    ],
)
def test_only_what_changes_scores_is_matched_again(
    passes: Passes, tmp_path: Path, change: dict[str, Any], again: list[str]
) -> None:
    documents = [{**one, "other": one["group"] // 2} for one in grouped()]
    swept(tmp_path, documents)
    passes.made.clear()
    made = swept(tmp_path, documents, **change)
    assert passes.made == again
    assert made.data() == swept(None, documents, **change).data()


@pytest.mark.parametrize(
    ("before", "after", "again"),
    [
        (Shingles(boilerplate=("a notice",)), Shingles(boilerplate=("another",)), ["shingles"]),
        ("semantic tables=1024", "semantic tables=1024 encoder=hashing", []),
        (
            "semantic tables=1024",
            "semantic tables=1024 encoder=evaluation.vowels:count",
            ["semantic"],
        ),
    ],
)
def test_what_the_parameters_stand_for_is_compared(
    passes: Passes, tmp_path: Path, before: Any, after: Any, again: list[str]
) -> None:
    """Where an artefact is says nothing; what it is does."""
    swept(tmp_path, method=before)
    passes.made.clear()
    swept(tmp_path, method=after)
    assert passes.made == again


@pytest.mark.parametrize("column", ["id", "text"])
def test_other_documents_are_matched_again(passes: Passes, tmp_path: Path, column: str) -> None:
    documents = grouped()
    swept(tmp_path, documents, method="shingles")
    documents[3][column] += " more"
    swept(tmp_path, documents, method="shingles")
    assert passes.made == ["shingles", "shingles"]


def test_half_a_file_is_not_taken(passes: Passes, tmp_path: Path) -> None:
    swept(tmp_path, method="shingles")
    (file,) = (tmp_path / "pairs").iterdir()
    file.write_bytes(file.read_bytes()[:200])
    swept(tmp_path, method="shingles")
    assert passes.made == ["shingles", "shingles"]


def test_pairs_that_were_left_out_are_told(tmp_path: Path) -> None:
    made = swept(tmp_path, method="shingles", max_pairs=10)
    assert not made.measured[0].complete
    assert "WARNING: shingles: there were more pairs than max_pairs" in made.sections()[1].text
    assert "WARNING" in made.summary()[1].text
