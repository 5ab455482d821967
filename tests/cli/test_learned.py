"""The method learned by commands: from labels to pairs, and model files that are not what they
should be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cli.sample import Run
from evaluation.training.labelled import collection, labels, written
from methods.test_learned import model, scored_pairs
from neardup import api as nd
from neardup.artefacts.discriminants import Linear
from neardup.artefacts.model import load_model
from neardup.engines.index.index import Index
from neardup.features import similarity
from neardup.methods.learned import Learned
from neardup.runs.result import Result
from planting.test_plant import documents


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


def dated(count: int = 24) -> list[dict[str, str]]:
    """Copies are all alike; those of the same week are duplicates, those of next year are not."""
    made = []
    for i, doc in enumerate(documents(count, seed=5)):
        words = doc["text"].split()
        for name, day in (
            ("a", "2024-03-01"),
            ("b", f"2024-03-{2 + i % 5:02}"),
            ("c", "2025-02-07"),
        ):
            text = " ".join(w if k % 11 else f"{name}{i}" for k, w in enumerate(words))
            made.append({"id": f"d{i}{name}", "text": text, "day": day})
    return made


def test_a_model_learns_that_copies_of_another_year_are_none(place: Path, run: Run) -> None:
    docs = dated()
    Path("docs.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    trained = ("train", "pairs.jsonl", "--documents", "docs.jsonl", "--model", "linear", "--quiet")
    taken = ("--measures", "words3_jaccard,date_month", "-o", "m.arrow")
    without = run(*trained, *taken)
    assert (without.exit_code, "takes the measure date_month" in without.stderr) == (2, True)
    assert run(*trained, *taken, "--date", "day").exit_code == 0

    given = ("--method", "learned", "--set", "model=m.arrow")
    undated = run("find", "docs.jsonl", "-o", "out", *given)
    assert undated.exit_code == 2
    assert "no column of dates is named. Hint: name it with --date COL" in undated.stderr
    done = run("dedup", "docs.jsonl", "-o", "out", *given, "--date", "day")
    assert done.exit_code == 0, done.output
    found = {frozenset((row["a"], row["b"])) for row in Result.load("out").pairs.to_pylist()}
    assert found == {frozenset((f"d{i}a", f"d{i}b")) for i in range(24)}

    artefacts = Result.load("out")
    method = Learned(str(place / "m.arrow"), date="day")
    with Index.open(place / "new.db", method=method, artefacts=artefacts) as index:
        matches = {doc["id"]: index.add(doc) for doc in docs}
    assert {id for id, match in matches.items() if match} == {f"d{i}b" for i in range(24)}


def test_a_date_that_cannot_be_read_is_neither_near_nor_far(tmp_path: Path) -> None:
    names = ("words3_jaccard", "date_month")
    made = replace(model(), measures=names, discriminant=Linear(np.array([1.0, 8.0]), -4.5))
    made.save(tmp_path / "m.arrow")
    method = Learned(str(tmp_path / "m.arrow"), date="day")
    text = " ".join(f"word{i}" for i in range(60))
    days = {"same": "2024-03-01", "none": None, "soon": "soon", "far": "2019-03-01"}
    docs = [{"id": "first", "text": text + " x", "day": "2024-03-01"}]
    docs += [{"id": id, "text": f"{text} {id}", "day": day} for id, day in days.items()]
    found = nd.find(docs, method=method)
    scores = {row["b"]: row["score"] for row in found.pairs.to_pylist() if row["a"] == "first"}
    assert scores.keys() == {"same", "none", "soon"}
    assert scores["same"] > scores["none"] == scores["soon"]
    assert found.info["flags"]["undated"] == 2


@pytest.mark.parametrize("command", [("find", "docs.jsonl", "-o"), ("index", "build")])
@pytest.mark.parametrize(
    ("file", "sentence", "code"),
    [
        ("none.arrow", "There is no model", 2),
        ("docs.jsonl", "docs.jsonl is not a model", 1),
        ("older.arrow", "was trained on version 99 of the measures", 1),
    ],
)
def test_a_model_that_is_none_is_refused_with_a_sentence(
    place: Path, run: Run, command: tuple[str, ...], file: str, sentence: str, code: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similarity, "VERSION", 99)
        model().save(place / "older.arrow")
    where = ("new",) if command[0] == "find" else ("new.db", "docs.jsonl")
    done = run(*command, *where, "--method", "learned", "--set", f"model={file}")
    assert done.exit_code == code
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
    assert (done.exit_code, "There is no model" in done.stderr) == (2, True)
    model(weights=(4.0, 2.5)).save(place / "m.arrow")
    done = run("index", "check", "x.db", "docs.jsonl")
    assert (done.exit_code, "is not the one that was decided by" in done.stderr) == (1, True)
    (place / "away.arrow").rename(place / "m.arrow")
    back = run("index", "check", "x.db", "docs.jsonl")
    assert back.exit_code == 0, back.output


def test_compare_names_the_model_that_changed_or_went(place: Path, run: Run) -> None:
    model().save(place / "m.arrow")
    given = ("--method", "learned", "--set", "model=m.arrow", "--keep", "first")
    assert run("dedup", "docs.jsonl", "-o", "out", *given).exit_code == 0
    asked = ("compare", "--run", "out", "d0b")
    assert "learned ≥ 0.7" in run(*asked).output
    model(weights=(4.0, 2.5)).save(place / "m.arrow")
    changed = run(*asked)
    assert "is not the one that was decided by" in changed.output
    assert "documents have changed" not in changed.output
    (place / "m.arrow").unlink()
    assert "There is no model" in run(*asked).output
