"""Text of documents made harmless and honest for a page: escaped, cut, and with nothing hidden.

Documents are hostile. Markup is escaped; characters that act instead of being seen are shown.
"""

from __future__ import annotations

from html import escape

from neardup.outputs.sidebyside.visible import visible

LONGEST_NAME, LONGEST_PATH = 100, 40
ONE_LINE = 30


class Html(str):
    """Markup that is safe as it stands; any other string is escaped where it is shown."""

    __slots__ = ()


def html(text: str) -> Html:
    return text if isinstance(text, Html) else Html(escape(visible(text)))


def shortened(text: str, most: int = LONGEST_NAME) -> str:
    """On one line; the middle of what is longer is left out, and how much if it is much."""
    line = text if len(text) > 4 * most else " ".join(text.split())
    if len(line) <= most:
        return line
    head, tail = line[: most * 2 // 3], line[-(most // 3) :]
    left_out = len(line) - len(head) - len(tail)
    between = f"… {left_out:,} characters …" if left_out > most else "…"
    return " ".join(f"{head} {between} {tail}".split())


def name(text: str | None, most: int = LONGEST_NAME) -> Html:
    """An id or a source, apart from the direction of what stands around it."""
    if text is None:
        return Html("–")
    return _apart(shortened(text, most))


def _apart(line: str) -> Html:
    made = Html(f"<bdi>{html(line)}</bdi>")
    return made if len(line) <= ONE_LINE else wrapped(made)


def place(file: str, row: int) -> Html:
    """Where a document stands; of a long path the end."""
    end = file if len(file) <= LONGEST_PATH else "…" + file[1 - LONGEST_PATH :]
    made = Html(f"<bdi>{html(end)}</bdi>, row {row:,}")
    return made if len(end) <= ONE_LINE else wrapped(made)


def wrapped(text: str) -> Html:
    """May have several lines in a cell."""
    return Html(f"<span class=wrap>{html(text)}</span>")
