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
_OWN, _QUOTED, _SIGNATURE = "own", "quoted", "signature"
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
    kinds = _kinds([line.strip() for line in lines], forwards=_forwards(subject, lines))
    parts = {
        kind: "\n".join(
            line for line, its in zip(lines, kinds, strict=True) if its == kind and not _mark(line)
        ).strip()
        for kind in (_OWN, _QUOTED, _SIGNATURE)
    }
    if not parts[_OWN]:
        whole = "\n".join(line for line in lines if not _mark(line)).strip()
        return Body(whole, "", "")
    return Body(parts[_OWN], _SIGNS.sub("", parts[_QUOTED]), parts[_SIGNATURE])


def _mark(line: str) -> bool:
    return line.strip() in (OPEN, CLOSE)


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
    for i, line in enumerate(lines):
        depth = max(0, depth + (line == OPEN) - (line == CLOSE))
        if depth or line == CLOSE or line.startswith(">"):
            kind = kind if kind == _QUOTED else _OWN  # a signature ends here
            kinds.append(_OWN if forwards else _QUOTED)
            continue
        if kind != _QUOTED and not forwards and history(i):
            kind = _QUOTED
        elif kind == _OWN and _begins_signature(lines, i, history):
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


def _begins_signature(lines: Sequence[str], i: int, history: Callable[[int], bool]) -> bool:
    if lines[i] != "--":
        return _SENT.match(lines[i]) is not None
    end = next(
        (
            n
            for n in range(i, min(i + LONGEST_SIGNATURE + 1, len(lines)))
            if lines[n].startswith((">", OPEN, CLOSE)) or history(n)
        ),
        len(lines),
    )
    return end - i <= LONGEST_SIGNATURE


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
