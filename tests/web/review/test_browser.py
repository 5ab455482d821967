"""The review in a real browser: reading, searching, moving by keyboard, changing, taking back."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, expect

import neardup as nd
from neardup.web.app import make_app
from neardup.web.guard import Guard
from neardup.web.review.review_pages import Review
from neardup.web.review.review_source import open_source
from web.review.hostile import IDS, hostile_run
from web.serving import Visited, serving, visiting

PAGES = (
    "/",
    "/clusters",
    "/pairs",
    "/documents",
    "/threshold?at=0.6",
    "/changes",
)
CLUSTER = "/cluster?of=en-harbour-2"


@pytest.fixture(scope="module")
def address(news: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    run = shutil.copytree(news, tmp_path_factory.mktemp("browser") / "run")
    with serving(app_of(run)) as address:
        yield address


@pytest.fixture
def visited(browser: Browser, address: str) -> Iterator[Visited]:
    with visiting(browser, address) as visited:
        yield visited


def app_of(run: Path) -> FastAPI:
    return make_app([Review(open_source(str(run)))], Guard())


def fits(page: Page) -> bool:
    """The page itself does not scroll sideways."""
    page.wait_for_load_state()
    sizes = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    wide, there = page.evaluate(sizes)
    return bool(wide <= there)


def press(page: Page, key: str) -> None:
    """Once the scripts of the page listen."""
    page.wait_for_load_state()
    page.keyboard.press(key)


def test_from_the_front_to_a_pair_and_on_by_keyboard(visited: Visited) -> None:
    page = visited.go("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("74 documents, 41 of them duplicates")
    page.get_by_role("link", name="Pairs", exact=True).click()
    page.get_by_label("Kind").select_option("revision")
    with page.expect_navigation():
        page.get_by_role("button", name="Show").click()
    total = page.locator("tbody tr").count()
    assert total > 3
    press(page, "j")
    press(page, "j")
    press(page, "k")
    expect(page.locator("tbody tr").first.get_by_role("link")).to_be_focused()
    press(page, "Enter")
    expect(page.get_by_text(f"pair 1 of {total}")).to_be_visible()
    press(page, "j")
    expect(page.get_by_text(f"pair 2 of {total}")).to_be_visible()
    press(page, "ArrowRight")
    expect(page.get_by_text(f"pair 3 of {total}")).to_be_visible()
    press(page, "k")
    expect(page.get_by_text(f"pair 2 of {total}")).to_be_visible()
    expect(page.locator(".nd-pair del, .nd-pair ins").first).to_be_visible()
    page.get_by_text("Measures of similarity").click()
    expect(page.get_by_role("row", name="word counts")).to_be_visible()
    page.get_by_role("link", name="To the list").click()
    expect(page.locator("tbody tr")).to_have_count(total)


def test_search_finds_texts_and_ids(visited: Visited) -> None:
    page = visited.go("/clusters")
    press(page, "/")
    expect(page.get_by_label("Search titles, texts and ids")).to_be_focused()
    page.keyboard.type('"FERRY pier" divers')
    press(page, "Enter")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody")).to_contain_text("en-harbour-1")
    page.get_by_label("Search titles, texts and ids").fill("nothing-has-this")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("No cluster has a document with all that is asked.")).to_be_visible()
    page.get_by_role("link", name="Show all clusters").click()
    expect(page.locator("tbody tr")).to_have_count(19)


def test_the_keys_of_a_page_are_listed(visited: Visited) -> None:
    page = visited.go("/clusters")
    press(page, "?")
    keys = page.get_by_role("dialog", name="Keys of this page")
    expect(keys).to_contain_text("open the entry")
    press(page, "j")  # is not for the page behind
    expect(page.locator("tr.here")).to_have_count(0)
    press(page, "Escape")
    expect(keys).to_be_hidden()
    page.get_by_role("button", name="Keys").click()
    expect(keys).to_be_visible()


def test_documents_are_called_by_their_titles(visited: Visited) -> None:
    page = visited.go("/cluster?of=en-harbour-7")
    title = "Marrow Harbour votes for a pier of stone"
    expect(page.get_by_role("heading", level=1)).to_contain_text(title)
    link = page.get_by_role("link", name="Pier to be rebuilt in stone")
    expect(page.get_by_role("cell").filter(has=link)).to_contain_text("en-harbour-7")
    page.get_by_role("link", name="0.617").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"{title} en-harbour-1 and Pier")
    press(page, "?")
    expect(page.get_by_role("dialog")).to_contain_text("next pair")


def test_both_texts_as_they_were_written_scroll_in_step(browser: Browser, tmp_path: Path) -> None:
    """The second has a long beginning of its own: what both have still comes to one height."""
    paragraphs = [" ".join(f"w{n}x{i}" for i in range(60)) for n in range(40)]
    more = [" ".join(f"other{n}x{i}" for i in range(60)) for n in range(12)]
    docs = [{"id": "a", "text": "\n\n".join(paragraphs)}]
    docs.append({"id": "b", "text": "\n\n".join([*more, *paragraphs])})
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in docs))
    run = nd.find(str(tmp_path / "docs.jsonl"), method="join", threshold=0.5).save(tmp_path / "run")
    with (
        serving(app_of(run)) as address,
        visiting(browser, address) as visited,
    ):
        page = visited.go("/pair?a=a&b=b")
        with page.expect_navigation():
            press(page, "o")
        expect(page.locator(".original")).to_have_count(2)
        left, right = page.locator(".original").all()
        left.hover()
        page.mouse.wheel(0, 900)
        page.wait_for_function("() => document.querySelectorAll('.original')[1].scrollTop > 100")
        page.wait_for_function(f"() => ({AT_THE_TOP})(0) === ({AT_THE_TOP})(1)")
        right.hover()
        page.mouse.wheel(0, 700)
        page.wait_for_function("() => document.querySelectorAll('.original')[0].scrollTop > 1000")
        page.wait_for_function(f"() => ({AT_THE_TOP})(0) === ({AT_THE_TOP})(1)")
        left.focus()
        press(page, "End")
        page.wait_for_function(
            "() => [...document.querySelectorAll('.original')]"
            ".every(c => c.scrollTop + c.clientHeight >= c.scrollHeight - 2)"
        )
        press(page, "o")
        expect(page.locator(".nd-row").first).to_be_visible()


# The paragraph that stands at the upper edge of a column, by its first word.
AT_THE_TOP = """side => {
  const column = document.querySelectorAll('.original')[side];
  const box = column.getBoundingClientRect();
  const at = document.caretRangeFromPoint(box.left + 40, box.top + 60);
  const word = at.startContainer.data.slice(0, at.startOffset + 40).match(/\\bw\\d+(?=x)/g);
  return word && word[word.length - 1];
}"""


def test_the_threshold_moves_with_live_counts(visited: Visited) -> None:
    page = visited.go("/threshold")
    with page.expect_response(lambda answer: "/threshold.json" in answer.url):
        page.reload()
    slider = page.get_by_label("Threshold")
    kept, pairs = (page.locator(f"[data-count={name}]") for name in ("kept", "pairs"))
    before = int(pairs.inner_text())
    page.wait_for_load_state("networkidle")
    slider.evaluate("one => { one.value = 0.9; one.dispatchEvent(new Event('input')); }")
    assert int(pairs.inner_text()) < before
    with page.expect_response(lambda answer: "at=0.9" in answer.url):
        slider.evaluate("one => one.dispatchEvent(new Event('change'))")
    exact = page.request.get(f"{visited.address}/threshold.json?at=0.9").json()["exact"]
    expect(kept).to_have_text(str(exact["kept"]))
    expect(pairs).to_have_text(str(exact["pairs"]))
    heading = page.get_by_role("heading", name="Pairs that would no longer be duplicates")
    expect(heading).to_be_visible()
    page.reload()
    expect(kept).to_have_text(str(exact["kept"]))
    slider.focus()
    press(page, "Home")
    expect(page.locator("output")).to_have_text("0.5")


def test_a_cluster_is_a_graph_and_a_table_of_the_same(visited: Visited) -> None:
    page = visited.go("/clusters?sort=largest")
    with page.expect_navigation():
        page.locator("tbody a").first.click()
    rows = page.locator("[data-list] tbody tr").count()
    graph = page.locator("figure > svg.graph")
    assert graph.locator("circle:not(.ring)").count() == rows
    assert graph.locator("a.kept").count() == 1
    weak = graph.locator("line.weak").count()
    assert weak == page.locator(".tag.weak").count() > 0
    press(page, "j")
    expect(page.get_by_text("cluster 2 of 19")).to_be_visible()


def test_another_one_is_kept_copies_are_dropped_and_all_is_taken_back(visited: Visited) -> None:
    page = visited.go("/clusters?sort=largest")
    page.locator("tbody a").first.click()
    old = page.locator("tr.marked .id").first.inner_text()
    row = page.locator("[data-list] tbody tr").nth(4)
    chosen = row.locator(".id").first.inner_text()
    row.get_by_role("button", name="Keep instead").click()
    expect(page.locator("tr.marked .id").first).to_have_text(chosen)
    expect(page.locator("#said")).to_have_text("It is kept now.")
    expect(page.get_by_role("heading", level=1)).to_contain_text(chosen)

    boxes = page.locator("[data-list] input[type=checkbox]")
    drop = page.get_by_role("button", name="Drop")
    expect(drop).to_be_disabled()
    boxes.nth(0).check()
    boxes.nth(1).check()
    expect(page.locator("[data-chosen]")).to_have_text("2 chosen")
    drop.click()
    expect(page.locator(".tag.drop")).to_have_count(2)

    page.get_by_role("link", name="Clusters").click()
    page.get_by_label("all 19 that match").check()
    page.get_by_role("button", name="Review").click()
    expect(page.locator("#said")).to_contain_text("41 documents: review.")

    page.get_by_role("link", name="Changes").click()
    expect(page.get_by_role("heading", name="3 changes count")).to_be_visible()
    page.get_by_role("button", name="Take back change 2").click()
    expect(page.get_by_role("heading", name="2 changes count")).to_be_visible()
    page.get_by_role("button", name="Take back the last one").click()
    expect(page.get_by_role("heading", name="1 change counts")).to_be_visible()
    page.get_by_role("button", name="Take back the last one").click()
    expect(page.get_by_role("heading", name="0 changes count")).to_be_visible()
    page.goto(f"{visited.address}/clusters?sort=largest")
    expect(page.locator("tbody .id").first).to_have_text(old)


def test_a_server_that_is_gone_is_said(browser: Browser, run: Path) -> None:
    with serving(app_of(run)) as address:
        context = browser.new_context()
        page = context.new_page()
        page.goto(address + CLUSTER)
    page.get_by_role("button", name="Keep instead").first.click()
    expect(page.locator("#said")).to_contain_text("The server does not answer.")
    context.close()


@pytest.mark.parametrize("dark", [False, True])
def test_pages_fit_a_telephone(browser: Browser, address: str, dark: bool) -> None:
    with visiting(browser, address, width=400, dark=dark) as visited:
        for path in (*PAGES, CLUSTER):
            assert fits(visited.go(path)), path
        page = visited.go("/pair?a=en-harbour-1&b=en-harbour-6")
        assert fits(page)
        with page.expect_navigation():
            press(page, "o")
        expect(page.locator(".original")).to_have_count(2)
        assert fits(page)


def test_hostile_documents_do_nothing(browser: Browser, tmp_path: Path) -> None:
    run = hostile_run(tmp_path)
    with serving(app_of(run)) as address, visiting(browser, address, width=400) as visited:
        for path in PAGES:
            page = visited.go(path)
            assert fits(page), path
            assert "neardup" in page.title()
        page = visited.go("/cluster?" + urlencode({"of": IDS[0]}))
        assert fits(page)
        count = page.locator("[data-first]").count()
        assert count > 5
        for number in (0, count - 1):
            with page.expect_navigation():
                page.locator("[data-first]").nth(number).click()
            expect(page.locator("#said")).to_have_text("It is kept now.")
        page.goto(f"{address}/pairs?sort=strongest&page=2")
        with page.expect_navigation():
            page.locator("tbody a").first.click()
        for key in "okoko":
            with page.expect_navigation():
                press(page, key)
            assert fits(page)
        visited.check()
        page = visited.go("/documents")
        page.get_by_text("Filters").click()
        page.get_by_label("Source").select_option(index=1)
        with page.expect_navigation():
            page.get_by_role("button", name="Show").click()
        assert page.locator("tbody tr").count() > 3
        with page.expect_navigation():
            page.locator("tbody a").first.click()
        assert fits(page)
