"""The evaluation of a run follows from its labels, and says what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import neardup as nd
from neardup.labels.label_store import Label
from neardup.web.app import make_app
from neardup.web.evaluation_pages import Background
from neardup.web.guard import Guard
from neardup.web.judging.judging_pages import JudgingParts, judging_parts
from web.judging_pages import EXAMPLE


def same(label: Label) -> bool:
    """The truth of the example, as its ids have it: but 9 or more is another text."""
    return label.a.rpartition("-")[0] == label.b.rpartition("-")[0]


def judged(parts: JudgingParts, count: int, *, wrong: int = 0) -> str:
    """Judges a sample as the ids say; the first ``wrong`` pairs the other way round."""
    folder = parts.judging.desk.folder
    sample = parts.judging.desk.draw(count, 5, 0)
    made = []
    for i, item in enumerate(sorted(folder.items(sample), key=lambda one: one.item)):
        first = Label(item.a, item.b, "duplicate", "ann", kind="revision", sample=sample)
        yes = same(first) != (i < wrong)
        made.append(Label(item.a, item.b, "duplicate" if yes else "not", "ann", kind="revision"))
    folder.store.add_all(made, together=True)
    return sample


def shown(parts: JudgingParts, wish: str = "f1") -> dict[str, Any]:
    """The twin, when nothing is being computed any more."""
    client = TestClient(make_app(parts, Guard()), base_url="http://localhost")
    client.get(f"/evaluation.json?wish={wish}")
    parts.evaluating.background.wait()
    answer = client.get(f"/evaluation.json?wish={wish}")
    assert answer.status_code == 200, answer.text
    page = client.get(f"/evaluation?wish={wish}")
    assert page.status_code == 200
    assert "style=" not in page.text
    found: dict[str, Any] = {**answer.json(), "charts": page.text.count('<svg class="chart"')}
    return found


def test_without_labels_it_invites_to_judge(run_folder: Path) -> None:
    found = shown(judging_parts(run_folder))
    assert found["sample"] is None
    assert (found["learning"]["state"], found["recommended"]["state"]) == ("missing", "missing")
    client = TestClient(make_app(judging_parts(run_folder), Guard()), base_url="http://localhost")
    assert "Nothing is judged yet" in client.get("/evaluation").text


def test_figures_tables_and_measures_agree(run_folder: Path) -> None:
    parts = judging_parts(run_folder)
    judged(parts, 90, wrong=20)
    found = shown(parts)
    (one,) = found["treatments"]
    exact = found["labels"]["duplicate"] / 90
    assert one["precision"]["value"] == pytest.approx(exact)
    assert one["precision"]["interval"] == pytest.approx([exact, exact])  # every pair was judged
    assert sum(row["pairs"] for row in found["strata"]) == 90
    assert sum(row["duplicates"] for row in found["strata"]) == found["labels"]["duplicate"]
    points = found["curves"]["out"]["points"]
    assert points[0]["precision"] == pytest.approx(exact)
    assert points[0]["recall"] == 1
    assert [p["recall"] for p in points] == sorted((p["recall"] for p in points), reverse=True)
    assert found["recommended"]["state"] == "ready"
    assert found["recommended"]["value"]["command"].startswith("neardup dedup ")
    assert found["learning"]["state"] == "ready"
    kinds = nd.Result.load(run_folder).pairs["kind"].to_pylist()
    equal = sum(kind in ("identical", "normalised") for kind in kinds)
    assert equal > 0
    assert found["learning"]["value"]["pairs"] == 90 - equal  # which teach nothing
    assert "revision" in found["kinds"]["table"]
    assert found["charts"] == 3  # precision by score, thresholds, the learning curve
    assert "<svg" not in str(found)  # figures are for eyes; their numbers stand in the twin


def test_a_wish_is_answered_and_an_odd_one_refused(run_folder: Path) -> None:
    parts = judging_parts(run_folder)
    judged(parts, 40, wrong=6)
    value = shown(parts, "precision=0.95")["recommended"]["value"]
    assert value["wish"] == {"measure": "precision", "least": 0.95}
    client = TestClient(make_app(parts, Guard()), base_url="http://localhost")
    assert client.get("/evaluation.json?wish=luck").status_code == 400


def test_samples_of_a_run_that_was_made_anew_are_set_apart(run_folder: Path) -> None:
    judged(judging_parts(run_folder), 20)
    nd.dedup(str(EXAMPLE), method="shingles", threshold=0.6).save(run_folder, overwrite=True)
    parts = judging_parts(run_folder)
    found = shown(parts)
    assert found["stale"] == ["sample-1"]
    assert found["sample"] is None
    assert found["labels"]["duplicate"] > 0
    assert parts.judging.desk.draw(20, 5, 0) == "sample-2"


def test_a_run_that_was_moved_keeps_its_samples(run_folder: Path, tmp_path: Path) -> None:
    judged(judging_parts(run_folder), 20)
    moved = run_folder.rename(tmp_path / "elsewhere")
    found = shown(judging_parts(moved))
    assert found["stale"] == []
    assert found["treatments"][0]["name"] == "elsewhere"
    assert found["curves"]["elsewhere"]["judged"] == 20


def test_without_the_documents_it_says_what_cannot_be_computed(tmp_path: Path) -> None:
    copy = tmp_path / "news.jsonl"
    copy.write_bytes(EXAMPLE.read_bytes())
    nd.dedup(str(copy)).save(tmp_path / "out")
    parts = judging_parts(tmp_path / "out")
    judged(parts, 60, wrong=15)
    copy.unlink()
    found = shown(parts)
    assert found["treatments"][0]["precision"]["value"] is not None
    for one in (found["learning"], found["recommended"]):
        assert (one["state"], one["value"]) == ("failed", None)
        assert "news.jsonl" in one["reason"]


def test_what_was_computed_is_kept_until_labels_change() -> None:
    background, calls = Background(), []

    def compute() -> int:
        calls.append(1)
        return len(calls)

    def ask(state: str) -> Any:
        background.ask("x", state, compute)
        background.wait()
        return background.ask("x", state, compute).value

    assert [ask("one"), ask("one"), ask("two")] == [1, 1, 2]
    background.ask("y", "s", lambda: 1 / 0)
    background.wait()
    failed = background.ask("y", "s", lambda: 1)
    assert (failed.state, failed.reason) == ("failed", "Unexpected ZeroDivisionError: see the log.")


def test_an_index_is_judged_and_evaluated_too(tmp_path: Path) -> None:
    import json

    store = tmp_path / "news.db"
    with nd.Index.open(str(store), method="shingles", threshold=0.4, texts=True) as index:
        for line in EXAMPLE.read_text("utf-8").splitlines():
            index.add(json.loads(line))
    parts = judging_parts(store)
    judged(parts, 10, wrong=2)
    assert (tmp_path / "news.db.judging" / "labels.jsonl").exists()
    found = shown(parts)
    assert found["treatments"][0]["name"] == "news.db"
    assert found["treatments"][0]["precision"]["value"] is not None
    assert found["recommended"]["state"] == "ready"
