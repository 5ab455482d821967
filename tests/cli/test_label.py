"""From a run to precision and recall, with two assessors and an arbiter, by commands alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.sample import Run
from labels.test_sampling import collection


@pytest.fixture
def place(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    docs = tmp_path / "docs.jsonl"
    docs.write_text("".join(json.dumps(doc) + "\n" for doc in collection()))
    for name, threshold in (("low", "0.5"), ("high", "0.8")):
        options = ("--method", "shingles", "--threshold", threshold)
        assert run("find", docs, "-o", name, "--quiet", *options).exit_code == 0
    done = run("label", "sample", "low", "high", "-n", 10, "-o", "s.jsonl")
    assert done.exit_code == 0, done.output
    assert "pairs to judge in s.jsonl" in done.stderr
    return tmp_path


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").strip().split("\n")]


def same(row: dict[str, Any]) -> bool:
    """The truth of this collection: versions 0 and 1 are duplicates, version 2 is another text."""
    return not any(one.endswith("v2") for one in (row["a"], row["b"]))


def judge(place: Path, name: str, wrong: int = 0, open_: int = 0) -> Path:
    judged = rows(place / "s.jsonl")
    for i, row in enumerate(judged):
        row["label"] = "duplicate" if same(row) != (i < wrong) else "not"
    for row in judged[len(judged) - open_ :]:
        row["label"] = None
    path = place / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in judged))
    return path


def test_two_assessors_an_arbiter_and_what_comes_of_it(place: Path, run: Run) -> None:
    ann, bob = judge(place, "ann"), judge(place, "bob", wrong=3)
    count = len(rows(place / "s.jsonl"))
    for name, path in (("ann", ann), ("bob", bob)):
        done = run("label", "import", "s.jsonl", path, "--assessor", name)
        assert f"{count} labels of {name}, {count} of them new" in done.stderr
    done = run("label", "agree", "s.labels.jsonl", "--json")
    found = json.loads(done.stdout)
    assert found["agreements"][0]["equal"] == count - 3
    assert len(found["disputed"]) == 3
    done = run("label", "measure", "s.jsonl")
    assert "3 pairs are disputed" in done.stdout
    done = run("label", "export", "s.labels.jsonl", "--disputed", "s.jsonl", "-o", "open.jsonl")
    assert done.exit_code == 0, done.output
    assert "label" in rows(place / "open.jsonl")[0]
    asked = rows(place / "open.jsonl")
    (place / "cy.jsonl").write_text(
        "".join(
            json.dumps({"item": r["item"], "label": "duplicate" if same(r) else "not"}) + "\n"
            for r in asked
        )
    )
    run("label", "import", "s.jsonl", "cy.jsonl", "--assessor", "cy", "--arbiter")
    assert "0 disputed" in run("label", "agree", "s.labels.jsonl").stdout
    gold = run("label", "export", "s.labels.jsonl")
    lines = [json.loads(line) for line in gold.stdout.splitlines()]
    assert len(lines) == count
    assert all((row["label"] == "duplicate") == same(row) for row in lines)


def test_precision_is_near_the_truth(place: Path, run: Run) -> None:
    import neardup as nd

    run("label", "sample", "low", "high", "-n", 1000, "-o", "s.jsonl", "--overwrite")
    run("label", "import", "s.jsonl", judge(place, "ann"), "--assessor", "ann")
    found = json.loads(run("label", "measure", "s.jsonl", "--json").stdout)
    for one in found["treatments"]:
        pairs = nd.Result.load(place / one["name"]).pairs.to_pylist()
        true = sum(map(same, pairs))
        assert one["precision"]["value"] == pytest.approx(true / len(pairs))
        assert one["precision"]["interval"] == pytest.approx([true / len(pairs)] * 2)
    low, high = found["treatments"]
    assert low["recall"]["value"] == 1
    assert high["recall"]["value"] < 1


def test_importing_again_changes_nothing_and_a_second_thought_counts(place: Path, run: Run) -> None:
    judged = judge(place, "ann", open_=4)
    done = run("label", "import", "s.jsonl", judged, "--assessor", "ann")
    assert "4 rows have no label yet" in done.stderr
    before = (place / "s.labels.jsonl").read_bytes()
    done = run("label", "import", "s.jsonl", judged, "--assessor", "ann", "--json")
    assert json.loads(done.stdout)["new"] == 0
    assert (place / "s.labels.jsonl").read_bytes() == before
    judge(place, "ann", wrong=2)
    done = run("label", "import", "s.jsonl", judged, "--assessor", "ann", "--json")
    assert json.loads(done.stdout)["new"] == 6
    (place / "s.labels.jsonl").write_bytes((place / "s.labels.jsonl").read_bytes()[:-9])
    assert "an incomplete row" in run("label", "measure", "s.jsonl").stderr
    done = run("label", "import", "s.jsonl", judged, "--assessor", "ann")
    assert "was moved to" in done.stderr
    assert "1 of them new" in done.stderr


def test_a_file_under_the_wrong_name_can_be_taken_back(place: Path, run: Run) -> None:
    count = len(rows(place / "s.jsonl"))
    run("label", "import", "s.jsonl", judge(place, "bob"), "--assessor", "ann")
    done = run("label", "undo", "s.labels.jsonl", "--assessor", "ann", "-n", count)
    assert done.stdout.count("taken back") == count
    assert "0 pairs are settled" in run("label", "agree", "s.labels.jsonl").stdout
    done = run("label", "undo", "s.labels.jsonl", "--assessor", "ann")
    assert done.exit_code == 1
    assert "no label of 'ann' to take back" in done.stderr


def test_mistakes_are_sentences(place: Path, run: Run) -> None:
    done = run("label", "sample", "low", "-o", "s.jsonl")
    assert done.exit_code == 2
    assert "already exists" in done.stderr
    done = run("label", "measure", "s.jsonl")
    assert done.exit_code == 1
    assert "The label store s.labels.jsonl does not exist" in done.stderr
    (place / "bad.jsonl").write_text('{"item": "nobody", "label": "not"}\n')
    done = run("label", "import", "s.jsonl", "bad.jsonl", "--assessor", "ann")
    assert done.exit_code == 1
    assert "nothing was stored" in done.stderr
    assert not (place / "s.labels.jsonl").exists()
    done = run("label", "sample", "nowhere", "-o", "t.jsonl")
    assert "not the folder of a finished run" in done.stderr


def test_runs_of_one_name_are_told_apart(place: Path, run: Run) -> None:
    (place / "more").mkdir()
    run("find", "docs.jsonl", "-o", "more/low", "--quiet")
    done = run("label", "sample", "low", "more/low", "-o", "t.jsonl", "--json")
    assert [t["name"] for t in json.loads(done.stdout)["treatments"]] == ["low", "more/low"]


def test_exported_labels_are_gold(place: Path, run: Run) -> None:
    run("label", "import", "s.jsonl", judge(place, "ann"), "--assessor", "ann")
    assert run("label", "export", "s.labels.jsonl", "-o", "gold.jsonl").exit_code == 0
    done = run("evaluate", "docs.jsonl", "--pairs", "gold.jsonl", "--threshold", 0.5, "--json")
    assert done.exit_code == 0, done.output
    gold = json.loads(done.stdout)["gold"]
    labels = [same(row) for row in rows(place / "gold.jsonl")]
    assert gold["labels"] == {"duplicate": sum(labels), "not": len(labels) - sum(labels)}
    (cut,) = json.loads(done.stdout)["settings"][0]["cuts"]
    assert cut["all"]["tp"] == sum(labels)
