"""The method learned by commands: from labels to pairs, and model files that are not what they
should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.sample import Run
from evaluation.training.labelled import collection, labels, written
from methods.test_learned import model, scored_pairs
from neardup.artefacts.model import load_model
from neardup.features import similarity
from neardup.methods.learned import Learned
from neardup.outputs.result import Result


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    return tmp_path


def test_from_labels_to_pairs_by_commands(place: Path, run: Run) -> None:
    trained = ("train", "pairs.jsonl", "--documents", "docs.jsonl", "--model", "linear")
    assert run(*trained, "--measures", "all", "-o", "m.arrow", "--quiet").exit_code == 0
    done = run("find", "docs.jsonl", "-o", "out", "--method", "learned", "--set", "model=m.arrow")
    assert done.exit_code == 0, done.output
    method = Learned(str(place / "m.arrow"))
    assert load_model(place / "m.arrow").threshold - 1e-6 < method.threshold
    found = {frozenset((row["a"], row["b"])) for row in Result.load("out").pairs.to_pylist()}
    ids = [doc["id"] for doc in collection()]
    said = scored_pairs(method, [doc["text"] for doc in collection()])
    assert found == {frozenset((ids[a], ids[b])) for a, b in said}
    assert found == {frozenset((a, b)) for a, b, same in labels() if same}


@pytest.mark.parametrize("command", [("find", "docs.jsonl", "-o"), ("index", "build")])
@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("none.arrow", "none.arrow cannot be read: No such file"),
        ("docs.jsonl", "docs.jsonl is no model"),
        ("older.arrow", "was trained on version 99 of the measures"),
    ],
)
def test_a_model_that_is_none_is_refused_with_a_sentence(
    place: Path, run: Run, command: tuple[str, ...], file: str, sentence: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similarity, "VERSION", 99)
        model().save(place / "older.arrow")
    where = ("new",) if command[0] == "find" else ("new.db", "docs.jsonl")
    done = run(*command, *where, "--method", "learned", "--set", f"model={file}")
    assert done.exit_code == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.output
    assert not {"new", "new.db"} & {path.name for path in place.iterdir()}


def test_an_index_says_that_its_model_is_gone_and_goes_on_when_it_is_back(
    place: Path, run: Run
) -> None:
    model().save(place / "m.arrow")
    options = ("--method", "learned", "--set", "model=m.arrow")
    assert run("index", "build", "x.db", "docs.jsonl", *options).exit_code == 0
    (place / "m.arrow").rename(place / "away.arrow")
    done = run("index", "check", "x.db", "docs.jsonl")
    assert (done.exit_code, "m.arrow cannot be read" in done.stderr) == (1, True)
    model(weights=(4.0, 2.5)).save(place / "m.arrow")
    done = run("index", "check", "x.db", "docs.jsonl")
    assert (done.exit_code, "is not the one that was decided by" in done.stderr) == (1, True)
    (place / "away.arrow").rename(place / "m.arrow")
    back = run("index", "check", "x.db", "docs.jsonl")
    assert back.exit_code == 0, back.output
