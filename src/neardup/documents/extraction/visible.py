"""All the text of an HTML page, menus and notices too: what stands between the tags.

Linear in the length of the page whatever it holds, which no parser of trees is: a million open
tags, or a million paragraphs, take as long as text of their length. So it serves where others give
up. Scripts, styles and comments are left out; block elements end a line.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

_NAME = re.compile(r"/?(?:\w+:)?([a-zA-Z][a-zA-Z0-9]*)")  # XHTML may have prefixes
# A browser, too, takes all that follows for a part of one of these that is not closed.
_HIDDEN = ("script", "style", "noscript", "iframe", "title")
_END = {tag: re.compile(f"</{tag}", re.IGNORECASE) for tag in _HIDDEN}
_BLOCKS = re.compile(
    "address|article|aside|blockquote|br|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|"
    "form|h[1-6]|header|hr|li|main|nav|ol|option|p|pre|section|table|td|th|tr|ul"
)
_SPACES = re.compile(r"[^\S\n]+")
_LINES = re.compile(r"\s*\n\s*")


def visible_text(page: str) -> str:
    joined = "".join(_pieces(page))
    text = _SPACES.sub(" ", html.unescape(joined))
    return _LINES.sub("\n", text).strip()


def _pieces(page: str) -> Iterator[str]:
    at = 0
    while (begin := page.find("<", at)) >= 0:
        yield page[at:begin]
        name = _NAME.match(page, begin + 1)
        if page.startswith("<!--", begin):
            at = _after(page, "-->", begin + 4)
        elif name is None and not page.startswith(("<!", "<?", "</"), begin):
            yield "<"  # a sign, not a tag
            at = begin + 1
        else:
            tag = name[1].lower() if name else ""
            at = _after(page, ">", begin + 1)
            if tag in _END and page[begin + 1] != "/":
                end = _END[tag].search(page, at)
                at = _after(page, ">", end.end()) if end else len(page)
            yield "\n" if _BLOCKS.fullmatch(tag) else ""
    yield page[at:]


def _after(page: str, sign: str, start: int) -> int:
    found = page.find(sign, start)
    return found + len(sign) if found >= 0 else len(page)
