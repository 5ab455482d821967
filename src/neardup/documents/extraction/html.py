"""The main text of an HTML page, and its metadata.

Trafilatura (Barbaresi 2021) finds the article by rules, and uses two other extractors if its rules
find little. Resiliparse (Bevendorff et al. 2018) is a native tree with a few heuristics, and an
order of magnitude faster. Both take at least quadratic time on hostile trees, so a page with very
many tags is read as all its text, and so is a page in which nothing is found. Dates are those of
publication.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from neardup.documents.extraction.page import Extracted, Meta, Page, decoded_html, visible_text
from neardup.documents.file_formats import ALL_TEXT

MOST_TAGS = 50_000  # takes seconds; real pages have 5,000 and long threads 20,000
MOST_CHARACTERS = 20_000_000
NO_TEXT = "page has no text"


def extract_html(page: Page, how: str) -> Extracted:
    decoded_page = decoded_html(page.data, page.charset, sure=page.sure)
    if decoded_page.text is None:
        return Extracted(None, decoded_page.reason)
    source = decoded_page.text.replace("\0", " ")
    text, meta, used = None, Meta(), how
    if how != ALL_TEXT and source.count("<") <= MOST_TAGS and len(source) <= MOST_CHARACTERS:
        text, meta = _READERS[how](source, page.url)
    if not text:
        text, used = visible_text(source), ALL_TEXT
    # Only the start of the page is read: metadata are there in all but hostile pages.
    meta = meta.over(stated(source[:200_000])).over(Meta(url=page.url))
    if not text:
        return Extracted(None, NO_TEXT, meta, None, decoded_page.encoding)
    return Extracted(text, None, meta, used, decoded_page.encoding)


def _trafilatura(source: str, url: str | None) -> tuple[str | None, Meta]:
    import trafilatura

    article: Any = trafilatura.bare_extraction(
        source, url=url, with_metadata=True, include_comments=False
    )
    if article is None:
        return None, Meta()
    return article.text, Meta(
        article.title, article.author, article.date, article.url, article.language
    )


def _resiliparse(source: str, url: str | None) -> tuple[str | None, Meta]:  # noqa: ARG001
    from resiliparse.extract.html2text import extract_plain_text

    text = extract_plain_text(
        source, main_content=True, list_bullets=False, links=False, alt_texts=False
    )
    return str(text).strip(), Meta()


_READERS: dict[str, Callable[[str, str | None], tuple[str | None, Meta]]] = {
    "trafilatura": _trafilatura,
    "resiliparse": _resiliparse,
}

_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,1000})", re.IGNORECASE)
_LANG = re.compile(r"""<html[^>]{0,1000}?\slang\s*=\s*["']?([a-zA-Z-]{2,20})""", re.IGNORECASE)
_META_TAG = re.compile(r"<meta\s([^<>]{1,3000})>", re.IGNORECASE)
_PART = re.compile(r"""([\w:.-]{1,40})\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_NAMES = {
    "title": ("og:title", "dc.title", "citation_title"),
    "author": ("author", "article:author", "dc.creator", "citation_author"),
    "date": ("article:published_time", "datepublished", "date", "dc.date", "dcterms.date"),
    "url": ("og:url",),
}


def stated(source: str) -> Meta:
    """The metadata in the tags of the head."""
    tags = dict(_meta_tags(source))
    values = {
        name: next((tags[n] for n in names if n in tags), None) for name, names in _NAMES.items()
    }
    title, lang = _TITLE.search(source), _LANG.search(source)
    date = _DATE.match(values["date"] or "")
    return Meta(
        title=values["title"] or (visible_text(title[1]) if title else None) or None,
        author=values["author"],
        date=date[0] if date else None,
        url=values["url"],
        lang=lang[1].lower() if lang else None,
    )


def _meta_tags(source: str) -> list[tuple[str, str]]:
    """Tags from last to first, so that the first of each name wins."""
    tags = []
    for tag in _META_TAG.finditer(source):
        parts = {m[1].lower(): m[2] or m[3] or "" for m in _PART.finditer(tag[1])}
        name = parts.get("property") or parts.get("name") or parts.get("itemprop")
        if name and (content := visible_text(parts.get("content", ""))):
            tags.append((name.lower(), content))
    return tags[::-1]
