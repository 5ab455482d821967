"""The main text of an HTML page, and what the page says about itself.

Trafilatura (Barbaresi 2021) finds the article with rules, and two other extractors where its rules
find little; Resiliparse (Bevendorff et al. 2018) is a native tree and a few heuristics, an order of
magnitude faster. Both take quadratic time and more on hostile trees, so a page of very many tags is
read as all its text, and so is one in which nothing is found. Dates are those of publication.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from neardup.documents.extraction.page import (
    ALL_TEXT,
    Extracted,
    Meta,
    Page,
    decoded_html,
    visible_text,
)

MOST_TAGS = 50_000  # real pages have 5,000 and long threads 20,000; seconds, not minutes
MOST_CHARACTERS = 20_000_000
NO_TEXT = "page has no text"


def extract_html(page: Page, how: str) -> Extracted:
    found = decoded_html(page.data, page.charset, sure=page.sure)
    if found.text is None:
        return Extracted(None, found.reason)
    source = found.text.replace("\0", " ")
    text, meta, used = None, Meta(), how
    if how != ALL_TEXT and source.count("<") <= MOST_TAGS and len(source) <= MOST_CHARACTERS:
        text, meta = _READERS[how](source, page.url)
    if not text:
        text, used = visible_text(source), ALL_TEXT
    # Of a part of the page: what stands there is there in all but hostile ones.
    meta = meta.over(stated(source[:200_000])).over(Meta(url=page.url))
    if not text:
        return Extracted(None, NO_TEXT, meta, None, found.encoding)
    return Extracted(text, None, meta, used, found.encoding)


def _trafilatura(source: str, url: str | None) -> tuple[str | None, Meta]:
    import trafilatura

    found: Any = trafilatura.bare_extraction(
        source, url=url, with_metadata=True, include_comments=False
    )
    if found is None:
        return None, Meta()
    return found.text, Meta(found.title, found.author, found.date, found.url, found.language)


def _resiliparse(source: str, url: str | None) -> tuple[str | None, Meta]:  # noqa: ARG001
    from resiliparse.extract.html2text import extract_plain_text

    found = extract_plain_text(
        source, main_content=True, list_bullets=False, links=False, alt_texts=False
    )
    return str(found).strip(), Meta()


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
    """What the tags of the head say."""
    tags = dict(_meta_tags(source))
    said = {
        name: next((tags[n] for n in names if n in tags), None) for name, names in _NAMES.items()
    }
    title, lang = _TITLE.search(source), _LANG.search(source)
    date = _DATE.match(said["date"] or "")
    return Meta(
        title=said["title"] or (visible_text(title[1]) if title else None) or None,
        author=said["author"],
        date=date[0] if date else None,
        url=said["url"],
        lang=lang[1].lower() if lang else None,
    )


def _meta_tags(source: str) -> list[tuple[str, str]]:
    """The first of each name wins, so they come last to first."""
    found = []
    for tag in _META_TAG.finditer(source):
        parts = {m[1].lower(): m[2] or m[3] or "" for m in _PART.finditer(tag[1])}
        name = parts.get("property") or parts.get("name") or parts.get("itemprop")
        if name and (content := visible_text(parts.get("content", ""))):
            found.append((name.lower(), content))
    return found[::-1]
