"""HTML → text: the article without its skin, in any encoding, whatever the page holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.pages import ARTICLE, MENU, plain_skin, rich_skin
from neardup.documents.extraction.html import MOST_TAGS, NO_TEXT, extract_html
from neardup.documents.extraction.page import Page, decoded_html, visible_text
from neardup.documents.file_formats import HTML


def page(source: str | bytes, **given: str) -> Page:
    return Page(HTML, source if isinstance(source, bytes) else source.encode(), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("how", ["trafilatura", "resiliparse"])
def test_the_skin_goes_the_article_stays(how: str) -> None:
    found = extract_html(page(rich_skin()), how)
    assert found.text is not None
    assert found.how == how
    assert all(part in found.text for part in ARTICLE)
    assert "Section number" not in found.text
    assert "track(" not in found.text


def test_all_text_has_the_skin_but_no_code() -> None:
    text = extract_html(page(rich_skin()), "all-text").text or ""
    assert all(part in text.split("\n") for part in ARTICLE)
    assert "Section number 11 of our paper" in text
    assert not any(code in text for code in ("track(", "color: red", "<"))


@pytest.mark.parametrize("how", ["trafilatura", "resiliparse", "all-text"])
def test_what_a_page_says_about_itself(how: str) -> None:
    meta = extract_html(page(plain_skin(), url="https://a.org/x"), how).meta
    assert meta == ("Harbour closed", "Ada Brown", "2024-03-05", "https://a.org/x", "en")


GERMAN = "<html><head>{}</head><body><p>Größe über Maßstäbe – „Ärger“ zum Frühstück</p>"


@pytest.mark.parametrize(
    ("head", "written", "charset", "read"),
    [
        ("", "utf-8", None, "utf-8"),
        ("<meta charset=utf-8>", "utf-16", None, "utf-16-le"),
        ("<meta charset='windows-1252'>", "cp1252", None, "cp1252"),
        ("", "cp1252", "ISO-8859-1", "cp1252"),
        ("<meta http-equiv=x content='text/html; charset=windows-1252'>", "cp1252", None, "cp1252"),
        # Labels that lie.
        ("<meta charset='iso-8859-1'>", "utf-8", None, "utf-8"),
        ("<meta charset='utf-8'>", "cp1252", None, "cp1252"),
        ("<meta charset='no-such'>", "cp1252", "x-unknown", "cp1252"),
        ("<meta charset='base64'>", "utf-8", None, "utf-8"),
    ],
)
def test_encodings_and_labels_that_lie(
    head: str, written: str, charset: str | None, read: str
) -> None:
    found = decoded_html(GERMAN.format(head).encode(written), charset)
    assert (found.text, found.encoding) == (GERMAN.format(head), read)


@pytest.mark.parametrize("name", ["shift_jis", "euc-jp", "iso-2022-jp", "gb2312", "big5"])
def test_encodings_of_the_east(name: str) -> None:
    text = f"<meta charset='{name}'>" + ("日本 文字 " * 20)
    assert decoded_html(text.encode(name)).text == text


@given(st.binary(max_size=400), st.sampled_from([None, "utf-8", "gbk", "utf-16", "latin-1"]))
def test_bytes_of_any_kind_have_a_text(data: bytes, charset: str | None) -> None:
    found = decoded_html(data, charset)
    assert found.text is not None
    visible_text(found.text)


HOSTILE = {
    "nested": b"<div>" * 200_000 + b"word",
    "inline": b"<b><i>" * 100_000 + b"word",
    "paragraphs": b"<p>word word</p>" * 100_000,
    "signs": b"<" * 500_000 + b" word",
    "comments": b"<!--" * 1_000_000 + b"--> word",
    "scripts": b"word <script>" * 100_000,
    "attributes": b"<p " + b"a=1 " * 1_000_000 + b">word",
    "entities": b"&amp;" * 1_000_000 + b" word",
    "nulls": b"\0" * 1_000_000 + b"<p>word\0word</p>",
    "meta": b"<meta name=" * 200_000 + b">word",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_are_read_as_all_their_text(name: str) -> None:
    data = b"<html><body>" + HOSTILE[name]
    assert "word" in (extract_html(page(data), "all-text").text or "")
    if data.count(b"<") > MOST_TAGS:
        assert extract_html(page(data), "trafilatura").how == "all-text"


def test_a_page_in_which_no_article_is_found_is_read_as_all_its_text() -> None:
    found = extract_html(page(f"<nav><ul>{MENU}</ul></nav>"), "trafilatura")
    assert found.how == "all-text" or "Section number 3" in (found.text or "")


@pytest.mark.parametrize("source", ["", "<html></html>", "<script>only()</script>", "<!-- x -->"])
def test_a_page_without_text_says_so(source: str) -> None:
    found = extract_html(page(source), "trafilatura")
    assert (found.text, found.reason) == (None, NO_TEXT)


@given(st.text(alphabet="ab &<>\n;é", max_size=60))
def test_text_without_tags_is_itself(text: str) -> None:
    import html

    wanted = " ".join(text.split())
    assert " ".join(visible_text(f"<p>{html.escape(text)}</p>").split()) == wanted
