"""The CSV scanner again, slow and obvious: one byte after the other."""

from __future__ import annotations

from typing import NamedTuple


class Record(NamedTuple):
    start: int
    fields: list[bytes]
    open: bool


def records(chunk: bytes, delimiter: str) -> list[Record]:
    found, place = [], 0
    while place < len(chunk):
        record, end = _record(chunk, place, delimiter.encode())
        if chunk[place:end] not in (b"\n", b"\r\n", b"\r"):
            found.append(record)
        place = end
    return found


def _record(chunk: bytes, start: int, delimiter: bytes) -> tuple[Record, int]:
    fields, place = [], start
    while True:
        value, place, inside = _field(chunk, place, delimiter)
        fields.append(value)
        ending = chunk[place : place + 1]
        if ending != delimiter:
            return Record(start, fields, inside), place + len(ending)
        place += 1


def _field(chunk: bytes, place: int, delimiter: bytes) -> tuple[bytes, int, bool]:
    value, inside = bytearray(), chunk[place : place + 1] == b'"'
    if inside:
        place += 1
        while place < len(chunk) and inside:
            if chunk[place : place + 2] == b'""':
                value += b'"'
                place += 2
            elif chunk[place : place + 1] == b'"':
                inside = False
                place += 1
            else:
                value += chunk[place : place + 1]
                place += 1
        if inside:
            return bytes(value), place, True
    tail = place
    while place < len(chunk) and chunk[place : place + 1] not in (delimiter, b"\n"):
        place += 1
    rest = chunk[tail:place]
    if chunk[place : place + 1] != delimiter:
        rest = rest.removesuffix(b"\r")
    return bytes(value + rest), place, False
