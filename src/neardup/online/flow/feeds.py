"""Items of RSS (0.9 to 2.0) and Atom files. Nothing is fetched.

A file that declares entities is refused (billion laughs, files of the machine read as entities);
the named characters of HTML, which old feeds use, are understood. The text of an item is its
content, else its description, else its title. Everything it had is kept in the field ``xml``.
"""

from __future__ import annotations

import html
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from neardup.documents.extraction.visible import visible_text
from neardup.errors import UnreadableError
from neardup.online.flow.items import Fields, unreadable

Element = ElementTree.Element

_BODIES = ("encoded", "content", "description", "summary", "title")
_DATES = ("pubDate", "published", "updated", "date", "issued")
_IDS = ("guid", "id")
_XHTML = "xhtml"
_DEEPEST = 200  # levels; what reads a tree goes down by recursion


def entries(data: bytes, fields: Fields) -> list[dict[str, Any]]:
    root = _tree(data)
    if _local(root) not in ("rss", "feed", "RDF"):
        raise unreadable(f"expected an RSS or Atom feed, got XML that begins with <{_local(root)}>")
    named = {fields.source: name} if (name := _name(root)) else {}
    return [named | _entry(one, fields) for one in root.iter() if _local(one) in ("item", "entry")]


def _name(root: Element) -> str | None:
    """The title of the feed: of Atom in the feed, of RSS in its channel."""
    channel = next((one for one in root if _local(one) == "channel"), root)
    return _first({_local(child): child for child in channel}, ("title",))


def _entry(element: Element, fields: Fields) -> dict[str, Any]:
    parts = {_local(child): child for child in reversed(element)}
    link = _link(element)
    title, date = _first(parts, ("title",)), _first(parts, _DATES)
    found = {fields.id: _first(parts, _IDS) or link, "title": title, fields.text: _body(parts)}
    found |= {"link": link, fields.date: date}
    made = {name: value for name, value in found.items() if value is not None}
    return made | {"xml": ElementTree.tostring(element, "unicode").strip()}


def _body(parts: dict[str, Element]) -> str | None:
    for name in _BODIES:
        if name in parts and (text := _text(parts[name])):
            return text
    return None


def _text(element: Element) -> str:
    """Atom says what its text is; of RSS, where nobody says, it may be HTML."""
    kind = element.get("type", "html" if not _is_atom(element) else "text")
    if kind == _XHTML:
        return visible_text(ElementTree.tostring(element, "unicode", method="html"))
    text = "".join(element.itertext()).strip()
    return text if kind in ("text", "text/plain") else visible_text(text)


def _first(parts: dict[str, Element], names: tuple[str, ...]) -> str | None:
    texts = ("".join(parts[name].itertext()).strip() for name in names if name in parts)
    return next(filter(None, texts), None)


def _link(element: Element) -> str | None:
    links = [child for child in element if _local(child) == "link"]
    usual = [one for one in links if one.get("rel", "alternate") == "alternate"]
    for one in (*usual, *links):
        if found := one.get("href") or (one.text or "").strip():
            return found
    return None


def _local(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _is_atom(element: Element) -> bool:
    return "Atom" in str(element.tag) or "atom" in str(element.tag)


def _tree(data: bytes) -> Element:
    builder = ElementTree.TreeBuilder()
    parser = _parser(builder)
    try:
        parser.Parse(data, True)
        return builder.close()
    except expat.ExpatError as error:
        raise unreadable(f"not valid XML: {error}") from None
    except (AssertionError, ValueError, LookupError) as error:  # no element; unknown encodings
        raise unreadable(f"not valid XML: {error}") from None


def _parser(builder: ElementTree.TreeBuilder) -> expat.XMLParserType:
    """ElementTree's own parser does not let entities be refused."""
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    open_: list[str] = []

    def start(tag: str, found: dict[str, str]) -> None:
        open_.append(_tag(tag))
        if len(open_) > _DEEPEST:
            raise unreadable(f"its XML is more than {_DEEPEST} levels deep")
        builder.start(open_[-1], {_tag(name): value for name, value in found.items()})

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: builder.end(open_.pop())
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = _refuse
    parser.SkippedEntityHandler = lambda name, _: builder.data(html.unescape(f"&{name};"))
    return parser


def _tag(name: str) -> str:
    return "{" + name if "}" in name else name


def _refuse(name: str, *_: object) -> None:
    raise UnreadableError(
        f"The feed declares the entity {name!r}.", reason=f"it declares the XML entity {name!r}"
    )
