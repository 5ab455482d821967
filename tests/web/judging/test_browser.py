"""Judging as people do it: in a browser, by keyboard, interrupted, on a phone, in the dark."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

import neardup as nd
from neardup.labels.label_store import read_labels
from neardup.web.judging.judging_pages import judging_parts
from neardup.web.review.review_pages import review_parts
from web.judging_pages import fits, served, visiting


def ready(page: Page) -> None:
    page.wait_for_selector("#judge[data-ready]")


def begin(page: Page) -> None:
    """The button that begins has the focus."""
    expect(page.locator("form.begin button.main")).to_be_focused()
    page.keyboard.press("Enter")


def press(page: Page, key: str, then: str) -> None:
    """A key, and the heading that it leads to."""
    ready(page)
    page.keyboard.press(key)
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(then))


def answer(page: Page, count: int) -> None:
    """As the page does when a key is pressed, but without showing every pair."""
    given = {name: value[0] for name, value in parse_qs(urlsplit(page.url).query).items()}
    given = {name: given[name] for name in ("sample", "assessor")}
    for _ in range(count):
        item = page.request.get("/judge/pair.json", params=given).json()["item"]
        label = {**given, "item": item, "label": "duplicate"}
        assert page.request.post("/judge/label", data=label).ok
    page.reload()


def labels(run_folder: Path) -> list[tuple[str, str | None]]:
    return [
        (one.assessor, one.label) for one in read_labels(run_folder / "judging" / "labels.jsonl")
    ]


def test_judging_by_keyboard_alone_ends_with_precision(browser: Browser, run_folder: Path) -> None:
    with served(review_parts(str(run_folder))) as address, visiting(browser, address) as page:
        page.goto("/")
        page.get_by_role("link", name="Judge 20 pairs").press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Judge pairs")
        begin(page)
        expect(page.get_by_role("heading", level=1)).to_have_text("Pair 1 of 20")
        press(page, "3", "Pair 2 of 20")
        press(page, "u", "Pair 1 of 20")
        for number in range(2, 6):
            press(page, "2" if number == 4 else "1", f"Pair {number} of 20")
        answer(page, 14)
        press(page, "1", "Pair 20 of 20")
        press(page, "1", "Done: precision from 20 pairs")
        said = page.locator(".headline").inner_text()
        assert re.search(r"0\.\d\d\s+0\.\d\d–0\.\d\d", said)
        assert "of the 90 pairs" in said
        assert fits(page)
        page.get_by_role("link", name="Evaluation", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text("How good is this run?")
        page.wait_for_selector("body:not(:has([data-computing]))")
        expect(page.get_by_role("img", name="Precision in each class of the score")).to_be_visible()
        page.get_by_label("Wish for").select_option("recall=0.9")
        page.get_by_role("button", name="Recommend").click()
        expect(page.get_by_text("with a recall of 0.9 or more")).to_be_visible()
        assert fits(page)
        page.goto("/")
        expect(page.get_by_text("of the 90 pairs that the run out calls")).to_be_visible()
    said_labels = [label for _, label in labels(run_folder)]
    assert (said_labels.count("duplicate"), said_labels.count("not")) == (19, 1)


def test_fields_keys_and_views(browser: Browser, run_folder: Path) -> None:
    with served(judging_parts(run_folder)) as address, visiting(browser, address) as page:
        page.goto("/judge")
        page.get_by_label("Your name").fill("Zoë & <b>")
        page.get_by_text("Another sample", exact=True).click()
        page.get_by_label("Pairs", exact=True).fill("4")
        page.get_by_role("button", name="Judge 4 pairs").click()
        ready(page)
        page.keyboard.press("n")
        page.keyboard.type("a note with 1, 2 and u")
        page.keyboard.press("Enter")  # is no answer
        page.keyboard.press("Escape")
        page.keyboard.press("k")
        page.keyboard.type("rev")
        page.keyboard.press("Escape")
        press(page, "1", "Pair 2 of 4")
        ready(page)
        page.keyboard.press("v")
        expect(page.get_by_role("heading", name="First text")).to_be_visible()
        press(page, "2", "Pair 3 of 4")
        expect(page.get_by_role("heading", name="First text")).to_be_visible()  # the view stays
        expect(page.locator("#timer")).to_have_text(re.compile("this pair .* s, in all .* s"))
        page.get_by_role("link", name="Stop here").click()
        expect(page.get_by_label("Your name")).to_have_value("Zoë & <b>")
        expect(page.get_by_role("row", name=re.compile("2 of 4"))).to_be_visible()
        page.goto("/judge")
        expect(page.get_by_label("Your name")).to_have_value("Zoë & <b>")  # remembered here
    first, second = read_labels(run_folder / "judging" / "labels.jsonl")
    assert (first.note, first.kind) == ("a note with 1, 2 and u", "revision")
    assert first.seconds is not None
    assert (second.label, second.kind, second.note) == ("not", None, None)


@contextmanager
def killed(run_folder: Path) -> Iterator[str]:
    """The command as a process of its own, which is killed without warning when the block ends."""
    command = [sys.executable, "-m", "neardup", "review", str(run_folder), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found
            yield found[0]
        finally:
            process.kill()


def test_an_interrupted_assessor_loses_nothing(browser: Browser, run_folder: Path) -> None:
    """The browser goes away in the middle, then the server is killed: the same pair, all labels."""
    with killed(run_folder) as address:
        with visiting(browser, address) as page:
            page.goto("/judge")
            begin(page)
            for number in (2, 3):
                press(page, "1", f"Pair {number} of 20")
            texts = page.locator("#texts").text_content()
            place = page.url.removeprefix(address)
        with visiting(browser, address) as page:
            page.goto(place)
            expect(page.get_by_role("heading", level=1)).to_have_text("Pair 3 of 20")
            assert page.locator("#texts").text_content() == texts
    with served(judging_parts(run_folder)) as address, visiting(browser, address) as page:
        page.goto(place)
        expect(page.get_by_role("heading", level=1)).to_have_text("Pair 3 of 20")
        assert page.locator("#texts").text_content() == texts
        press(page, "2", "Pair 4 of 20")
    assert labels(run_folder) == [("assessor 1", "duplicate")] * 2 + [("assessor 1", "not")]


def test_two_assessors_disagree_and_an_arbiter_decides(browser: Browser, run_folder: Path) -> None:
    with served(judging_parts(run_folder)) as address, visiting(browser, address) as page:
        for who, answers in (("ann", "11"), ("bob", "12")):
            page.goto("/judge")
            page.get_by_label("Your name").fill(who)
            page.get_by_text("Another sample", exact=True).click()
            page.get_by_label("Pairs", exact=True).fill("2")
            page.get_by_role("button", name="Judge 2 pairs").click()
            press(page, answers[0], "Pair 2 of 2")
            press(page, answers[1], "Done")
        page.get_by_role("link", name="An arbiter may decide.").click()
        expect(page.get_by_text("1 × duplicate, 1 × not")).to_be_visible()
        page.get_by_label("Your name, as arbiter").fill("cy")
        page.get_by_role("button", name="Decide 1 pair").click()
        expect(page.get_by_text("as arbiter")).to_be_visible()
        press(page, "2", "Done")
        page.goto("/judge")
        expect(page.get_by_label("Your name")).to_have_value("bob")
        page.goto("/judge/disputes")
        expect(page.get_by_text("Nothing is disputed.")).to_be_visible()
        expect(page.get_by_role("row", name=re.compile("ann and bob 2 1"))).to_be_visible()


def test_sets_of_a_result_list_by_keyboard(
    browser: Browser, run_folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "lists.jsonl"
    rows = [
        {"query": query, "id": f"{query}{i}", "text": f"{query} text number {i} " * 30}
        for query in ("practise <b>", "pier", "bridge")
        for i in range(20)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    parts = judging_parts(run_folder, lists=file)
    with served(parts) as address, visiting(browser, address, width=400) as page:
        page.goto("/judge/lists")
        begin(page)
        expect(page.get_by_role("heading", level=1)).to_have_text("Practice: practise <b>")
        expect(page.get_by_label("Set of result 1", exact=True)).to_be_focused()
        page.keyboard.press("s")
        expect(page.get_by_text("Nothing was stored.")).to_be_visible()
        page.get_by_role("link", name="Begin with the lists that count").click()
        for number in (1, 2):
            expect(page.get_by_role("heading", level=1)).to_have_text(
                re.compile(f"List {number} of 2")
            )
            expect(page.get_by_label("Set of result 1", exact=True)).to_be_focused()
            for key in ("1", "j", "j", "1", "j", "2", "o", "j", "2", "k", "0"):
                page.keyboard.press(key)
            assert fits(page)
            page.keyboard.press("s")
        expect(page.get_by_role("row", name=re.compile("2 of 2"))).to_be_visible()
    said = [label for _, label in labels(run_folder)]
    assert (len(said), said.count("duplicate")) == (2 * 190, 2)


def test_labels_go_out_and_come_in(browser: Browser, run_folder: Path, tmp_path: Path) -> None:
    with served(judging_parts(run_folder)) as address, visiting(browser, address) as page:
        page.goto("/judge")
        begin(page)
        press(page, "1", "Pair 2 of 20")
        page.goto("/judge")
        with page.expect_download() as waiting:
            page.get_by_role("link", name="Download to judge elsewhere").click()
        sample = tmp_path / "sample.jsonl"
        waiting.value.save_as(sample)
        judged = [{**json.loads(line), "label": "no"} for line in sample.read_text().splitlines()]
        sample.write_text("".join(json.dumps(row) + "\n" for row in judged))
        page.get_by_label("File", exact=True).set_input_files(sample)
        page.get_by_label("Judged by").fill("bob")
        page.get_by_role("button", name="Import").click()
        expect(page.locator("#said")).to_have_text(
            "20 labels read, 20 of them new; 0 rows without."
        )
        page.get_by_label("How many").fill("3")
        page.get_by_role("button", name="Suggest pairs that teach most").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Pair 1 of 3")
    assert labels(run_folder).count(("bob", "not")) == 20


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202eevil\u2066 "


@pytest.mark.parametrize(("width", "dark"), [(400, True), (1200, False)])
def test_hostile_documents_stay_text(
    browser: Browser, tmp_path: Path, width: int, dark: bool
) -> None:
    """No script, no request, no dialog, no page that is wider than the screen."""
    words = " ".join(f"word{i}" for i in range(60))
    texts = [
        f"{HOSTILE}{words}",
        f"{HOSTILE}{words} more",
        f"{'x' * 5000} {words}",
        f"{'x' * 5000} {words} end",
    ]
    docs = [{"id": f"{HOSTILE}{i}", "text": text} for i, text in enumerate(texts)]
    file = tmp_path / "docs.jsonl"
    file.write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    nd.find(str(file), method="shingles", threshold=0.3).save(tmp_path / "out")
    who = "%3Cscript%3Ealert(3)%3C%2Fscript%3E"
    with (
        served(judging_parts(tmp_path / "out")) as address,
        visiting(browser, address, width=width, dark=dark) as page,
    ):
        page.goto("/judge")
        begin(page)
        ready(page)
        for view in ("aligned", "plain"):
            page.goto(f"/judge/pair?sample=sample-1&assessor={who}&view={view}")
            ready(page)
            assert fits(page)
            assert page.locator("#texts script, #texts img").count() == 0
        total = page.get_by_role("heading", level=1).inner_text().rpartition(" ")[2]
        for number in range(2, int(total) + 1):
            press(page, "1", f"Pair {number} of {total}")
        press(page, "1", "Done")
        assert fits(page)
        for path in ("/judge", "/judge/disputes", "/evaluation"):
            page.goto(path)
            assert fits(page)
        page.wait_for_selector("body:not(:has([data-computing]))")
