"""The text of an HTML page, for items of a flow: what is between the tags, a line a block.

The one place where a flow meets HTML: whoever has a better extractor puts it behind ``text_of``.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

_SILENT = {"script", "style", "template", "noscript", "head", "svg"}
_BLOCKS = {"p", "div", "br", "li", "ul", "ol", "tr", "table", "section", "article", "header"}
_BLOCKS |= {"footer", "blockquote", "pre", "hr", "h1", "h2", "h3", "h4", "h5", "h6"}


def text_of(html: str) -> str:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (re.sub(r"\s+", " ", line).strip() for line in "".join(reader.parts).split("\n"))
    return "\n".join(line for line in lines if line)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._silent: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        tag = tag.rpartition(":")[2]  # XHTML in a feed has prefixes
        if tag in _SILENT:
            self._silent.append(tag)
        elif tag in _BLOCKS or tag == "body":
            self._block(tag)

    def handle_endtag(self, tag: str) -> None:
        tag = tag.rpartition(":")[2]
        if self._silent and tag == self._silent[-1]:
            self._silent.pop()
        elif tag in _BLOCKS:
            self._block(tag)

    def _block(self, tag: str) -> None:
        if tag == "body":  # a head that was never closed ends here
            self._silent.clear()
        self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(re.sub(r"\s", " ", data))
