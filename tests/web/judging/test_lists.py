"""Result lists over HTTP: practice, two assessors, an arbiter, and sets as labels of pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient

from neardup.cli import main
from neardup.labels.label_store import read_labels
from neardup.labels.result_lists import read_lists
from neardup.web.app import make_app
from neardup.web.guard import Guard
from neardup.web.judging.judging_pages import judging_parts
from web.judging_pages import EXAMPLE

Sets = tuple[int, ...]


def rows() -> list[dict[str, Any]]:
    """A list with known sets to practise on, and three that count."""
    text = "the old pier at the harbour will be rebuilt in stone after the council voted eleven"
    made: list[dict[str, Any]] = [
        {"query": "practice", "id": f"p{i}", "text": f"{text} {i}", "set": known}
        for i, known in enumerate(["a", "b", "a", "b", None])
    ]
    for query in ("pier", "bridge", "train"):
        made += [
            {"query": query, "id": f"{query}{i}", "text": f"{query} {text} {i}", "title": f"T{i}"}
            for i in range(5)
        ]
    return made


@pytest.fixture
def client(run_folder: Path, tmp_path: Path) -> TestClient:
    file = tmp_path / "lists.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    done = CliRunner().invoke(main, ["label", "lists", str(run_folder), str(file), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["read"], told["new"], told["practice"]) == (4, 4, 1)
    app = make_app(judging_parts(run_folder), Guard())
    return TestClient(app, base_url="http://localhost", raise_server_exceptions=False)


def mark(client: TestClient, who: str, sets: dict[str, Sets], **more: str) -> list[str]:
    """Marks every list that is left, as said by query."""
    queries = []
    while True:
        answer = client.get(
            "/judge/list.json", params={"assessor": who, **more}, follow_redirects=False
        )
        if answer.status_code != 200:
            return queries
        shown = answer.json()
        assert not shown["marked"]
        marked = {f"set-{i}": str(n) for i, n in enumerate(sets[shown["query"]])}
        fields = {"assessor": who, "name": shown["name"], "seconds": "5", **marked, **more}
        done = client.post("/judge/list", json=fields)
        assert done.status_code == 200, done.text
        queries.append(shown["query"])


ANN: dict[str, Sets] = {
    "pier": (1, 1, 0, 2, 2),
    "bridge": (0, 0, 0, 0, 0),
    "train": (1, 1, 1, 1, 1),
}
BOB: dict[str, Sets] = {**ANN, "pier": (1, 1, 1, 0, 0)}


def test_practice_does_not_count_and_tells_what_is_known(
    client: TestClient, run_folder: Path
) -> None:
    begun = client.post("/judge/lists/begin", json={"assessor": "ann"}).json()
    assert begun["next"] == "/judge/practice?assessor=ann"
    shown = client.get("/judge/practice.json?assessor=ann").json()
    assert shown["known"] is None
    for sets, right in (((2, 1, 2, 1, 0), True), ((1, 1, 0, 0, 0), False)):
        marked = {f"set-{i}": n for i, n in enumerate(sets)}
        fields = {"assessor": "ann", "practice": 1, "name": shown["name"], **marked}
        told = client.get(
            client.post("/judge/list", json=fields)
            .json()["next"]
            .replace("practice?", "practice.json?")
        ).json()
        assert (told["right"], told["known"]) == (right, [1, 2, 1, 2, 0])
    assert not (run_folder / "judging" / "labels.jsonl").exists()
    assert "practice" not in mark(client, "ann", ANN)
    begun = client.post("/judge/lists/begin", json={"assessor": "ann"}).json()
    assert begun["next"] == "/judge/list?assessor=ann"


def test_sets_are_labels_of_all_pairs(client: TestClient, run_folder: Path) -> None:
    assert sorted(mark(client, "ann", ANN)) == ["bridge", "pier", "train"]
    labels = read_labels(run_folder / "judging" / "labels.jsonl")
    assert len(labels) == 3 * 10
    said = {label.pair: label.label for label in labels}
    for query, sets in ANN.items():
        for i in range(5):
            for j in range(i + 1, 5):
                same = sets[i] == sets[j] != 0
                assert said[f"{query}{i}", f"{query}{j}"] == ("duplicate" if same else "not")  # type: ignore[index]
    assert sum(label.seconds or 0 for label in labels) == 15
    done = CliRunner().invoke(
        main, ["label", "export", str(run_folder / "judging" / "labels.jsonl")]
    )
    assert len(done.stdout.strip().split("\n")) == 30


def test_lists_on_which_assessors_differ_go_to_an_arbiter(client: TestClient) -> None:
    mark(client, "ann", ANN)
    mark(client, "bob", BOB)
    front = client.get("/judge/lists.json").json()
    (agreed,) = front["agreements"]
    assert (agreed["lists"], agreed["equal_lists"], front["disputed"]) == (3, 2, 1)
    assert (agreed["sets"]["agreement"], agreed["sets"]["partial"]) == (1, 1)
    assert 0 < agreed["kappa"] < 1
    assert front["runs"] == {}  # the run has none of these documents
    assert "1 disputed list" in client.get("/judge/lists").text
    assert mark(client, "cy", ANN, role="arbiter") == ["pier"]
    assert client.get("/judge/lists.json").json()["disputed"] == 0
    refused = client.post("/judge/lists/begin", json={"assessor": "bob", "role": "arbiter"})
    assert refused.status_code == 400


def test_a_list_may_be_marked_again(client: TestClient, run_folder: Path) -> None:
    mark(client, "ann", ANN)
    before = {one.pair: one.label for one in read_labels(run_folder / "judging" / "labels.jsonl")}
    names = {one["query"]: one["name"] for one in _lists(run_folder)}
    given = {"assessor": "ann", "name": names["pier"]}
    shown = client.get("/judge/list.json", params=given).json()
    assert [one["set"] for one in shown["results"]] == list(ANN["pier"])
    marked = {f"set-{i}": n for i, n in enumerate((0, 0, 0, 0, 0))}
    assert client.post("/judge/list", json={**given, **marked}).json()["new"] == 2
    after = {one.pair: one.label for one in read_labels(run_folder / "judging" / "labels.jsonl")}
    assert {pair for pair in before if before[pair] != after[pair]} == {
        ("pier0", "pier1"),
        ("pier3", "pier4"),
    }


def _lists(run_folder: Path) -> list[dict[str, Any]]:
    lines = (run_folder / "judging" / "lists.jsonl").read_text("utf-8").strip().split("\n")
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("odd", ["-1", "1.5", "x", "١"])
def test_odd_sets_get_a_sentence(client: TestClient, run_folder: Path, odd: str) -> None:
    name = _lists(run_folder)[1]["name"]
    answer = client.post("/judge/list", json={"assessor": "ann", "name": name, "set-0": odd})
    assert answer.status_code == 422
    assert "expected a number" in answer.json()["detail"]


def test_without_lists_the_page_says_how_to_add_some(run_folder: Path) -> None:
    app = make_app(judging_parts(run_folder), Guard())
    bare = TestClient(app, base_url="http://localhost")
    assert "neardup label lists RUN FILE" in bare.get("/judge/lists").text
    assert "Result lists" not in bare.get("/judge").text


def test_a_run_that_is_not_there_is_said(tmp_path: Path) -> None:
    file = tmp_path / "lists.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    done = CliRunner().invoke(main, ["label", "lists", str(tmp_path / "none"), str(file)])
    assert done.exit_code == 1
    assert "name the folder of a run" in done.stderr


def test_the_run_stands_beside_the_sets_of_people(run_folder: Path, tmp_path: Path) -> None:
    documents = [json.loads(line) for line in EXAMPLE.read_text("utf-8").splitlines()][:12]
    file = tmp_path / "lists.jsonl"
    file.write_text("".join(json.dumps({**doc, "query": "q"}) + "\n" for doc in documents))
    app = make_app(judging_parts(run_folder, lists=file), Guard())
    client = TestClient(app, base_url="http://localhost")
    names = [doc["id"].rpartition("-")[0] for doc in documents]
    sets = tuple(1 + list(dict.fromkeys(names)).index(name) for name in names)
    assert mark(client, "ann", {"q": sets}) == ["q"]
    agreed = client.get("/judge/lists.json").json()["runs"]["out"]
    assert agreed["lists"] == 1
    assert agreed["sets"]["gold_sets"] == sum(names.count(name) > 1 for name in set(names))
    assert "The run beside these sets" in client.get("/judge/lists").text


def test_a_file_without_queries_is_one_list() -> None:
    (one,) = read_lists(EXAMPLE.parent / "results.jsonl")
    assert one.query == "results"
    assert len(one.results) == 12
    assert not one.practice
