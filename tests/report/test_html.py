"""The fragment: no document can leave it, everything is in it, and it is bounded."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given

from neardup.report.html_page import STYLES
from neardup.report.side_by_side import fragment
from neardup.text.alignment import align
from neardup.wording import ACTING, visible
from report.aligned import Made, made

TAGS = {"div", "small", "del", "ins", "mark", "sup", "details", "summary"}


class Page(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.said: list[tuple[str, str]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert {name for name, _ in attrs} <= {"class", "dir", "title"}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append((self.open[-1], data))

    def text(self, *tags: str) -> str:
        return "".join(data for tag, data in self.said if tag in tags)


@given(made())
def test_it_is_one_whole_element_with_all_the_text(pair: Made) -> None:
    page = Page(fragment(*pair, names=("</div><script>", '"onload="x')))
    assert page.open == []
    assert not ACTING.search(fragment(*pair))
    for how, tag in (("del", "a"), ("ins", "b")):
        spans = [getattr(p, tag) for p in pair.alignment.differing if p.words["ab".index(tag)]]
        whole = getattr(pair, tag)
        assert page.text(how) == "".join(visible(whole[s.begin : s.end]) for s in spans)


def test_a_text_of_markup_is_text() -> None:
    a = "<script>alert(1)</script> </style> <img src=x onerror=y> one two"
    page = Page(fragment(a, a, align(a, a)))
    assert page.text("div") == a * 2


def test_long_texts_are_folded_and_bounded() -> None:
    a = " ".join(f"word{i}" for i in range(200_000))
    b = f"{a} end"
    page = fragment(a, b, align(a, b))
    assert "<summary>… 199,98" in page
    assert "characters …</small>" in page
    assert len(page) < 100_000


def test_many_passages_are_bounded() -> None:
    a = " ".join(f"one{i} two{i} six{i} old{i}" for i in range(5_000))
    b = " ".join(f"one{i} two{i} six{i} new{i}" for i in range(5_000))
    page = fragment(a, b, align(a, b), most=10_000)
    assert len(page) < 60_000
    assert "more passages, left out." in page
    Page(page)


def test_nothing_beside_nothing() -> None:
    assert "Both texts are empty." in fragment("", "", align("", ""))


def test_the_style_asks_for_nothing_outside() -> None:
    for file in STYLES.glob("*.css"):
        written = file.read_text("utf-8")
        assert "url(" not in written
        assert "@import" not in written
