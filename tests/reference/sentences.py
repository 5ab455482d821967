"""Where sentences end, as one regular expression."""

from __future__ import annotations

import re

LINE = r"(?:\r\n|[\n\r\x85\u2028])"
PARAGRAPH = r"[\v\f\u2029]"
STOP = ".!?…．‼‽⁇⁈⁉"
FULL_STOP = "。！？｡।॥؟۔܀܁܂։።፧፨၊။។៕᠃᠉།༎﹒﹖﹗"
CLOSER = "\"')\\]}»’“”›〉》」』】）］｣"
BLANK = rf"(?:{PARAGRAPH}|{LINE}[^\S\n\r\v\f\x85\u2028\u2029]*(?:{LINE}|{PARAGRAPH}))"

END = re.compile(rf"[{STOP}{FULL_STOP}][{STOP}{FULL_STOP}{CLOSER}]*")


def sentences(text: str) -> list[str]:
    found, begin, at = [], 0, _white(text, 0)
    while at < len(text):
        run = END.match(text, at)
        if run:
            at = run.end()
            if _ends(run[0]) or at == len(text) or _white(text, at) > at:
                at = _white(text, at)
                found.append(text[begin:at])
                begin = at
                at = _white(text, at)
        elif _white(text, at) > at:
            gap, at = text[at : _white(text, at)], _white(text, at)
            if re.search(BLANK, gap):
                found.append(text[begin:at])
                begin = at
        else:
            at += 1
    return [*found, text[begin:]] if begin < len(text) else found


def _ends(run: str) -> bool:
    return any(mark in FULL_STOP for mark in run)


def _white(text: str, at: int) -> int:
    while at < len(text) and _is_white(text[at]):
        at += 1
    return at


def _is_white(character: str) -> bool:
    """White_Space of Unicode; Python also counts four control characters."""
    return character.isspace() and not "\x1c" <= character <= "\x1f"
