"""Why a document was kept or is a duplicate, in the words of the decisions.

One table chooses the reason, for the arrays of a run and for one arrival of an index. What a method
notes of a document beside its decision (its flags) follows in brackets.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.methods.base import FLAGS, TOO_SHORT, Method
from neardup.schema import Array

UNIQUE, REPRESENTATIVE, SHORT, EQUAL, EXCEPTION, PASSED = range(6)


# By kept * 8 + too short * 4 + has copies * 2 + score below the threshold.
_TABLE = [
    *(PASSED, EXCEPTION, PASSED, EXCEPTION, EQUAL, EQUAL, EQUAL, EQUAL),
    *(UNIQUE, UNIQUE, REPRESENTATIVE, REPRESENTATIVE, SHORT, SHORT, SHORT, SHORT),
]
_WORDS = ("unique", "representative", "too_short", "equal")


def _words(method: Method) -> tuple[str, ...]:
    return (*_WORDS, method.exception_reason, method.reason)


def reasons(method: Method, kept: Array, short: Array, copies: Array, score: Array) -> pa.Array:
    """By document; ``copies``: others are duplicates of it. ``score`` is that of duplicates."""
    place: Any = kept * 8 + short * 4 + copies * 2 + (score < method.threshold)
    return pa.array(_words(method), pa.large_string()).take(pa.array(np.array(_TABLE)[place]))


def duplicate_reason(method: Method, flags: int, score: float) -> str:
    """Of one document, with its notes."""
    place = bool(flags & TOO_SHORT) * 4 + (score < method.threshold)
    return _words(method)[_TABLE[place]] + note(flags & ~TOO_SHORT)


def kept_reason(flags: int, copies: int) -> str:
    """Of one document, with its notes; ``copies`` are how many are duplicates of it."""
    place = 8 + bool(flags & TOO_SHORT) * 4 + bool(copies) * 2
    return _WORDS[_TABLE[place]] + note(flags & ~TOO_SHORT)


@functools.lru_cache(maxsize=256)
def note(flags: int) -> str:
    """What a method notes of a document: "" or " (undated)"."""
    names = [name for bit, name in FLAGS.items() if flags & bit]
    return f" ({', '.join(names)})" if names else ""


def notes(flags: Array) -> pa.Array:
    """``note`` of each document, for the column of reasons."""
    codes, where = np.unique(flags & ~np.uint8(TOO_SHORT), return_inverse=True)
    return pa.array(map(note, codes.tolist()), pa.large_string()).take(pa.array(where))


def with_notes(written: pa.Array, notes: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(written, notes, pa.scalar("", pa.large_string()))
