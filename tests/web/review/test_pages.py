"""Every page of every sort of source answers, says the same as its twin, and leads somewhere."""

from __future__ import annotations

import html
import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from fastapi.testclient import TestClient

import neardup as nd
from neardup.runs.changes import ChangeLog
from neardup.web.app import make_app
from neardup.web.guard import Guard
from neardup.web.review.review_pages import Review
from neardup.web.review.review_source import open_source
from web.review.hostile import BODY, hostile_run

LINK = re.compile(r'<a [^>]*?href="([^"]*)"')
BAD = ("<script>doc", "<img", 'onerror="', "\u202e", "\u2066", "<b>docs", "<b>no", "<i>", "<u>")
MOST = 80  # links that are followed in one source


def client_of(target: Path | str) -> TestClient:
    app = make_app([Review(open_source(str(target)))], Guard())
    return TestClient(app, base_url="http://localhost")


def run_of(folder: Path, documents: list[dict[str, str]], **settings: object) -> Path:
    path = folder / "docs.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in documents))
    return nd.dedup(str(path), method="shingles", **settings).save(folder / "run")  # type: ignore[arg-type]


def alike(count: int) -> list[dict[str, str]]:
    return [{"id": f"{i}", "text": f"{BODY} {i}"} for i in range(count)]


def lost(folder: Path) -> Path:
    run = run_of(folder, alike(4))
    (folder / "docs.jsonl").unlink()
    return run


def against(folder: Path) -> Path:
    (folder / "refs.jsonl").write_text(json.dumps({"id": "old", "text": BODY}) + "\n")
    return run_of(folder, alike(3), against=[str(folder / "refs.jsonl")])


def memory(folder: Path) -> Path:
    """Documents that were never in a file."""
    return nd.find(alike(3), method="shingles").save(folder / "run")


def index(folder: Path) -> Path:
    with nd.Index.open(folder / "<i>store.db", method="shingles", texts=True) as made:
        for one in alike(3):
            made.add(one)
        made.remove("0")
    return folder / "<i>store.db"


SOURCES: dict[str, Callable[[Path], Path]] = {
    "empty": lambda folder: run_of(folder, []),
    "unlike": lambda folder: run_of(
        folder, [{"id": "a", "text": "no"}, {"id": "b", "text": "yes"}]
    ),
    "lost": lost,
    "against": against,
    "memory": memory,
    "index": index,
    "components": lambda folder: run_of(folder, alike(5), clusters="components"),
    "partial": lambda folder: run_of(folder, alike(9), max_pairs=2),
    "exact": lambda folder: nd.dedup(alike(3), method="exact").save(folder / "run"),
    "hostile": hostile_run,
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_link_leads_somewhere(tmp_path: Path, name: str) -> None:
    with client_of(SOURCES[name](tmp_path)) as client:
        wait_for_texts(client)
        for path, page in crawled(client):
            assert page.status_code == 200, f"{path}: {page.text}"
            assert "Internal Server Error" not in page.text
            assert [bad for bad in BAD if bad in page.text] == [], path
            twin = client.get(twin_of(path))
            assert twin.headers["content-type"] == "application/json", path
            assert isinstance(twin.json(), dict)


def wait_for_texts(client: TestClient) -> None:
    while not client.get("/index.json").json()["reading"]["done"]:
        time.sleep(0.01)


def crawled(client: TestClient) -> Iterator[tuple[str, object]]:
    left, seen = ["/"], {"/"}
    while left and len(seen) < MOST * 4:
        path = left.pop(0)
        page = client.get(path, headers={"accept": "text/html"})
        yield path, page  # type: ignore[misc]
        for link in map(html.unescape, LINK.findall(page.text)):
            if link.startswith("/") and link not in seen and len(seen) < MOST:
                seen.add(link)
                left.append(link)


def twin_of(path: str) -> str:
    parts = urlsplit(path)
    return f"{parts.path.rstrip('/') or '/index'}.json?{parts.query}"


@pytest.fixture(scope="module")
def reader(news: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Shared by those that change nothing."""
    with client_of(shutil.copytree(news, tmp_path_factory.mktemp("read") / "run")) as client:
        wait_for_texts(client)
        yield client


@pytest.fixture
def client(run: Path) -> Iterator[TestClient]:
    with client_of(run) as client:
        wait_for_texts(client)
        yield client


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/cluster?of=nobody", 404),
        ("/cluster?of=en-harbour-1&sort=size", 400),
        ("/cluster", 422),
        ("/pair?a=x&b=y", 404),
        ("/pair?a=en-harbour-1", 422),
        ("/pair?a=en-harbour-1&b=en-harbour-2&view=upside-down", 422),
        ("/document?id=nobody", 404),
        ("/clusters?kind=burnt", 400),
        ("/clusters?low=2", 400),
        ("/pairs?sort=size", 400),
        ("/pairs?page=0", 422),
        ("/threshold?at=0.1", 400),
        ("/threshold?at=7", 422),
    ],
)
def test_what_is_not_there_is_a_sentence(reader: TestClient, path: str, status: int) -> None:
    for accept in ("text/html", "application/json"):
        answer = reader.get(path, headers={"accept": accept})
        assert answer.status_code == status
        assert "Traceback" not in answer.text


def test_two_documents_that_are_no_pair_can_be_compared(reader: TestClient) -> None:
    page = reader.get("/pair?" + urlencode({"a": "en-harbour-1", "b": "es-tren-1"}))
    assert page.status_code == 200
    assert "no such pair" in page.text


def test_the_set_aside_one_stands_on_the_right(reader: TestClient) -> None:
    for a, b in (("en-harbour-1", "en-harbour-6"), ("en-harbour-6", "en-harbour-1")):
        data = reader.get("/pair.json?" + urlencode({"a": a, "b": b})).json()
        assert (data["a"], data["b"]) == ("en-harbour-1", "en-harbour-6")
        assert data["comparison"]["names"] == ["en-harbour-1", "en-harbour-6"]
        assert data["pair"]["decides"]


def test_a_twin_has_data_and_no_markup(reader: TestClient) -> None:
    for path in ("/cluster.json?of=en-harbour-1", "/pair.json?a=en-harbour-1&b=en-harbour-6"):
        assert not {"graph", "aligned", "left"} & reader.get(path).json().keys()
        assert "<svg" not in reader.get(path).text


@pytest.mark.parametrize(
    "path",
    [
        "/pairs?kind=revision&sort=strongest",
        "/clusters",
        "/clusters?kind=revision&sort=largest",
    ],
)
def test_neighbours_walk_through_the_whole_list(reader: TestClient, path: str) -> None:
    listed = reader.get(twin_of(path)).json()
    hrefs, href, walked = [one["href"] for one in listed["entries"]], None, []
    for href in hrefs:
        data = reader.get(twin_of(href)).json()
        assert (data["place"], data["total"]) == (len(walked) + 1, listed["page"]["total"])
        walked.append((data["before"], data["after"]))
    assert walked == list(zip([None, *hrefs], [*hrefs[1:], None], strict=False))
    assert len(walked) > 3


def test_numbers_of_clusters_may_change_under_a_page(client: TestClient) -> None:
    """What was chosen before somebody else's change is what is acted on after it."""
    listed = client.get("/clusters.json?sort=order").json()["entries"]
    client.post("/changes/first", json={"id": "es-tren-4"})
    last = listed[-1]
    assert client.get(twin_of(last["href"])).json()["cluster"]["kept"] == last["kept"]
    answer = client.post("/changes/act", json={"action": "review", "clusters": [last["first"]]})
    members = client.get(twin_of(last["href"])).json()["members"]
    aside = [one["id"] for one in members if one["decision"] == "duplicate"]
    assert sorted(answer.json()["change"]["ids"]) == sorted(aside)


def test_the_front_page_leads_to_the_duplicates(reader: TestClient) -> None:
    counts = reader.get("/index.json").json()["counts"]
    links = [html.unescape(one) for one in LINK.findall(reader.get("/").text)]
    (link,) = [one for one in links if one.startswith("/documents?low")]
    assert reader.get(twin_of(link)).json()["page"]["total"] == counts["duplicates"]


@pytest.mark.parametrize("form", ["csv", "xlsx", "parquet", "bibtex", "ris"])
def test_the_front_page_offers_exports(reader: TestClient, news: Path, form: str) -> None:
    assert f'<button class="button" name="form" value="{form}">' in reader.get("/").text
    answer = reader.get("/export", params={"form": form})
    name = re.fullmatch(
        r'attachment; filename="(export\.\w+)"', answer.headers["content-disposition"]
    )
    assert answer.status_code == 200
    assert name
    written = nd.Result.load(news).export(news.parent / name[1])
    assert answer.content == written.read_bytes()


def test_an_export_has_what_was_put_first_by_hand(client: TestClient) -> None:
    before = client.get("/export").text
    client.post("/changes/first", json={"id": "es-tren-4"})
    assert client.get("/export").text != before
    assert client.get("/export", params={"form": "exe"}).status_code == 404


def test_the_first_document_may_be_set_aside_for_a_reference(tmp_path: Path) -> None:
    with client_of(against(tmp_path)) as client:
        said = client.get("/document.json?id=0").json()["document"]
        assert said["decision"] == "duplicate"
        pair = client.get(twin_of(said["pair"])).json()["pair"]
        assert (pair["score"], pair["decides"]) == (said["score"], True)


def test_changes_by_hand_are_shown_written_and_taken_back(client: TestClient, run: Path) -> None:
    before = {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()}
    answer = client.post("/changes/first", json={"id": "en-harbour-6"})
    assert answer.status_code == 200
    cluster = client.get("/cluster.json?of=en-harbour-1").json()
    assert cluster["cluster"]["kept"] == "en-harbour-6"
    shown = client.get("/documents.json?action=changed").json()["entries"]
    assert [(one["id"], one["becomes"], one["chosen"]) for one in shown] == [
        ("en-harbour-6", "keep", True)
    ]
    drop = {"action": "drop", "clusters": [cluster["cluster"]["first"]]}
    answer = client.post("/changes/act", json=drop).json()
    assert answer["change"]["count"] == cluster["cluster"]["aside"]
    every = {"action": "review", "what": "documents", "asked": {"kind": "revision", "low": ""}}
    answer = client.post("/changes/act", json=every).json()
    revisions = client.get("/documents.json?kind=revision").json()["page"]["total"]
    assert answer["change"]["count"] == revisions
    counts = client.get("/changes.json").json()["counts"]
    assert sum(counts.values()) == 74
    for number in (3, 2, 1):
        assert client.post("/changes/undo", json={}).json()["change"]["number"] == number
    assert client.get("/documents.json?action=changed").json()["entries"] == []
    assert client.post("/changes/undo", json={}).status_code == 422
    after = {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()}
    assert after == before


def test_changes_of_another_process_are_seen(client: TestClient, run: Path) -> None:
    log = ChangeLog(run)
    log.add(["en-harbour-2"], "keep")
    assert client.get("/changes.json").json()["counting"] == 1
    shown = client.get("/document.json?id=en-harbour-2").json()
    assert (shown["document"]["becomes"], shown["undoable"]) == ("keep", 1)
    log.undo()
    assert client.get("/documents.json?action=changed").json()["entries"] == []


@pytest.mark.parametrize(
    ("path", "data", "status"),
    [
        ("/changes/first", {"id": "nobody"}, 400),
        ("/changes/first", {}, 422),
        ("/changes/act", {"action": "burn", "ids": ["en-harbour-2"]}, 400),
        ("/changes/act", {"action": "drop", "ids": ["en-harbour-1"]}, 400),
        ("/changes/act", {"action": "drop", "ids": []}, 400),
        ("/changes/act", {"action": "drop", "clusters": ["nobody"]}, 400),
        ("/changes/act", {"action": "drop", "what": "documents", "asked": {"evil": 1}}, 400),
        ("/changes/undo", {"number": 7}, 422),
    ],
)
def test_changes_that_make_no_sense_are_refused(
    reader: TestClient, path: str, data: dict[str, object], status: int
) -> None:
    answer = reader.post(path, json=data)
    assert answer.status_code == status, answer.text
    assert "Hint:" in answer.json()["detail"] or status == 422
    assert reader.get("/changes.json").json()["changes"] == []
    assert reader.get(path).status_code == 405


def test_an_index_offers_no_changes(tmp_path: Path) -> None:
    with client_of(index(tmp_path)) as client:
        assert client.get("/changes").status_code == 404
        assert client.post("/changes/first", json={"id": "1"}).status_code == 404


def test_a_run_that_nobody_can_read_again_still_shows_its_decisions(tmp_path: Path) -> None:
    with client_of(lost(tmp_path)) as client:
        wait_for_texts(client)
        front = client.get("/")
        assert "shown all the same" in front.text
        pair = client.get("/pair?a=0&b=1").text
        assert "docs.jsonl" in pair
        assert "0.9" in pair
        assert client.get("/document?id=1").status_code == 200


def test_documents_that_were_changed_are_counted(tmp_path: Path) -> None:
    run = run_of(tmp_path, alike(4))
    lines = (tmp_path / "docs.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "docs.jsonl").write_text(lines[0].replace("word1", "other") + "".join(lines[1:3]))
    with client_of(run) as client:
        wait_for_texts(client)
        assert "2 of 4 documents are gone from the inputs or were changed" in client.get("/").text
        entries = client.get("/documents.json").json()["entries"]
        assert [one["text"] is not None for one in entries] == [False, True, True, False]
        assert "2 of 4 documents" in client.get("/pair?a=0&b=1").text


def test_other_parts_have_their_say_on_the_front_page(news: Path) -> None:
    card = {"title": "Judge", "text": "<b>20", "href": "/judge", "link": "Begin", "main": True}
    part = Review(open_source(str(news)), [lambda: card, lambda: None])
    with TestClient(make_app([part], Guard()), base_url="http://localhost") as client:
        assert "&lt;b&gt;20" in client.get("/").text
        assert client.get("/index.json").json()["cards"] == [card]


def test_big_clusters_are_bounded(tmp_path: Path) -> None:
    same = [{"id": f"{i}", "text": BODY} for i in range(3000)]
    with client_of(run_of(tmp_path, same)) as client:
        page = client.get("/cluster?of=7")
        assert "2,940 more are in the table" in page.text
        assert len(page.content) < 500_000
        data = client.get("/cluster.json?of=7&page=60").json()
        assert data["page"] == {"number": 60, "pages": 60, "total": 3000}
