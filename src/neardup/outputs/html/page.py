"""One page, one file: style inside, no script, and no leave to load anything from anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from neardup.documents.streams import whole_file
from neardup.outputs.html.safe import Html, html
from neardup.outputs.html.style import STYLE

WARNING = "WARNING: "  # what a paragraph begins with that must not be overlooked
# Should markup of a document ever slip through, the browser still runs and loads nothing.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(title: str, parts: Iterable[str], style: str = "") -> str:
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html(title)}</title><style>{STYLE}{style}</style></head><body><main>"
        f"{body}\n</main></body></html>\n"
    )


def write_page(path: Path, text: str) -> None:
    """The file appears only when it is whole."""
    with whole_file(path) as part:
        part.write_text(text, "utf-8")


def card(title: str, *parts: str, anchor: str = "") -> Html:
    place = f' id="{anchor}"' if anchor else ""
    return Html(f"<section{place}><h2>{html(title)}</h2>{''.join(parts)}</section>")


def paragraphs(text: str) -> list[str]:
    return [part for part in re.split(r"\n\s*\n", text.strip()) if part]


def prose(text: str, css: str = "") -> Html:
    """Plain text, paragraphs parted by blank lines; one that begins with "$ " is a command to
    paste, one that begins with WARNING stands out."""
    made = []
    for paragraph in paragraphs(text):
        if paragraph.startswith("$ "):
            made.append(f"<pre>{html(paragraph[2:])}</pre>")
        else:
            kind = "warning" if paragraph.startswith(WARNING) else css
            made.append(f"<p{f' class={kind}' if kind else ''}>{html(paragraph)}</p>")
    return Html("".join(made))
