"""Files of packages to texts: pages, manual pages, help topics, fortunes.

A reader gives (part, text) for each text of a file; the part has no name where it is the whole.
"""

from __future__ import annotations

import gzip
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from neardup.documents.extraction.html import extract_html
from neardup.documents.extraction.page import Page, visible_text
from neardup.documents.file_formats import HTML

Part = tuple[str, str]
_BACKSPACED = re.compile(r".\x08|\x1b\[[0-9;]*m")
_CHAPTER = re.compile(r"<h2[^>]*>")
_NOT_PROSE = {"info", "media", "code", "screen"}


def content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def page(path: Path) -> Iterator[Part]:
    """The main text of an HTML page."""
    found = extract_html(Page(HTML, content(path)), "resiliparse").text
    if found:
        yield "", found


def plain(path: Path) -> Iterator[Part]:
    yield "", content(path).decode("utf-8", "replace")


def manual(path: Path) -> Iterator[Part]:
    """A manual page as a reader of 80 columns sees it, without hyphens at line ends."""
    asked = ["groff", "-k", "-t", "-man", "-Tutf8", "-P-c", "-rHY=0", "-rLL=78n", "-"]
    made = subprocess.run(asked, input=content(path), capture_output=True, check=True).stdout
    yield "", _BACKSPACED.sub("", made.decode("utf-8", "replace"))


def topic(path: Path) -> Iterator[Part]:
    """A topic of a Mallard help system: titles, paragraphs and items, a line each."""
    lines: list[str] = []

    def walk(node: ElementTree.Element) -> None:
        name = node.tag.rsplit("}", 1)[-1]
        if name in _NOT_PROSE:
            return
        if name in ("title", "p"):
            lines.append(" ".join("".join(node.itertext()).split()))
            return
        for child in node:
            walk(child)

    walk(ElementTree.fromstring(content(path)))
    yield "", "\n\n".join(line for line in lines if line)


def fortunes(path: Path) -> Iterator[Part]:
    """Texts parted by lines of one ``%``."""
    whole = content(path).decode("utf-8", "replace")
    for number, one in enumerate(re.split(r"^%\s*$", whole, flags=re.MULTILINE)):
        yield str(number), one.strip("\n")


def chapters(path: Path) -> Iterator[Part]:
    """A book in one HTML page, cut at the headings of its chapters, which name the parts."""
    source = content(path).decode("utf-8", "replace")
    for one in _CHAPTER.split(source)[2:]:  # what stands before is the title and the contents
        heading, body = one.split("</h2>", 1)
        name = re.sub(r"<[^>]*>|[\W\d_]+", " ", heading).strip().casefold()
        yield name, visible_text(f"<p>{name}</p>{body}")


def licence(said: dict[str, Any]) -> str:
    """Of a package, from its metadata."""
    classes = [one.split(" :: ") for one in said.get("classifier", [])]
    named = ", ".join(one[-1] for one in classes if one[0] == "License")
    first = (said.get("license") or "").strip().split("\n")[0]
    return said.get("license_expression") or named or first[:60]


READERS: dict[str, Callable[[Path], Iterator[Part]]] = {
    reader.__name__: reader for reader in (page, plain, manual, topic, fortunes, chapters)
}
