"""Judging over HTTP: blind, durable, one name one role, and read by the command line as it is."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient

import neardup as nd
from neardup.cli import main
from neardup.errors import SettingsError
from neardup.labels.label_store import read_labels
from neardup.labels.samples import GUIDELINES, guideline_of, judging_folder
from neardup.web.app import make_app
from neardup.web.guard import Guard
from neardup.web.judging.judging_pages import judging_parts
from web.judging_pages import EXAMPLE

Answer = Callable[[int], str]


def opened(run: Path, *others: Path, guideline: str | None = None) -> TestClient:
    app = make_app(judging_parts(run, others=others, guideline=guideline), Guard())
    return TestClient(app, base_url="http://localhost", raise_server_exceptions=False)


@pytest.fixture
def client(run_folder: Path) -> TestClient:
    return opened(run_folder)


def begin(client: TestClient, who: str = "ann", **fields: Any) -> str:
    answer = client.post("/judge/begin", json={"assessor": who, **fields})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["sample"])


def pair(client: TestClient, sample: str, who: str, **more: str) -> dict[str, Any] | None:
    """None where nothing is left."""
    given = {"sample": sample, "assessor": f" {who} ", **more}
    answer = client.get("/judge/pair.json", params=given, follow_redirects=False)
    return answer.json() if answer.status_code == 200 else None


def say(client: TestClient, sample: str, who: str, label: str, **more: Any) -> dict[str, Any]:
    shown = pair(client, sample, who, **{k: more[k] for k in ("role",) if k in more})
    assert shown is not None
    given = {"sample": sample, "assessor": who, "item": shown["item"], "label": label, **more}
    answer = client.post("/judge/label", json=given)
    assert answer.status_code == 200, answer.text
    return shown


def judge_all(client: TestClient, sample: str, who: str, answer: Answer, **more: Any) -> list[str]:
    items: list[str] = []
    while pair(client, sample, who, **more):
        items.append(say(client, sample, who, answer(len(items)), **more)["item"])
    return items


def result(client: TestClient, sample: str, who: str) -> dict[str, Any]:
    given = {"sample": sample, "assessor": who}
    found: dict[str, Any] = client.get("/judge/result.json", params=given).json()
    return found


def test_a_new_user_sees_precision_with_its_interval(client: TestClient) -> None:
    sample = begin(client)
    items = judge_all(client, sample, "ann", lambda i: "not" if i == 0 else "duplicate")
    assert len(set(items)) == 20
    found = client.get("/judge/result.json", params={"sample": sample, "assessor": "ann"}).json()
    (one,) = found["treatments"]
    low, high = one["precision"]["interval"]
    assert 0.5 < low < one["precision"]["value"] < high <= 1
    assert found["left"] == 0
    # The twin of a pair leads to the twin of the result when nothing is left.
    assert (
        client.get("/judge/pair.json", params={"sample": sample, "assessor": "ann"}).json() == found
    )
    page = client.get("/judge/result", params={"sample": sample, "assessor": "ann"}).text
    assert f"{one['precision']['value']:.2f}" in page
    assert one["sentence"] in page.replace("&#39;", "'")


def test_nothing_of_a_method_is_told_to_an_assessor(client: TestClient, run_folder: Path) -> None:
    sample = begin(client)
    key = json.loads((run_folder / "judging" / f"{sample}.key.json").read_text())
    ids = {one for both in key["pairs"].values() for one in both}
    bob = begin(client, "bob")
    judge_all(client, bob, "bob", lambda _: "undecided")
    for view in ("aligned", "plain"):
        given = {"sample": sample, "assessor": "ann", "view": view}
        shown = client.get("/judge/pair.json", params=given)
        said = json.dumps({k: v for k, v in shown.json().items() if k not in ("aligned", "texts")})
        both = (said, client.get("/judge/pair", params=given).text)
        assert not {"score", "method", "decision", "treatments"} & shown.json().keys()
        for text in both:
            assert "rareshingles" not in text
            assert "bob" not in text
            assert not any(f'"{one}"' in text or f">{one}<" in text for one in ids)
        assert shown.json()["said"] is None


def test_every_assessor_has_the_same_pairs_in_another_order(client: TestClient) -> None:
    sample = begin(client)
    assert begin(client, "bob") == sample
    ann, bob = (judge_all(client, sample, who, lambda _: "not") for who in ("ann", "bob"))
    assert sorted(ann) == sorted(bob)
    assert ann != bob


def test_a_label_is_on_the_disk_before_it_is_answered(client: TestClient, run_folder: Path) -> None:
    sample = begin(client)
    say(client, sample, "ann", "duplicate", kind="revision", note="hm", seconds=4.2)
    (label,) = read_labels(run_folder / "judging" / "labels.jsonl")
    assert (label.label, label.kind, label.note, label.seconds) == (
        "duplicate",
        "revision",
        "hm",
        4.2,
    )
    assert (label.sample, label.assessor, label.arbiter) == (sample, "ann", False)


def test_another_server_goes_on_where_the_first_died(run_folder: Path) -> None:
    """Nothing is kept in the server, so a new one over the same folder is the same place."""
    first = opened(run_folder)
    sample = begin(first)
    for _ in range(7):
        say(first, sample, "ann", "duplicate")
    before = pair(first, sample, "ann")
    torn = (run_folder / "judging" / "labels.jsonl").open("ab")
    torn.write(b'{"a": "half')  # it died while it wrote
    torn.close()
    second = opened(run_folder)
    assert pair(second, sample, "ann") == before
    assert begin(second) == sample
    say(second, sample, "ann", "not")
    shown = pair(second, sample, "ann")
    assert shown is not None
    assert shown["done"] == 8


def test_undo_goes_back_pair_by_pair(client: TestClient) -> None:
    sample = begin(client)
    items = [say(client, sample, "ann", "duplicate")["item"] for _ in range(3)]
    for item in reversed(items):
        answer = client.post("/judge/undo", json={"sample": sample, "assessor": "ann"}).json()
        assert answer["taken_back"] == 1
        assert f"item={item}" in answer["next"]
    answer = client.post("/judge/undo", json={"sample": sample, "assessor": "ann"}).json()
    assert answer["taken_back"] == 0
    again = [say(client, sample, "ann", "not")["item"] for _ in range(3)]
    assert again == items


def test_disagreements_go_to_an_arbiter_who_is_not_told_who_said_what(client: TestClient) -> None:
    sample = begin(client)
    judge_all(client, sample, "ann", lambda _: "duplicate")
    bob = judge_all(client, sample, "bob", lambda i: "not" if i < 3 else "duplicate")
    shown = client.get("/judge/disputes.json").json()
    (disputed,) = shown["samples"]
    assert {one["item"] for one in disputed["pairs"]} == set(bob[:3])
    assert all(one["said"] == {"duplicate": 1, "not": 1} for one in disputed["pairs"])
    assert not {"ann", "bob"} & set(json.dumps(disputed["pairs"]).split('"'))
    (agreed,) = shown["agreements"]
    assert (agreed["pairs"], agreed["equal"]) == (20, 17)
    assert agreed["kappa_interval"][0] <= agreed["kappa"] <= agreed["kappa_interval"][1]
    refused = client.post("/judge/begin", json={"assessor": "ann", "role": "arbiter"})
    assert refused.status_code == 400
    assert "judged here as assessor" in refused.json()["detail"]
    say(client, sample, "cy", "not", role="arbiter")
    assert (result(client, sample, "cy")["left"], result(client, sample, "bob")["left"]) == (2, 0)
    page = client.get("/judge/result", params={"sample": sample, "assessor": "cy"}).text
    assert "assessor=cy&amp;role=arbiter" in page
    judge_all(client, sample, "cy", lambda _: "not", role="arbiter")
    assert result(client, sample, "cy")["left"] == 0
    decided = [one["item"] for one in result(client, sample, "cy")["judged"]]
    assert sorted(decided) == sorted(bob[:3])
    assert client.get("/judge/disputes.json").json()["disputed"] == 0
    (one,) = client.get("/judge/result.json", params={"sample": sample}).json()["treatments"]
    assert one["decided"] == 20


def test_several_runs_have_pooled_recall(run_folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "simhash"
    nd.find(str(EXAMPLE), method="simhash", distance=8).save(other)
    client = opened(run_folder, other)
    sample = begin(client, n=10)
    judge_all(client, sample, "ann", lambda i: "not" if i % 4 == 0 else "duplicate")
    found = client.get("/judge/result.json", params={"sample": sample}).json()["treatments"]
    assert [one["name"] for one in found] == ["out", "simhash"]
    assert all(0 <= one["pooled"]["value"] <= 1 for one in found)
    page = client.get("/judge/result", params={"sample": sample}).text
    assert "of the pool" in page


def test_the_command_line_reads_what_was_judged(client: TestClient, run_folder: Path) -> None:
    sample = begin(client, n=60)
    judge_all(client, sample, "ann", lambda i: "duplicate" if i % 3 else "not")
    folder = run_folder / "judging"
    labels = str(folder / "labels.jsonl")

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(main, list(arguments))
        assert done.exit_code == 0, done.output
        return done.stdout

    shown = client.get("/judge/result.json", params={"sample": sample}).json()["treatments"]
    told = run("label", "measure", str(folder / f"{sample}.jsonl"), "--labels", labels, "--json")
    measured = json.loads(told)["treatments"]
    assert [one["precision"] for one in measured] == [one["precision"] for one in shown]
    assert json.loads(run("label", "agree", labels, "--json"))["settled"] == 60
    gold = run_folder.parent / "gold.jsonl"
    run("label", "export", labels, "-o", str(gold))
    assert gold.read_bytes() == client.get("/judge/export?what=gold").content
    evaluated = json.loads(run("evaluate", str(EXAMPLE), "--pairs", str(gold), "--json"))
    counts = evaluated["settings"][0]["cuts"][0]["all"]
    assert (counts["tp"] + counts["fn"], counts["fp"]) == (40, 20)
    model = str(run_folder.parent / "m.model")
    run(
        "train",
        labels,
        "--documents",
        str(EXAMPLE),
        "-o",
        model,
        "--model",
        "linear",
        "--measures",
        "all",
    )
    front = client.get("/judge.json").json()
    assert front["missing_to_train"] is None
    assert front["train"].startswith(f"neardup train {labels} --documents {EXAMPLE} -o")
    # With so many labels a model says which pairs would teach most.
    suggested = begin(client, what="suggest", suggested=5)
    new, known = (_pairs(folder / f"{name}.jsonl") for name in (suggested, sample))
    assert len(new) == 5
    assert not new & known


def _pairs(path: Path) -> set[tuple[str, ...]]:
    rows = [json.loads(line) for line in path.read_text("utf-8").strip().split("\n")]
    return {tuple(sorted((row["a"], row["b"]))) for row in rows}


def test_export_and_import_are_each_others_way_back(
    client: TestClient, made_run: Path, tmp_path: Path
) -> None:
    import shutil

    sample = begin(client)
    judge_all(client, sample, "ann", lambda i: "duplicate" if i % 2 else "not")
    exported = client.get("/judge/export?what=labels").content
    shutil.copytree(made_run, tmp_path / "elsewhere" / "out")
    other = opened(tmp_path / "elsewhere" / "out")
    same = begin(other)
    taken = other.post("/judge/import", params={"sample": same}, content=exported)
    assert taken.json() == {"read": 20, "new": 20, "without_label": 0}
    again = other.post("/judge/import", params={"sample": same}, content=exported)
    assert again.json()["new"] == 0
    rows = [
        json.loads(line)
        for line in client.get(f"/judge/export?what=sample&sample={sample}")
        .text.strip()
        .split("\n")
    ]
    copies = "".join(json.dumps({**row, "label": "yes"}) + "\n" for row in rows[:5])
    more = client.post(
        "/judge/import", params={"sample": sample, "assessor": "bob"}, content=copies
    )
    assert more.json() == {"read": 5, "new": 5, "without_label": 0}


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b'{"item": "nothing", "label": "not", "assessor": "ann"}\n', 422, "is not in the sample"),
        (b"nonsense\n", 422, "is no JSON"),
        (b"\xff\xfe", 422, "is not UTF-8"),
        (b'{"a": "x", "b": "y", "label": "maybe", "assessor": 7}', 422, "there is no assessor"),
    ],
)
def test_what_is_wrong_is_not_imported(
    client: TestClient, run_folder: Path, body: bytes, status: int, said: str
) -> None:
    sample = begin(client)
    answer = client.post("/judge/import", params={"sample": sample}, content=body)
    assert answer.status_code == status
    assert said in answer.json()["detail"]
    assert not (run_folder / "judging" / "labels.jsonl").exists()


@pytest.mark.parametrize(
    ("path", "fields", "status"),
    [
        ("/judge/begin", {"assessor": "x" * 200}, 400),
        ("/judge/begin", {"assessor": "ann", "what": "../../etc/passwd"}, 422),
        ("/judge/begin", {"assessor": "ann", "n": "0"}, 400),
        ("/judge/begin", {"assessor": "ann", "n": "many"}, 422),
        ("/judge/begin", {"assessor": "ann", "note": "x" * 3000}, 422),
        ("/judge/label", {"sample": "sample-1", "assessor": "ann", "label": "maybe"}, 404),
        ("/judge/label", {"sample": "none", "assessor": "ann", "label": "not"}, 422),
        ("/judge/undo", {"sample": "sample-1", "assessor": ""}, 400),
        ("/judge/list", {"assessor": "ann", "name": "none"}, 404),
    ],
)
def test_odd_requests_get_a_sentence(
    client: TestClient, path: str, fields: dict[str, str], status: int
) -> None:
    begin(client)
    answer = client.post(path, json=fields)
    assert answer.status_code == status, answer.text
    assert answer.json()["detail"]


def test_halves_of_characters_and_floods_are_refused(client: TestClient) -> None:
    half = client.post(
        "/judge/begin",
        content=b'{"assessor": "\\ud800"}',
        headers={"content-type": "application/json"},
    )
    assert half.status_code == 422
    flood = client.post("/judge/begin", content=b"assessor=" + b"x" * 300_000)
    assert flood.status_code == 413
    nothing = client.post(
        "/judge/begin", content=b"[1]", headers={"content-type": "application/json"}
    )
    assert nothing.status_code == 422


def test_forms_work_without_a_script(client: TestClient) -> None:
    begun = client.post(
        "/judge/begin", data={"assessor": "ann é", "what": "draw"}, follow_redirects=False
    )
    assert begun.status_code == 303
    place = begun.headers["location"]
    assert place == "/judge/pair?sample=sample-1&assessor=ann%20%C3%A9"
    assert "Pair 1 of 20" in client.get(place).text
    item = client.get(place.replace("/pair?", "/pair.json?")).json()["item"]
    fields = {"sample": "sample-1", "assessor": "ann é", "item": item, "label": "not"}
    page = client.post("/judge/label", data=fields)
    assert "Pair 2 of 20" in page.text


def test_suggested_pairs_are_new_and_say_nothing_of_precision(client: TestClient) -> None:
    drawn = begin(client)
    judge_all(client, drawn, "ann", lambda _: "duplicate")
    sample = begin(client, what="suggest", suggested=5)
    assert sample == "suggested-1"
    items = judge_all(client, sample, "ann", lambda _: "not")
    assert len(items) == 5
    front = client.get("/judge.json").json()
    assert front["labels"] == 25
    assert "so far there are 20 and 5" in front["missing_to_train"]
    result = client.get("/judge/result", params={"sample": sample, "assessor": "ann"})
    assert "do not measure precision" in result.text


def test_two_browsers_at_once_lose_nothing(client: TestClient, run_folder: Path) -> None:
    import threading

    sample = begin(client)
    threads = [
        threading.Thread(target=judge_all, args=(client, sample, who, lambda _: "not"))
        for who in ("ann", "bob", "cy")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    labels = read_labels(run_folder / "judging" / "labels.jsonl")
    assert len(labels) == 60
    assert sorted(labels.assessors) == ["ann", "bob", "cy"]


def test_the_card_of_the_front_page_invites_and_then_tells(run_folder: Path) -> None:
    parts = judging_parts(run_folder)
    client = TestClient(make_app(parts, Guard()), base_url="http://localhost")
    invitation = parts.judging.card()
    assert (invitation["link"], invitation["href"]) == ("Judge 20 pairs", "/judge")
    sample = begin(client)
    judge_all(client, sample, "ann", lambda _: "duplicate")
    assert "of the 90 pairs" in parts.judging.card()["text"]


def test_a_disk_that_takes_nothing_is_said_and_nothing_is_acknowledged(
    client: TestClient, run_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = begin(client)
    say(client, sample, "ann", "duplicate")
    before = pair(client, sample, "ann")
    assert before is not None

    def full(_file: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("neardup.files.os.write", full)
    fields = {"sample": sample, "assessor": "ann", "item": before["item"], "label": "not"}
    answer = client.post("/judge/label", json=fields)
    monkeypatch.undo()
    assert answer.status_code == 422
    assert "No space left on device" in answer.json()["detail"]
    assert pair(client, sample, "ann") == before
    assert len(read_labels(run_folder / "judging" / "labels.jsonl")) == 1


def test_a_folder_that_cannot_be_made_is_said(client: TestClient, run_folder: Path) -> None:
    (run_folder / "judging").write_text("in the way")
    answer = client.post("/judge/begin", json={"assessor": "ann"})
    assert answer.status_code == 422
    assert "Not a directory" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("changed", "what"), [("shorter", "draw"), ("other", "draw"), ("other", "suggest")]
)
def test_texts_that_the_run_did_not_read_are_not_judged(
    tmp_path: Path, changed: str, what: str
) -> None:
    lines = EXAMPLE.read_text("utf-8").splitlines(keepends=True)
    path = tmp_path / "news.jsonl"
    path.write_text("".join(lines), "utf-8")
    run = nd.dedup(str(path)).save(tmp_path / "out")
    kept = lines[:40] if changed == "shorter" else [one.replace(" ", " x ") for one in lines]
    path.write_text("".join(kept), "utf-8")
    client = opened(run)
    answer = client.post("/judge/begin", json={"assessor": "ann", "what": what})
    assert answer.status_code == 422, answer.text
    assert "were changed since the run" in answer.json()["detail"]
    assert client.get("/judge.json").json()["samples"] == []


def test_without_pairs_nobody_is_asked_to_judge(tmp_path: Path) -> None:
    run = nd.dedup(["one text", "and another"]).save(tmp_path / "out")
    page = opened(run).get("/judge").text
    assert "nothing to judge" in page
    assert "/judge/begin" not in page


@pytest.mark.parametrize("name", [*GUIDELINES, "lecture"])
def test_the_definition_of_a_paper_is_shown_and_stored(run_folder: Path, name: str) -> None:
    client = opened(run_folder, guideline=name)
    sample = begin(client)
    page = client.get("/judge/pair", params={"sample": sample, "assessor": "ann"}).text
    guideline = guideline_of(name)
    for criterion in guideline.criteria:
        assert criterion in page
    assert "apart from changes that do not matter" not in page
    say(client, sample, "ann", "duplicate")
    (label,) = read_labels(judging_folder(run_folder) / "labels.jsonl")
    assert label.guideline == guideline.name


def test_without_a_guideline_none_is_stored(client: TestClient, run_folder: Path) -> None:
    sample = begin(client)
    assert say(client, sample, "ann", "not")["guideline"] is None
    (label,) = read_labels(judging_folder(run_folder) / "labels.jsonl")
    assert label.guideline is None
    with pytest.raises(SettingsError, match="There is no guideline 'mine'"):
        opened(run_folder, guideline="mine")
