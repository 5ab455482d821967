"""The gate itself: it shuts on a loss, on other data and on what is not pinned; flags open it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from quality import floors
from quality.floors import LOWER, RAISE, UNFINISHED, Pinned, gate, read, write
from quality.sets import Found, Labelled, Press, digest

GOOD = {"precision": 0.9, "recall": 0.8, "f1": 0.847}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for flag in (RAISE, LOWER):
        monkeypatch.delenv(flag, raising=False)
    path = tmp_path / "floors.toml"
    write({"poems": Pinned("abc", {"exact": GOOD, "shingles threshold=0.5": GOOD})}, path)
    return path


def test_what_is_written_is_read_again(file: Path) -> None:
    assert read(file)["poems"] == Pinned("abc", {"exact": GOOD, "shingles threshold=0.5": GOOD})
    assert read(file.with_name("none")) == {}


def test_the_committed_file_is_as_it_is_written(tmp_path: Path) -> None:
    write(read(), tmp_path / "again.toml")
    assert (tmp_path / "again.toml").read_bytes() == floors.FILE.read_bytes()


def test_a_hair_less_passes_and_more_than_that_does_not(file: Path) -> None:
    assert not gate("poems", "abc", "exact", GOOD, file)
    assert not gate("poems", "abc", "exact", GOOD | {"recall": 0.795}, file)
    assert gate("poems", "abc", "exact", GOOD | {"recall": 0.7949}, file)
    said = gate("poems", "abc", "exact", GOOD | {"recall": 0.7}, file)
    assert said.startswith("exact on poems: recall is 0.700, its floor 0.795. Hint: ")
    assert LOWER in said


def test_a_figure_that_is_gone_is_a_loss(file: Path) -> None:
    assert "precision is 0.000" in gate("poems", "abc", "exact", {"recall": 0.8, "f1": 0.9}, file)
    said = gate("poems", "abc", "exact", {UNFINISHED: 300}, file)
    assert "not finished in 300 seconds" in said


@pytest.mark.parametrize("flag", [None, RAISE])
def test_floors_of_other_data_do_not_apply(
    file: Path, monkeypatch: pytest.MonkeyPatch, flag: str | None
) -> None:
    before = file.read_bytes()
    if flag:
        monkeypatch.setenv(flag, "1")
    said = gate("poems", "def", "exact", {"precision": 1, "recall": 1, "f1": 1}, file)
    assert "The floors of poems do not apply to this data" in said
    assert file.read_bytes() == before


def test_a_method_without_a_floor_is_no_method_that_passes(file: Path) -> None:
    assert "new has no floor on poems" in gate("poems", "abc", "new", GOOD, file)
    assert "exact has no floor on prose" in gate("prose", "abc", "exact", GOOD, file)


def test_raising_takes_what_is_better_and_still_tells_what_is_worse(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RAISE, "1")
    said = gate("poems", "abc", "exact", GOOD | {"precision": 0.95, "recall": 0.5}, file)
    assert "recall is 0.500" in said
    assert read(file)["poems"].measured["exact"] == GOOD | {"precision": 0.95}
    assert gate("poems", "abc", "exact", {UNFINISHED: 300}, file)
    assert read(file)["poems"].measured["exact"] == GOOD | {"precision": 0.95}
    assert not gate("poems", "abc", "new", GOOD, file)
    assert not gate("prose", "xyz", "exact", {UNFINISHED: 300}, file)
    assert not gate("prose", "xyz", "exact", GOOD, file)
    assert read(file)["prose"] == Pinned("xyz", {"exact": GOOD})


def test_lowering_takes_what_is_measured(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LOWER, "1")
    worse = GOOD | {"precision": 0.95, "recall": 0.5}
    assert not gate("poems", "abc", "exact", worse, file)
    assert read(file)["poems"].measured == {"exact": worse, "shingles threshold=0.5": GOOD}
    assert not gate("poems", "def", "exact", GOOD, file)
    assert read(file)["poems"] == Pinned("def", {"exact": GOOD})


def test_a_digest_depends_on_documents_and_labels(tmp_path: Path) -> None:
    docs, pairs = (tmp_path / f"{name}.jsonl.zst" for name in ("docs", "pairs"))
    docs.write_bytes(b"one")
    seen = {digest(tmp_path)}
    pairs.write_bytes(b"two")
    seen.add(digest(tmp_path))
    docs.write_bytes(b"three")
    seen.add(digest(tmp_path))
    (tmp_path / "README.md").write_bytes(b"four")
    assert digest(tmp_path) in seen
    assert len(seen) == 3


def every_pair(ids: list[str]) -> Found:
    return Found(ids, *np.triu_indices(len(ids), 1))


def test_who_calls_everything_a_duplicate_gets_no_credit_for_it(data: Path) -> None:
    judge = Labelled(data / "lee_news")
    ids = [doc["id"] for doc in judge.gold.docs]
    assert judge.figures(every_pair(ids)) == {"apart": 0}
    assert judge.figures(every_pair(ids[:1])) == {"apart": 1}
    press = Press(data / "press_de")
    stubs = [id for id, number in press.index.items() if press.stub[number]]
    assert len(stubs) == 136
    assert press.figures(every_pair(stubs)) == {"apart": 0, "recall": 0}
