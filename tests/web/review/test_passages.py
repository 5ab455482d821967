"""The review of passages: what is switched off does not count, and a pasted text is traced."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

import neardup as nd
from neardup.web.app import make_app
from neardup.web.guard import Guard
from neardup.web.review.review_pages import review_parts
from passages.material import SHARED, documents_of, jsonl, prose
from web.serving import serving, visiting

OWN = [prose(i, 24) for i in range(500, 503)]
TEXTS = [f"{OWN[0]} {SHARED}", f"{SHARED} {OWN[1]} {OWN[1]}", f"{OWN[2]} {SHARED}"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    documents = jsonl(tmp_path / "in.jsonl", documents_of(*TEXTS))
    return nd.passages(str(documents), unit="sentence").save(tmp_path / "run")


def client(target: str) -> TestClient:
    return TestClient(make_app(review_parts(target), Guard()), base_url="http://localhost")


def test_the_effect_is_that_of_cleaning(run: Path) -> None:
    made = nd.clean(documents_of(*TEXTS)).counts
    with client(str(run)) as asked:
        shown = asked.get("/index.json").json()
        assert shown["effect"]["removed"] == made["removed_characters"]
        assert shown["effect"]["documents"] == made["changed"]
        classes = [row["name"] for row in shown["classes"]]
        assert sorted(classes) == ["copied", "repetition"]
        for off in range(2):
            left = asked.post("/effect", json={"classes": classes, "off": [off]}).json()
            assert 0 < left["removed"] < shown["effect"]["removed"]
            spared = nd.clean(documents_of(*TEXTS), spare=[off]).counts
            assert left["removed"] == spared["removed_characters"]
        assert shown["options"] == "--unit sentence"
        none = asked.post("/effect", json={"classes": [], "off": []}).json()
        assert (none["removed"], none["share"]) == (0, 0)


def test_a_text_is_traced_against_the_run_and_against_an_index(run: Path, tmp_path: Path) -> None:
    store = tmp_path / "index.db"
    with nd.Index.open(store, method="exact", passages=True) as index:
        index.add_many(documents_of(*TEXTS))
    for target in (run, store):
        with client(str(target)) as asked:
            found = asked.post("/trace/text", json={"text": f"<b>My</b> words. {OWN[2]}"}).json()
        assert [row["source"] for row in found["sources"]] == ["d2"]
        assert "&lt;b&gt;My" in found["html"]


def test_both_pages_in_a_browser(run: Path, browser: Browser) -> None:
    app = make_app(review_parts(str(run)), Guard())
    with serving(app) as address, visiting(browser, address) as visited:
        page = visited.go("/")
        removed = page.locator("[data-count=removed]")
        before = removed.inner_text()
        page.get_by_label("copied").first.uncheck()
        expect(removed).not_to_have_text(before)
        expect(page.locator("[data-remove]")).to_have_text("repetition")
        page.locator("[data-passage='1']").uncheck()
        expect(page.locator("[data-except]")).to_have_text(" --except 1")
        visited.go("/trace")
        page.get_by_label("Text").fill(TEXTS[0])
        page.get_by_role("button", name="Trace").click()
        expect(page.locator("[data-traced] mark").first).to_be_visible()
