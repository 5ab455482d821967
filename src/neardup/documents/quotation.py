"""The parts of the body of a message: what its author wrote, quoted history, and the signature.

Quoted are lines with ``>``, quotations of HTML, the line before them that names the author, and
everything after a header block as Outlook writes it, after ``--- Original Message ---``, or after
``On … wrote:`` without such lines. A signature begins with a line ``--`` (RFC 3676), or is the one
of a telephone. Text that is forwarded is no history: it is what the message was sent for. A
message of which nothing would be left is taken as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from neardup.documents.message import CLOSE, OPEN

LONGEST_SIGNATURE = 25  # lines
_OWN, _QUOTED, _SIGNATURE, _WHOLE = "own", "quoted", "signature", "whole"
_RULE = re.compile(r"-{3,}[ \t]*\w[^-\n]{3,60}-{3,}")
_FORWARD = re.compile(r"(fwd?|wg|tr|rv|enc|doorst)\s*:", re.IGNORECASE)
_FORWARDED = re.compile(
    r"(begin )?(forwarded|weitergeleitete|réexpédié|transféré|reenviado|inoltrato|doorgestuurd)",
    re.IGNORECASE,
)
_FROM = re.compile(r"\*?(from|von|de|da|van|från|fra|od|от)\s*:\*?\s", re.IGNORECASE)
_FIELD = re.compile(r"\*?[^\W\d]{1,12}( [^\W\d]{1,12})?\s?:\*?(\s|$)")
_WROTE = re.compile(
    r"(wrote|schrieb|écrit|escribió|scritto|schreef|skrev|escreveu|napisał\w*|пишет|писал\w*)"
    r"[^\w\n]{0,4}:$",
    re.IGNORECASE,
)
_SENT = re.compile(
    r"(sent from (my|mail|yahoo|outlook)|get outlook for|gesendet (von|mit)|envoyé (de|depuis)|"
    r"von meinem .{1,30} gesendet)\b",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"^[> \t]+", re.MULTILINE)
_UNDERLINE = re.compile(r"_{5,}")


class Body(NamedTuple):
    text: str
    quoted: str
    signature: str


def body_of(text: str, subject: str | None = None) -> Body:
    lines = text.split("\n")
    stripped = [line.strip() for line in lines]
    kinds = _kinds(stripped, forwards=_forwards(subject, lines))
    parts: dict[str, list[str]] = {_OWN: [], _QUOTED: [], _SIGNATURE: [], _WHOLE: []}
    for line, content, kind in zip(lines, stripped, kinds, strict=True):
        if content not in (OPEN, CLOSE):
            parts[kind].append(line)
            parts[_WHOLE].append(line)
    own, quoted, signature, whole = ("\n".join(part).strip() for part in parts.values())
    return Body(own, _SIGNS.sub("", quoted), signature) if own else Body(whole, "", "")


def _forwards(subject: str | None, lines: Sequence[str]) -> bool:
    if subject and _FORWARD.match(subject):
        return True
    return any(
        _FORWARDED.match(line.strip(" \t-:")) and (_RULE.match(line.strip()) or line.endswith(":"))
        for line in lines
        if len(line) < 100
    )


def _kinds(lines: Sequence[str], *, forwards: bool) -> list[str]:
    kinds: list[str] = []
    kind, depth = _OWN, 0
    history = cache(lambda i: _is_history(lines, i))  # signatures look ahead
    signatures = Signatures(lines, history)
    for i, line in enumerate(lines):
        depth = max(0, depth + (line == OPEN) - (line == CLOSE))
        if depth or line == CLOSE or line.startswith(">"):
            kind = kind if kind == _QUOTED else _OWN  # a signature ends here
            kinds.append(_OWN if forwards else _QUOTED)
            continue
        if kind != _QUOTED and not forwards and history(i):
            kind = _QUOTED
        elif kind == _OWN and signatures.begins(i):
            kind = _SIGNATURE
        kinds.append(kind)
    _take_names(lines, kinds)
    return kinds


def _is_history(lines: Sequence[str], i: int) -> bool:
    """Whether all that follows is quoted."""
    line = lines[i]
    if _UNDERLINE.fullmatch(line):
        after = lines[i + 1] if i + 1 < len(lines) else ""
        return not _UNDERLINE.fullmatch(after) and _is_history(lines, i + 1) if after else False
    if _RULE.fullmatch(line):
        return True
    if _FROM.match(line):
        return sum(bool(_FIELD.match(next_)) for next_ in lines[i + 1 : i + 6]) >= 2
    wrote = _WROTE.search(line) is not None and _is_dated(lines[max(0, i - 1)] + line)
    return wrote and not any(next_.startswith((">", OPEN)) for next_ in lines[i + 1 : i + 4])


class Signatures:
    """Where signatures begin. Lines are asked for in their order, so each is examined once for the
    end of one, also in a text where every line could begin one."""

    def __init__(self, lines: Sequence[str], history: Callable[[int], bool]) -> None:
        self._lines, self._history = lines, history
        self._reached = 0  # no signature ends between the line that is asked for and this one

    def begins(self, i: int) -> bool:
        if self._lines[i] != "--":
            return _SENT.match(self._lines[i]) is not None
        self._reached = max(self._reached, i)
        last = min(i + LONGEST_SIGNATURE + 1, len(self._lines))
        while self._reached < last and not self._ends(self._reached):
            self._reached += 1
        return self._reached - i <= LONGEST_SIGNATURE

    def _ends(self, i: int) -> bool:
        return self._lines[i].startswith((">", OPEN, CLOSE)) or self._history(i)


def _take_names(lines: Sequence[str], kinds: list[str]) -> None:
    """The lines before a quotation that name its author and date (``On … wrote:``) belong to it."""
    for i in range(1, len(lines)):
        if kinds[i] != _QUOTED or kinds[i - 1] == _QUOTED:
            continue
        last = i if _WROTE.search(lines[i]) else i - 1 if lines[i - 1] or i < 2 else i - 2
        first = last
        while first > max(0, last - 2) and lines[first - 1] and not _is_dated(lines[first]):
            first -= 1
        if lines[last].endswith(":") and _is_dated(lines[first]):
            kinds[first : last + 1] = [_QUOTED] * (last + 1 - first)


def _is_dated(line: str) -> bool:
    return any(sign.isdigit() for sign in line)
