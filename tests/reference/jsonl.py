"""The JSON Lines scanner again, slow and obvious: Python's json on strictly decoded lines."""

from __future__ import annotations

import json
from typing import Any

MARK = b"\xef\xbb\xbf"
SPACE = b" \t\r\n"


class Number(str):
    """A JSON number by its text."""


def lines(chunk: bytes) -> list[bytes]:
    return chunk.removesuffix(b"\n").split(b"\n") if chunk else []


def is_blank(line: bytes) -> bool:
    return not line.strip(SPACE)


def parse(line: bytes) -> dict[str, Any] | None:
    """The object of a line, lone surrogates replaced; None where a strict reader must reject it."""
    try:
        value = json.loads(
            line.decode("utf-8"), parse_int=Number, parse_float=Number, parse_constant=_refuse
        )
    except (ValueError, RecursionError):
        return None
    return clean(value) if isinstance(value, dict) else None


def clean(value: Any) -> Any:
    if isinstance(value, Number):
        return value
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in value)
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    return value


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def select(chunk: bytes, keep: list[bool]) -> bytes:
    """The kept lines; a blank line goes with the document before it, the first ones are kept."""
    out, kept, following = [], True, iter(keep)
    for line in _with_ends(chunk):
        kept = kept if is_blank(line) else next(following)
        out += [line] if kept else []
    return b"".join(out)


def _with_ends(chunk: bytes) -> list[bytes]:
    ended = [line + b"\n" for line in chunk.split(b"\n")]
    last = ended.pop().removesuffix(b"\n")
    return [*ended, last] if last else ended
