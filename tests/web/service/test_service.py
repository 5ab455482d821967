"""What the service answers is what the index says, by every route."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from neardup.web.limits import Limits
from web.service.serving import Asked, asked
from web.service.texts import copy, document, text


@pytest.fixture
def service() -> Iterator[Asked]:
    with asked(texts=True) as made:
        yield made


def answer(id: str | None, match: Any = None) -> dict[str, Any]:
    said = match._asdict() if match else dict.fromkeys(nd_fields())
    of, _ = said.pop("of"), said.pop("direction")  # which is not stored
    decision = "duplicate" if match else "kept"
    return {"id": id, "decision": decision, "kept_id": of, **said}


def nd_fields() -> tuple[str, ...]:
    from neardup.engines.index.arrival_rule import Match

    return Match._fields


def test_a_document_is_added_checked_and_shown(service: Asked) -> None:
    assert service.post("/v1/documents", document(1)).json() == answer("d1")
    found = service.post("/v1/documents", copy(1)).json()
    assert (found["decision"], found["kept_id"], found["kind"]) == ("duplicate", "d1", "insertion")
    said = service.post("/v1/check", copy(1)).json()
    assert said == answer("c1", service.index.check(copy(1)))
    told = service.client.post("/v1/check?kind=true", json={"text": text(1) + " more"}).json()
    assert (told["id"], told["kind"]) == (None, "insertion")
    shown = service.client.get("/v1/documents", params={"id": "c1"}).json()
    assert shown["text"] == copy(1)["text"]
    assert {name: shown[name] for name in found} == found
    assert service.client.get("/v1/documents", params={"id": "d1"}).json()["reason"] == (
        "representative"
    )


def test_the_same_document_again_gets_the_same_answer(service: Asked) -> None:
    for one in (document(1), copy(1)):
        first = service.post("/v1/documents", one)
        again = service.post("/v1/documents", one)
        assert (first.status_code, again.status_code) == (200, 200)
        assert first.json() == again.json()
    assert len(service.index) == 2


@pytest.mark.parametrize("texts", [True, False])
def test_another_text_under_an_id_is_refused(texts: bool) -> None:
    with asked(texts=texts) as service:
        service.post("/v1/documents", document(1))
        refused = service.post("/v1/documents", {"id": "d1", "text": text(2)})
        assert refused.status_code == 409
        assert "PUT /v1/documents" in refused.json()["hint"]
        put = service.client.put("/v1/documents", json={"id": "d1", "text": text(2)})
        assert put.json() == answer("d1")
        assert service.post("/v1/documents", {"id": "d1", "text": text(2)}).status_code == 200


def test_a_batch_is_stored_as_a_whole_or_not_at_all(service: Asked) -> None:
    service.post("/v1/documents", document(1))
    broken = [document(2), {"id": "d1", "text": text(9)}]
    assert service.post("/v1/documents/batch", broken).status_code == 409
    assert len(service.index) == 1
    twice = [document(2), {"id": "d2", "text": text(3)}]
    assert service.post("/v1/documents/batch", twice).status_code == 409
    assert len(service.index) == 1
    fine = service.post("/v1/documents/batch", [document(1), document(2), copy(2), document(2)])
    assert [one["decision"] for one in fine.json()] == ["kept", "kept", "duplicate", "kept"]
    assert len(service.index) == 3


def test_what_was_set_aside_for_a_removed_document_arrives_again(service: Asked) -> None:
    service.post("/v1/documents/batch", [document(1), copy(1)])
    gone = service.client.delete("/v1/documents", params={"id": "d1"}).json()
    assert gone == {"id": "d1", "again": [answer("c1")]}
    for method in ("get", "delete"):
        missing = getattr(service.client, method)("/v1/documents", params={"id": "d1"})
        assert missing.status_code == 404
        assert missing.json()["detail"].startswith("The index has no document 'd1'.")


def test_a_stream_answers_each_line_and_goes_on_after_a_bad_one(service: Asked) -> None:
    service.post("/v1/documents", document(7))
    lines = [
        json.dumps(document(1)),
        "",
        "{broken",
        json.dumps({"id": "d7", "text": "another"}),
        json.dumps(copy(1)),
        '"no document"',
        json.dumps({"id": "", "text": "x"}),
        json.dumps(document(2)),
    ]
    answered = service.client.post("/v1/documents/stream", content="\n".join(lines).encode())
    found = [json.loads(line) for line in answered.text.splitlines()]
    assert [one["line"] for one in found] == [1, 2, 3, 4, 5, 6, 7]
    status = [one["problem"]["status"] if "problem" in one else one["decision"] for one in found]
    assert status == ["kept", 400, 409, "duplicate", 422, 422, "kept"]
    assert len(service.index) == 4


@given(
    st.lists(st.sampled_from(["d1", "d2", "d3", "c1", "c2", "c3", "bad"]), max_size=40),
    st.integers(1, 99),
)
@settings(max_examples=15)
def test_a_stream_equals_documents_one_by_one(names: list[str], cut: int) -> None:
    """However its bytes are cut."""
    made = {"d": document, "c": copy}
    lines = [b"bad" if n == "bad" else json.dumps(made[n[0]](int(n[1]))).encode() for n in names]
    body = b"\n".join(lines)
    pieces = [body[i : i + cut * 20] for i in range(0, len(body), cut * 20)]
    with asked() as service:
        answered = service.client.post("/v1/documents/stream", content=iter(pieces))
        found = [json.loads(line) for line in answered.text.splitlines()]
        state = list(service.index)
    with asked() as twin:
        for one, line in zip(found, lines, strict=True):
            alone = twin.client.post("/v1/documents", content=line)
            assert one.get("problem", {}).get("status", 200) == alone.status_code
            assert alone.status_code != 200 or {**alone.json(), "line": one["line"]} == one
        kept = [(e.id, e.decision, e.kept_id) for e in twin.index]
    assert [(e.id, e.decision, e.kept_id) for e in state] == kept


def test_a_line_that_is_too_long_is_not_kept_in_memory() -> None:
    with asked(limits=Limits(body=2000)) as service:
        long = json.dumps({"id": "long", "text": "x " * 5000})
        body = "\n".join([json.dumps(document(1)), long, json.dumps(document(2)), long])
        answered = service.client.post("/v1/documents/stream", content=body.encode())
        found = [json.loads(line) for line in answered.text.splitlines()]
        assert ["problem" in one for one in found] == [False, True, False, True]
        assert found[1]["problem"]["status"] == 413


def test_compare_says_what_the_library_says(service: Asked) -> None:
    service.post("/v1/documents/batch", [document(1), copy(1)])
    by_id = service.post("/v1/compare", {"a": {"id": "d1"}, "b": {"id": "c1"}}).json()
    by_text = service.post("/v1/compare", {"a": text(1), "b": copy(1)["text"]}).json()
    assert by_id == by_text == nd.compare(text(1), copy(1)["text"], service.index.method).to_dict()
    at = [
        service.post(
            "/v1/compare",
            {"a": text(1), "b": text(1)[: len(text(1)) * 2 // 3], "method": "join", "threshold": t},
        ).json()["verdict"]
        for t in (0.1, 1.0)
    ]
    assert [one["duplicate"] for one in at] == [True, False]
    assert at[0]["score"] == at[1]["score"] > 0
    other = service.post("/v1/compare", {"a": "x", "b": "y", "method": "exact"}).json()
    assert other["verdict"]["duplicate"] is False
    unknown = service.post("/v1/compare", {"a": {"id": "nothing"}, "b": "x"})
    assert unknown.status_code == 404


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "simhash", "set": {"idf": "/etc/passwd"}},
        {"method": "learned", "set": {"model": "/etc/passwd"}},
        {"method": "semantic", "set": {"encoder": "os:system"}},
        {"method": "combined", "set": {"methods": ["simhash idf=/etc/passwd"]}},
        {"method": "shingles", "set": {"boilerplate": "/etc/passwd"}},
        {"method": "shingles", "set": {"permutations": 10**9}},
        {"method": "shingles", "set": {"text": "x"}},
        {"method": "nothing"},
        {"method": 5},
        {"set": []},
    ],
)
def test_settings_from_strangers_name_no_files(service: Asked, settings: dict[str, Any]) -> None:
    for path, body in (("/v1/compare", {"a": "x", "b": "y"}), ("/v1/group", {"results": ["x"]})):
        refused = service.post(path, {**body, **settings})
        assert refused.status_code in (400, 422), refused.text


def test_group_names_every_row_once(service: Asked) -> None:
    results = [text(1), {"text": text(2), "id": "two"}, text(1), {"no": "text"}]
    found = service.post("/v1/group", {"results": results}).json()
    rows = [one["row"] for g in found["groups"] for one in (g["representative"], *g["others"])]
    assert sorted(rows) == [0, 1, 2, 3]
    assert [other["row"] for other in found["groups"][0]["others"]] == [2]
    assert service.post("/v1/group", {"results": "/etc/passwd"}).status_code == 422


def test_state_and_metrics(service: Asked) -> None:
    service.post("/v1/documents/batch", [document(1), copy(1)])
    stats = service.client.get("/v1/stats").json()
    assert (stats["documents"], stats["kept"], stats["method"]) == (2, 1, "shingles")
    assert {one["name"] for one in service.client.get("/v1/methods").json()} >= {"exact", "qgrams"}
    for path in ("/v1/health", "/v1/ready"):
        assert service.client.get(path).json()["status"] == "ok"
    said = service.client.get("/metrics").text
    assert 'neardup_requests_total{path="/v1/documents/batch",status="200"} 1.0' in said
    assert 'neardup_decisions_total{asked="add",decision="duplicate"} 1.0' in said
    assert "neardup_documents 2.0" in said
    assert "neardup_transaction_documents_sum 2.0" in said
    page = service.client.get("/service", headers={"accept": "text/html"})
    assert "/v1/check" in page.text


def test_columns_of_the_index_are_those_of_its_documents(tmp_path: Path) -> None:
    names = {"text": "body", "id": "key", "date": "day", "within": "lang"}
    with asked(url=str(tmp_path / "x.db"), **names) as service:
        one = {"key": "a", "body": text(1), "day": "2026-01-31", "lang": "en"}
        assert service.post("/v1/documents", one).json()["id"] == "a"
        other = {**one, "key": "b", "lang": "de"}
        assert service.post("/v1/check", other).json()["decision"] == "kept"
        shown = service.client.get("/v1/documents?id=a").json()
        assert (shown["time"][:10], shown["within"]) == ("2026-01-31", "en")
        wrong = service.post("/v1/documents", {"id": "a", "text": "x"})
        assert wrong.json()["detail"].startswith("'body' is null; expected a string.")
