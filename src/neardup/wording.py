"""Names, places and counts in sentences for people.

Messages, summaries and pages shorten long names of documents and files; data (tables, JSON) never
does. Counts agree with their nouns: ``1 pair``, ``2 pairs``. A score is never rounded up to 1.
"""

from __future__ import annotations

import re

LONGEST_NAME = 100
_LONG_WORD = re.compile(rf"\S{{{4 * LONGEST_NAME},}}")


# Controls, formats, surrogates, separators of lines and paragraphs (Cc Cf Cs Zl Zp of Unicode 16),
# without tab, line feed, the two joiners, and the Arabic and Kaithi signs that are drawn.
ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ufeff\ufff9-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0001\U000e0020-\U000e007f]"
)
_BREAK = re.compile("\r\n?")


def visible(text: str) -> str:
    """The text without characters that a terminal or a browser obeys: signs stand for them."""
    return ACTING.sub(_symbol, _BREAK.sub("\n", text))


def escaped_json(written: str) -> str:
    """JSON that no terminal obeys and every stream takes; it still says the same."""
    return ACTING.sub(lambda found: _escape(found[0]), written)


def _symbol(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨{code:04X}⟩"


def _escape(one: str) -> str:
    """The character as \\uXXXX, or as two of them beyond the first plane."""
    units = one.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


def shortened(text: str, most: int = LONGEST_NAME) -> str:
    """One line of at most about ``most`` characters; the middle of a longer text is left out."""
    text = visible(text)
    line = text if len(text) > 4 * most else " ".join(text.split())
    if len(line) <= most:
        return line
    head, tail = line[: most * 2 // 3], line[-(most // 3) :]
    left_out = len(line) - len(head) - len(tail)
    between = f"… {left_out:,} characters …" if left_out > most else "…"
    return " ".join(f"{head} {between} {tail}".split())


def sayable(message: str) -> str:
    """A message with very long words shortened, and without control characters."""
    return _LONG_WORD.sub(lambda word: shortened(word[0]), visible(message))


def repeated(id: str, where: str) -> str:
    """The reason why a document is rejected whose id an earlier document has."""
    return f"id {shortened(id)!r} was already used in {where}"


def where(file: str, row: int, path: str | None = None) -> str:
    """The place of a document: ``path`` if it is a file by itself, else its row in ``file``."""
    return shortened(path) if path else f"{shortened(file)}, row {row}"


_SAME_WORDS = ("identical", "normalised", "layout")


def score_text(score: float, kind: str | None = None, digits: int = 4) -> str:
    """A score for people. It reads 1.0000 only if it is 1 and no word is known to differ: a score
    is that of the features that were compared, which may be a sample of the text."""
    steps = round(score * 10**digits)
    if steps >= 10**digits and (score < 1 or kind not in (None, *_SAME_WORDS)):
        steps = 10**digits - 1
    return f"{steps / 10**digits:.{digits}f}"


def many(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
