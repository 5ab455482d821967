"""The text of an HTML page, for items of a flow: what is between the tags, a line a block.

The one place where a flow meets HTML: whoever has a better extractor puts it behind ``text_of``.
One pass from left to right, whatever the page is like: the parser of the standard library takes
minutes for 400 KB of comments that do not end.
"""

from __future__ import annotations

import re
from html import unescape

_SILENT = {"script", "style", "template", "noscript", "head", "title", "svg"}
_BLOCKS = {"p", "div", "br", "li", "ul", "ol", "tr", "table", "section", "article", "header"}
_BLOCKS |= {"footer", "blockquote", "pre", "hr", "body", "h1", "h2", "h3", "h4", "h5", "h6"}
_TAG = re.compile(r"<(?:(?P<comment>!--)|(?P<end>/?)(?:\w+:)?(?P<name>[a-zA-Z]\w*)|[!?])")


def text_of(html: str) -> str:
    text = unescape("".join(_parts(html)))
    lines = (re.sub(r"\s+", " ", line).strip() for line in text.split(_BREAK))
    return "\n".join(line for line in lines if line)


_BREAK = "\x1e"  # no character of a page


def _parts(html: str) -> list[str]:
    parts, place, ends = [], 0, _Ends(html)
    while tag := _TAG.search(html, place):
        parts.append(html[place : tag.start()])
        name = (tag["name"] or "").lower()
        if tag["comment"]:
            place = ends.after("-->", tag.end(), or_else=len(html))
        else:
            place = ends.after(">", tag.end(), or_else=len(html))
        if name in _SILENT and not tag["end"]:
            closing = ends.after(f"</{name}", place, or_else=place - 1)
            place = ends.after(">", closing, or_else=len(html))
        if name in _BLOCKS:
            parts.append(_BREAK)
    parts.append(html[place:])
    return parts


class _Ends:
    """Where something ends. What is not found once is not looked for again, so that all looking
    together goes through the page once for each thing."""

    def __init__(self, html: str) -> None:
        self._html = html
        self._missing: set[str] = set()

    def after(self, what: str, place: int, *, or_else: int) -> int:
        if what in self._missing:
            return or_else
        found = re.compile(re.escape(what), re.IGNORECASE).search(self._html, place)
        if not found:
            self._missing.add(what)
        return found.end() if found else or_else
