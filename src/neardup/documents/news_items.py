"""Items of XML files of news and libraries: what each vocabulary calls text, title, author, date.

Files of many items are RSS (0.9 to 2.0), Atom, NewsML-G2 (``newsMessage``), news sitemaps and
answers of OAI-PMH; a NITF file and a single ``newsItem`` are one item. The text is the content,
else the description, else the title, without HTML. A packet of NewsML-G2 that is no ``newsItem``,
such as a package, refers to others and is no item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple
from xml.etree import ElementTree

from neardup.documents.extraction.page import Extracted, Meta, visible_text
from neardup.documents.xml import (
    HEAD,
    NO_TEXT,
    Element,
    broken,
    local,
    local_name,
    root_name,
    text_of,
    tree,
)
from neardup.errors import UnreadableError

_FEEDS = ("rss", "feed", "RDF")
_RSS_1 = (b"purl.org/rss/1.0/", b"my.netscape.com/rdf/", b"channel.netscape.com/rdf/")
_BODIES = ("encoded", "content", "description", "summary", "title")
_DATES = ("pubDate", "published", "updated", "date", "issued")
_IDS = ("guid", "id")
_XHTML = "xhtml"
_SITEMAP = b"schemas/sitemap-news"
_SINGLE = ("nitf", "newsItem")


class FeedItem(NamedTuple):
    """An item of a feed; ``feed`` is the title of the feed, ``xml`` the whole item."""

    id: str | None
    text: str | None
    title: str | None
    author: str | None
    date: str | None
    url: str | None
    lang: str | None
    feed: str | None
    xml: str


def is_feed(head: bytes) -> bool:
    """Whether the first element is that of a feed; ``<rdf:RDF>`` alone need not be RSS."""
    root = root_name(head[:HEAD])
    if root is None:
        return False
    name = local_name(root)
    if name == "RDF":
        return any(sign in head for sign in _RSS_1)
    if name == "urlset":
        return _SITEMAP in head
    if name in ("newsMessage", "OAI-PMH"):
        return True
    return name == "rss" or (name == "feed" and (root == name or _is_atom(root)))


def feed_items(data: bytes, encoding: str | None = None) -> list[FeedItem]:
    root = tree(data, encoding)
    name = local(root)
    if name in _FEEDS:
        return _of_feed(root)
    if name not in _READERS:
        raise broken(
            f"expected a feed, NewsML-G2, NITF, a news sitemap or OAI-PMH, got XML that begins "
            f"with <{name}>"
        )
    found, read = _READERS[name]
    return [read(element) for element in _outermost(root, (found,))]


def xml_document(data: bytes, encoding: str | None = None) -> Extracted:
    """The text of a file that is one document, or the reason why there is none. Articles state
    their metadata."""
    try:
        root = tree(data, encoding)
        if local(root) not in _SINGLE:
            text = text_of(root)
            return Extracted(text or None, None if text else NO_TEXT)
        item = _READERS[local(root)][1](root)
    except UnreadableError as error:
        return Extracted(None, error.reason)
    meta = Meta(item.title, item.author, iso_date(item.date), item.url, item.lang)
    return Extracted(item.text, None if item.text else NO_TEXT, meta)


def _of_feed(root: Element) -> list[FeedItem]:
    channel = next((element for element in root if local(element) == "channel"), root)
    children = {local(child): child for child in reversed(channel)}
    about = _first(children, ("title",)), _first(children, ("language",)) or _lang(root)
    return [_item(element, *about) for element in _outermost(root, ("item", "entry"))]


def _outermost(element: Element, names: tuple[str, ...]) -> Iterator[Element]:
    """The elements with one of the names. Those within them are none: items in items would make
    a small file large."""
    if local(element) in names:
        yield element
        return
    for child in element:
        yield from _outermost(child, names)


def _item(element: Element, feed: str | None, lang: str | None) -> FeedItem:
    parts = {local(child): child for child in reversed(element)}
    link = _link(element)
    return FeedItem(
        id=_first(parts, _IDS) or link,
        text=_body(parts),
        title=_first(parts, ("title",)),
        author=_author(parts),
        date=_first(parts, _DATES),
        url=link,
        lang=_lang(element) or lang,
        feed=feed,
        xml=_xml(element),
    )


def _body(parts: dict[str, Element]) -> str | None:
    for name in _BODIES:
        if name in parts and (text := _text(parts[name])):
            return text
    return None


def _text(element: Element) -> str:
    """The text of an element. Atom states its type; in RSS, which does not, it may be HTML."""
    kind = element.get("type", "html" if not _is_atom(str(element.tag)) else "text")
    if kind == _XHTML:
        return visible_text(ElementTree.tostring(element, "unicode", method="html"))
    text = "".join(element.itertext()).strip()
    return text if kind in ("text", "text/plain") else visible_text(text)


def _first(parts: dict[str, Element], names: tuple[str, ...]) -> str | None:
    texts = ("".join(parts[name].itertext()).strip() for name in names if name in parts)
    return next(filter(None, texts), None)


def _author(parts: dict[str, Element]) -> str | None:
    """The author; in Atom the name, without address and page."""
    named = {local(child): child for child in parts.get("author", ())}
    return _first(named, ("name",)) or _first(parts, ("creator", "author"))


def _link(element: Element) -> str | None:
    links = [child for child in element if local(child) == "link"]
    usual = [link for link in links if link.get("rel", "alternate") == "alternate"]
    for link in (*usual, *links):
        if address := link.get("href") or (link.text or "").strip():
            return address
    return None


def _lang(element: Element) -> str | None:
    return element.get("{http://www.w3.org/XML/1998/namespace}lang")


def _is_atom(tag: str) -> bool:
    return "Atom" in tag or "atom" in tag


def _below(element: Element, *names: str) -> Iterator[Element]:
    """The elements with one of the names, in the order of the file."""
    return (inner for inner in element.iter() if local(inner) in names)


def _line(elements: Iterator[Element] | Sequence[Element]) -> str | None:
    """The text of the first element that has one, in one line."""
    return next(filter(None, map(_whole, elements)), None)


def _whole(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


def _value(elements: Iterator[Element], name: str) -> str | None:
    return next(filter(None, (element.get(name) for element in elements)), None)


def _xml(element: Element) -> str:
    return ElementTree.tostring(element, "unicode").strip()


def _joined(elements: Iterator[Element]) -> str | None:
    return "\n".join(filter(None, map(text_of, elements))) or None


def _nitf(root: Element) -> FeedItem:
    """News Industry Text Format, by its own names."""
    title = _line(_below(root, "hl1")) or _line(_below(root, "hedline", "title"))
    return FeedItem(
        id=_value(_below(root, "doc-id"), "id-string"),
        text=_joined(_below(root, "body.content")) or _joined(_below(root, "body")) or title,
        title=title,
        author=_line(_below(root, "byline")),
        date=_value(_below(root, "date.issue", "story.date"), "norm"),
        url=_value(_below(root, "pubdata"), "ex-ref"),
        lang=_lang(root),
        feed=_value(_below(root, "doc.copyright"), "holder") or _line(_below(root, "distributor")),
        xml=_xml(root),
    )


def _news_item(element: Element) -> FeedItem:
    """An item of NewsML-G2. Its content is NITF or XHTML, or plain text; other renditions of it
    (pictures, films) are no text."""
    title = _line(_below(element, "headline")) or _line(_below(element, "slugline", "title"))
    text = None
    for content in _below(element, "inlineXML", "inlineData"):
        bodies = list(_below(content, "body.content")) or list(_below(content, "body"))
        if content.get("encoding") is None and (text := _joined(iter(bodies or [content]))):
            break
    return FeedItem(
        id=element.get("guid"),
        text=text or _joined(_below(element, "description")) or title,
        title=title,
        author=_line(_below(element, "by")) or _name(_below(element, "creator")),
        date=_line(_below(element, "contentCreated", "firstCreated", "versionCreated")),
        url=_value(_below(element, "remoteContent", "link"), "href"),
        lang=_lang(element),
        feed=_name(_below(element, "provider", "service")),
        xml=_xml(element),
    )


def _name(elements: Iterator[Element]) -> str | None:
    """A party of NewsML-G2 has a name, or is known by a code."""
    named = list(elements)
    return _line(named) or _value(iter(named), "literal") or _value(iter(named), "qcode")


def _sitemap(element: Element) -> FeedItem:
    """A page of a news sitemap, which states titles and no texts."""
    url, title = _line(_below(element, "loc")), _line(_below(element, "title"))
    return FeedItem(
        id=url,
        text=title,
        title=title,
        author=None,
        date=_line(_below(element, "publication_date", "lastmod")),
        url=url,
        lang=_line(_below(element, "language")),
        feed=_line(_below(element, "name")),
        xml=_xml(element),
    )


def _record(element: Element) -> FeedItem:
    """A record of OAI-PMH. Dublin Core has a description; of other formats all text counts. A
    record that was deleted has no text."""
    header = [child for child in element if local(child) == "header"]
    about = [inner for child in element if local(child) == "metadata" for inner in child]
    parts = {local(child): child for inner in about for child in reversed(inner)}
    texts = (_below(inner, "description", "abstract") for inner in about)
    title = _line(inner for one in about for inner in _below(one, "title"))
    text = next(filter(None, map(_joined, texts)), None) or title or _joined(iter(about))
    people = [name for one in about for name in map(_whole, _below(one, "creator")) if name]
    links = [_whole(inner) for one in about for inner in _below(one, "identifier")]
    return FeedItem(
        id=_line(inner for one in header for inner in _below(one, "identifier")),
        text=text,
        title=title,
        author="; ".join(people) or None,
        date=_first(parts, ("date",)) or _line(i for h in header for i in _below(h, "datestamp")),
        url=next((link for link in links if "://" in link or link.startswith("10.")), None),
        lang=_first(parts, ("language",)),
        feed=_first(parts, ("publisher", "source")),
        xml=_xml(element),
    )


# By the first element: the elements that are items, and how one is read.
_READERS: dict[str, tuple[str, Callable[[Element], FeedItem]]] = {
    "nitf": ("nitf", _nitf),
    "newsItem": ("newsItem", _news_item),
    "newsMessage": ("newsItem", _news_item),
    "urlset": ("url", _sitemap),
    "OAI-PMH": ("record", _record),
}


def iso_date(written: str | None) -> str | None:
    """The date in ISO 8601. RSS has dates as in e-mails; other values stay as they are."""
    from email.utils import parsedate_to_datetime

    if not written:
        return None
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return read(written).isoformat()
        except (ValueError, TypeError):
            continue
    return written
