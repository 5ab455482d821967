"""Term vectors in the packed form of Conrad et al. 2003, §7.3: at most 184 bytes for 60 terms.

Two bytes for the date (days since 1980-01-01), two for the length, three for each term, all little
endian. What does not fit is stored as the nearest that does: a date before 1980 as that day, a
length of 65,535 or more as 65,535. Whoever compares such lengths needs the true ones.
"""

from __future__ import annotations

from typing import NamedTuple

from neardup.errors import SettingsError

_NONE = 0xFFFF
LAST_DAY, MOST_TOKENS, MOST_TERMS = _NONE - 1, 0xFFFF, 1 << 24


class Vector(NamedTuple):
    """``terms`` are ranks in an idf table, rarest first."""

    day: int | None
    length: int
    terms: tuple[int, ...]


def pack(vector: Vector) -> bytes:
    if any(not 0 <= term < MOST_TERMS for term in vector.terms):
        raise SettingsError(
            f"A term of rank {max(vector.terms):,} does not fit into three bytes.",
            hint=f"use an idf table of at most {MOST_TERMS:,} terms.",
        )
    day = _NONE if vector.day is None else min(max(vector.day, 0), LAST_DAY)
    head = day.to_bytes(2, "little") + min(vector.length, MOST_TOKENS).to_bytes(2, "little")
    return head + b"".join(term.to_bytes(3, "little") for term in vector.terms)


def unpack(packed: bytes) -> Vector:
    day, length = (int.from_bytes(packed[i : i + 2], "little") for i in (0, 2))
    terms = (int.from_bytes(packed[i : i + 3], "little") for i in range(4, len(packed), 3))
    return Vector(None if day == _NONE else day, length, tuple(terms))
