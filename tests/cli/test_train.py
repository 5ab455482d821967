"""From labels to a model and to the next labels, by commands alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from cli.sample import Run
from evaluation.training.labelled import labels, written
from neardup.artefacts.model import load_model
from neardup.labels.label_store import Label, LabelStore


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    return tmp_path


def test_a_model_from_pairs_and_what_it_is(place: Path, run: Run) -> None:
    asked = ("train", "pairs.jsonl", "--documents", "docs.jsonl", "--model", "linear")
    asked += ("--measures", "auto")
    done = run(*asked, "-o", "m.arrow")
    assert done.exit_code == 0, done.output
    for title in ("How good", "Measures", "Which measures are needed", "What labels are worth"):
        assert title in done.stdout
    assert "The model is m.arrow." in done.stderr
    assert run("train", "--show", "m.arrow").stdout == done.stdout
    told = json.loads(run("train", "--show", "m.arrow", "--json").stdout)
    assert (told["discriminant"], told["trained"]["pairs"]) == ("linear", 48)
    first = (place / "m.arrow").read_bytes()
    again = run(*asked, "-o", "m.arrow")
    assert again.exit_code == 2
    assert "already exists" in again.stderr
    assert run(*asked, "-o", "m.arrow", "--overwrite", "--quiet").exit_code == 0
    assert (place / "m.arrow").read_bytes() == first


def test_an_evaluation_says_that_a_model_was_trained_on_these_documents(
    place: Path, run: Run
) -> None:
    """Also of pairs that were scored before; of some of the documents it does not know."""
    given = ("train", "pairs.jsonl", "--documents", "docs.jsonl", "--model", "linear")
    assert run(*given, "-o", "m.arrow", "--quiet").exit_code == 0
    asked = ("--pairs", "pairs.jsonl", "--method", "learned model=m.arrow", "--method", "learned")
    for _ in range(2):
        done = run("evaluate", "docs.jsonl", *asked, "-o", "out", "--json")
        told = json.loads(done.stdout)["settings"]
        assert [one["taught_here"] for one in told] == [True, False]
    shown = " ".join(run("evaluate", "docs.jsonl", *asked).stdout.split())
    assert "trained on labels of these documents" in shown
    rows = (place / "docs.jsonl").read_text("utf-8").splitlines(keepends=True)
    (place / "some.jsonl").write_text("".join(rows[2:]), "utf-8")
    other = run("evaluate", "some.jsonl", *asked)
    assert other.exit_code == 0, other.output
    assert "trained on labels" not in " ".join(other.stdout.split())


def test_a_model_from_groups_says_the_same_of_copies(place: Path, run: Run) -> None:
    given = ("--documents", "docs.jsonl", "--group", "set", "--model", "trees")
    done = run("train", *given, "-o", "m.arrow", "--json", "--quiet")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["trained"]["labels"] == "groups by set"
    assert load_model(place / "m.arrow").discriminant.monotone()


@pytest.mark.usefixtures("place")
def test_a_model_from_a_list_of_all_duplicates(run: Run) -> None:
    given = ("pairs.jsonl", "--negative", "nothing", "--documents", "docs.jsonl", "-o", "m.arrow")
    refused = run("train", *given, "--model", "linear", "--quiet")
    assert refused.exit_code == 1
    assert "0 are no duplicates" in refused.stderr
    done = run("train", *given, "--model", "linear", "--complete", "--json", "--quiet")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)["trained"]
    assert told["duplicates"] == 24
    assert told["others"] > 20
    both = run("train", "--group", "set", "--complete", *given[3:])
    assert both.exit_code == 2
    assert "--complete and --group cannot be combined" in both.stderr
    unused = run("train", "--group", "set", "--positive", "4", *given[3:])
    assert "--positive is for a file of pairs" in unused.stderr
    few = run("train", *given, "--complete", "--max-pairs", "12", "--overwrite")
    assert few.exit_code == 1
    assert "Hint: give a larger --max-pairs." in few.stderr


def test_a_store_of_labels_is_not_complete(place: Path, run: Run) -> None:
    LabelStore(place / "some.labels.jsonl").add_all([Label("d0a", "d0b", "duplicate", "ann")])
    given = ("--documents", "docs.jsonl", "-o", "m.arrow", "--complete")
    done = run("train", "some.labels.jsonl", *given)
    assert done.exit_code == 2
    assert "is a label store, which never contains all duplicates" in done.stderr


def test_the_next_labels_are_suggested_judged_and_learned_from(place: Path, run: Run) -> None:
    store = LabelStore(place / "some.labels.jsonl")
    truth = {frozenset((a, b)): same for a, b, same in labels()}
    said = list(truth.items())[:30]
    store.add_all(Label(*pair, "duplicate" if same else "not", "ann") for pair, same in said)
    options = ("--method", "join", "--threshold", "0.01", "--set", "size=1")
    assert run("find", "docs.jsonl", "-o", "low", "--quiet", *options).exit_code == 0
    first = run("label", "suggest", "low", "-n", 8, "-o", "first.jsonl")
    assert "8 pairs to judge in first.jsonl" in first.stderr
    trained = ("train", "some.labels.jsonl", "--documents", "docs.jsonl", "--quiet")
    assert run(*trained, "--model", "linear", "-o", "m.arrow").exit_code == 0
    known = ("--model", "m.arrow", "--labels", "some.labels.jsonl")
    done = run("label", "suggest", "low", *known, "-n", 6, "-o", "next.jsonl")
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in (place / "next.jsonl").read_text().splitlines()]
    assert len(rows) == 6
    assert not {frozenset((row["a"], row["b"])) for row in rows} & {pair for pair, _ in said}
    for row in rows:
        row["label"] = "duplicate" if truth.get(frozenset((row["a"], row["b"]))) else "not"
    (place / "ann.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    judged = ("label", "import", "next.jsonl", "ann.jsonl", "--assessor", "ann")
    assert run(*judged, "--labels", "some.labels.jsonl").exit_code == 0
    told = run(*trained, "--model", "linear", "-o", "better.arrow", "--json").stdout
    assert json.loads(told)["trained"]["pairs"] == 36
    done = run("label", "measure", "next.jsonl", "--labels", "some.labels.jsonl")
    assert done.exit_code == 1
    assert "selected to train a model" in done.stderr


def test_candidates_may_be_a_file_of_pairs(place: Path, run: Run) -> None:
    asked = ("label", "suggest", "pairs.jsonl", "-n", 5, "-o", "s.jsonl")
    assert "name the documents with --documents" in run(*asked).stderr
    done = run(*asked, "--documents", "docs.jsonl")
    assert done.exit_code == 0, done.output
    assert len((place / "s.jsonl").read_text().splitlines()) == 5
    done = run(*asked, "--documents", "docs.jsonl", "--overwrite", "--labels", "pairs.jsonl")
    assert done.exit_code == 1
    assert "There is no pair left to judge in pairs.jsonl" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ((), 2, "Missing argument 'LABELS...'"),
        (("pairs.jsonl", "--group", "set"), 2, "LABELS and --group cannot be combined"),
        (("pairs.jsonl", "--documents", "docs.jsonl"), 2, "Missing option '--out'"),
        (("pairs.jsonl", "--documents", "docs.jsonl", "-o", "docs.jsonl"), 2, "is also an input"),
        (("pairs.jsonl", "--show", "m.arrow"), 2, "--show takes only a model"),
        (("--show", "pairs.jsonl"), 1, "pairs.jsonl is not a model: it is not an Arrow file"),
        (
            ("pairs.jsonl", "--documents", "docs.jsonl", "-o", "m", "--model", "oak"),
            2,
            "There is no model 'oak'",
        ),
        (
            ("pairs.jsonl", "--documents", "docs.jsonl", "-o", "m", "--measures", "a,b"),
            2,
            "There is no measure 'a'",
        ),
        (
            ("pairs.jsonl", "--documents", "docs.jsonl", "-o", "m", "--max-pairs", "0"),
            2,
            "max_pairs is 0",
        ),
        (("none.jsonl", "--documents", "docs.jsonl", "-o", "m"), 1, "none.jsonl"),
        (
            ("docs.jsonl", "--documents", "docs.jsonl", "-o", "m"),
            2,
            "Column 'a' is not in docs.jsonl",
        ),
    ],
)
def test_mistakes_are_sentences(
    place: Path, run: Run, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    done = run("train", *arguments)
    assert sentence in done.stderr
    assert done.exit_code == code
    assert not (place / "m").exists()


def test_without_the_extra_it_says_what_to_install(
    place: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    done = run("train", "pairs.jsonl", "--documents", "docs.jsonl", "-o", "m")
    assert done.exit_code == 2
    assert "pip install 'neardup[learn]'" in done.stderr
    assert place.exists()
