"""XML files: parsed safely, and read as the text in their elements, without markup.

Nothing is fetched. A file that declares entities is refused (billion laughs, local files as
entities); the named characters of HTML, which old feeds use, are supported. The content of an
element is a separate line, unless the element is part of running text, as ``<b>`` in a paragraph.
"""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterator
from contextlib import suppress
from xml.etree import ElementTree
from xml.parsers import expat

from neardup.documents.encodings import decoded
from neardup.documents.extraction.page import known, visible_text
from neardup.errors import UnreadableError

Element = ElementTree.Element

HEAD = 1 << 16  # bytes in which the first element must begin
_DEEPEST = 200  # levels, because trees are read by recursion
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w:.-]{1,40})["']""")
_MARKUP = re.compile(r"</[a-zA-Z][\w:]*\s*>|<(?:br|p|hr|img)\b[^<>]*>", re.IGNORECASE)
_HIDDEN = ("script", "style")
NO_TEXT = "XML file has no text"


def text_of(root: Element) -> str:
    """The text line by line; HTML that is escaped in an element is read as HTML."""
    lines = (" ".join(line.split()) for line in "".join(_pieces(root)).split("\n"))
    return "\n".join(filter(None, lines))


def _pieces(element: Element) -> Iterator[str]:
    if local(element).lower() in _HIDDEN:
        return
    running = _is_running(element)
    yield _plain(element.text)
    for child in element:
        yield "" if running else "\n"
        yield from _pieces(child)
        yield "" if running else "\n"
        yield _plain(child.tail)


def _is_running(element: Element) -> bool:
    """Whether there are words between its elements."""
    between = (element.text, *(child.tail for child in element))
    return any(text and not text.isspace() for text in between)


def _plain(text: str | None) -> str:
    if not text:
        return ""
    return visible_text(text) if _MARKUP.search(text) else text.replace("\n", " ")


def root_name(head: bytes) -> str | None:
    """The name of the first element, with its namespace as ``{…}name``; None if there is none."""
    names: list[str] = []
    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler = lambda tag, _: names.append(_tag(tag))
    # What follows the first element does not matter here.
    with suppress(expat.ExpatError, UnreadableError, ValueError):
        parser.Parse(_text(head, None, "replace"), False)
    return names[0] if names else None


def tree(data: bytes, encoding: str | None = None) -> Element:
    """The parsed file. ``encoding`` is stated by the user; otherwise mark and declaration
    decide."""
    builder = ElementTree.TreeBuilder()
    parser = _parser(builder)
    try:
        parser.Parse(_text(data, encoding), True)
        return builder.close()
    except expat.ExpatError as error:
        raise broken(f"not valid XML: {error}") from None
    except (AssertionError, ValueError) as error:  # no element; lone surrogates
        raise broken(f"not valid XML: {error}") from None


def _text(data: bytes, encoding: str | None, errors: str = "strict") -> str:
    """The decoded text. Python supports encodings that the parser does not. Valid UTF-8 beyond
    ASCII is UTF-8 whatever was declared, as in pages, because wrong labels are common."""
    if encoding is None and not _is_utf8(data):
        encoding = _marked(data) or _declared(data) or "utf-8"
    if errors == "replace":
        return data.decode(encoding or "utf-8", errors).lstrip("\ufeff")
    guess = decoded(data, encoding or "utf-8")
    if guess.text is None:
        raise broken(guess.reason or "its encoding is unknown")
    return guess.text.removeprefix("\ufeff")


def _is_utf8(data: bytes) -> bool:
    if data.isascii() and (_declared(data) or "").startswith(("iso2022", "hz", "utf-7")):
        return False  # ASCII to the eye
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in data


def _marked(data: bytes) -> str | None:
    """UTF-16 or UTF-32, by the mark or by zeros around the first character; else None."""
    for mark, name in (
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
        (b"<\0", "utf-16-le"),
        (b"\0<", "utf-16-be"),
    ):
        if data.startswith(mark):
            return name
    return None


def _declared(data: bytes) -> str | None:
    match = _DECLARED.match(data[:HEAD])
    if match is None:
        return None
    label = match[1].decode("ascii", "replace")
    if (name := known(label)) is None:
        raise broken(f"not valid XML: unknown encoding {label!r}")
    return name


def _parser(builder: ElementTree.TreeBuilder) -> expat.XMLParserType:
    """A parser that can refuse entities, unlike that of ElementTree."""
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    open_: list[str] = []

    def start(tag: str, found: dict[str, str]) -> None:
        open_.append(_tag(tag))
        if len(open_) > _DEEPEST:
            raise broken(f"its XML is more than {_DEEPEST} levels deep")
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
    raise broken(f"it declares the XML entity {name!r}")


def local(element: Element) -> str:
    return local_name(str(element.tag))


def local_name(tag: str) -> str:
    return tag.rpartition("}")[2]


def broken(reason: str) -> UnreadableError:
    return UnreadableError(f"The XML cannot be read: {reason}.", reason=reason)
