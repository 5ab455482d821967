"""Text of documents made harmless and honest for a page: escaped, cut, and with nothing hidden.

Documents are hostile. Markup is escaped; characters that act instead of being seen are shown.
"""

from __future__ import annotations

from html import escape

from neardup.names import LONGEST_NAME, shortened
from neardup.outputs.sidebyside.visible import visible

LONGEST_PATH = 40
ONE_LINE = 30


class Html(str):
    """Markup that is safe as it stands; any other string is escaped where it is shown."""

    __slots__ = ()


def html(text: str) -> Html:
    return text if isinstance(text, Html) else Html(escape(visible(text)))


def name(text: str | None, most: int = LONGEST_NAME) -> Html:
    """An id or a source, apart from the direction of what stands around it."""
    if text is None:
        return Html("–")
    return _apart(shortened(text, most))


def _apart(line: str) -> Html:
    made = Html(f"<bdi>{html(line)}</bdi>")
    return made if len(line) <= ONE_LINE else wrapped(made)


def place(file: str, row: int, path: str | None = None) -> Html:
    """Where a document stands, as ``names.where`` has it; of a long path the end."""
    whole = path or file
    end = whole if len(whole) <= LONGEST_PATH else "…" + whole[1 - LONGEST_PATH :]
    made = Html(f"<bdi>{html(end)}</bdi>" + ("" if path else f", row {row:,}"))
    return made if len(end) <= ONE_LINE else wrapped(made)


def wrapped(text: str) -> Html:
    """May have several lines in a cell."""
    return Html(f"<span class=wrap>{html(text)}</span>")
