"""Judgements lie beside the run, stay when it is made again, and are found by name only."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import neardup as nd
from labels.test_sampling import collection
from neardup.errors import InputError
from neardup.labels.label_store import Label
from neardup.labels.samples import SUGGESTED, JudgedFolder, judging_folder
from neardup.labels.sampling import draw


@pytest.fixture(scope="module")
def run() -> nd.Result:
    return nd.find(collection(), method="shingles", threshold=0.5)


def test_where_it_is(tmp_path: Path) -> None:
    assert judging_folder(tmp_path) == tmp_path / "judging"
    assert judging_folder(tmp_path / "news.db") == tmp_path / "news.db.judging"


def test_the_same_sample_is_there_once(tmp_path: Path, run: nd.Result) -> None:
    folder = JudgedFolder(tmp_path / "judging")
    assert folder.samples() == []
    sample = draw({"run": run}, 10, seed=1)
    with ThreadPoolExecutor(4) as pool:
        names = list(pool.map(lambda _: folder.add(sample), range(8)))
    assert set(names) == {"sample-1"}
    assert folder.add(draw({"run": run}, 10, seed=2)) == "sample-2"
    assert folder.add(sample, SUGGESTED) == "suggested-1"
    assert folder.samples() == ["sample-1", "sample-2", "suggested-1"]
    again = JudgedFolder(tmp_path / "judging")
    assert again.key("sample-1") == sample.key
    assert again.items("sample-1") == sample.items


@pytest.mark.parametrize("name", ["../sample-1", "sample-1/..", "labels", "sample-1.key", "", "/"])
def test_names_are_no_paths(tmp_path: Path, run: nd.Result, name: str) -> None:
    folder = JudgedFolder(tmp_path / "judging")
    folder.add(draw({"run": run}, 2))
    folder.store.add(Label("a", "b", "not", "ann"))
    with pytest.raises(InputError, match="There is no sample"):
        folder.sample(name)


def test_labels_are_read_again_when_they_change(tmp_path: Path) -> None:
    folder = JudgedFolder(tmp_path / "judging")
    assert len(folder.labels()) == 0
    folder.store.add(Label("a", "b", "not", "ann"))
    assert folder.labels() is folder.labels()
    JudgedFolder(folder.path).store.add(Label("a", "c", "not", "ann"))
    assert len(folder.labels()) == 2


def test_making_the_run_again_loses_no_judgement(tmp_path: Path, run: nd.Result) -> None:
    out = tmp_path / "out"
    run.save(out)
    folder = JudgedFolder(judging_folder(out))
    name = folder.add(draw({"run": run}, 5))
    folder.store.add(Label("a", "b", "not", "ann"))
    before = {path.name: path.read_bytes() for path in folder.path.iterdir()}
    nd.find(collection(), method="shingles", threshold=0.8).save(out, overwrite=True)
    assert {path.name: path.read_bytes() for path in folder.path.iterdir()} == before
    assert name in JudgedFolder(judging_folder(out)).samples()
