"""Characters that act instead of being seen, made visible.

A terminal obeys escapes, a browser turns the reading direction at a bidi control (Boucher &
Anderson 2021, "Trojan Source"), a lone surrogate cannot be written at all. C0 controls become their
pictures (␛), all others their code point (⟨202E⟩). Tabs and line breaks stay, and so do the
joiners, without which Persian, Hindi and emoji would break.
"""

from __future__ import annotations

import re

# Controls, formats, surrogates, separators of lines and paragraphs (Cc Cf Cs Zl Zp of Unicode 16),
# without tab, line feed, the two joiners, and the Arabic and Kaithi signs that are drawn.
ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ufeff\ufff9-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0001\U000e0020-\U000e007f]"
)
_BREAK = re.compile("\r\n?")


def visible(text: str) -> str:
    return ACTING.sub(_symbol, _BREAK.sub("\n", text))


def flowed(text: str) -> str:
    """On one line: every run of white space is one space."""
    return " ".join(visible(text).split())


def escaped_json(written: str) -> str:
    """JSON that no terminal obeys and every stream takes; it still says the same."""
    return ACTING.sub(lambda found: _escape(found[0]), written)


def _symbol(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨{code:04X}⟩"


def _escape(one: str) -> str:
    """As \\uXXXX, beyond the first plane as two of them."""
    units = one.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
