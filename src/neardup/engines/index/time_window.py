"""``Window`` says how long an index remembers documents; further functions parse spans and times.

A window consists of whole slots, as in the DDD system of Montanari & Puglisi 2012.

``24h`` is the current hour and the 24 before it: 25 slots. Documents meet if the numbers of their
slots differ by at most 24. The time of a document is its date if the index has a date column,
otherwise its arrival. A date in the future counts as now, so that one wrong date cannot empty the
window. A document without a date is as new as the newest one. A document that is older than the
window (late) is put into the oldest slot: it is compared, and soon forgotten.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from neardup.errors import SettingsError

UNITS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_SPAN = re.compile(r"\s*(\d+)\s*([smhdw])\s*")
_MILLISECONDS_FROM = 100_000_000_000  # as seconds, the year 5138
_SECONDS = re.compile(r"\d{9,}(\.\d*)?")  # fewer digits are a year, or nothing
_DAYS = re.compile(r"(19|20)\d{6}")  # 20031103


@dataclass(frozen=True)
class Window:
    """A window of ``count`` slots of ``unit`` milliseconds, and the current slot."""

    count: int
    unit: int
    written: str

    @classmethod
    def parse(cls, written: str) -> Window:
        count, unit = _span("window", written)
        return cls(count, unit, f"{count}{_sign(unit)}")

    def slot(self, time: int) -> int:
        return time // self.unit

    def floor(self, newest: int) -> int:
        """The beginning of the oldest slot if ``newest`` is the newest time."""
        return (self.slot(newest) - self.count) * self.unit


def span(name: str, written: str) -> int:
    """The milliseconds of a span such as ``30m``."""
    count, unit = _span(name, written)
    return count * unit


def _span(name: str, written: object) -> tuple[int, int]:
    match = _SPAN.fullmatch(written) if isinstance(written, str) else None
    if not match or not int(match[1]):
        raise SettingsError(
            f"{name} is {written!r}.", hint="expected a span such as 30m, 24h, 7d or 4w."
        )
    return int(match[1]), UNITS[match[2]]


def _sign(unit: int) -> str:
    return next(sign for sign, size in UNITS.items() if size == unit)


def milliseconds(value: Any) -> int | None:
    """Milliseconds since 1970 of a time in any usual form: ISO 8601, as in mails, seconds or
    milliseconds since 1970, 20031103, dates. Without a zone it is UTC. None for any other value."""
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _of_number(value)
    if isinstance(value, str):
        return _of_text(value.strip())
    if isinstance(value, datetime):
        return _of_datetime(value)
    return _of_datetime(datetime(*value.timetuple()[:3])) if isinstance(value, date) else None


def _of_number(value: float) -> int | None:
    if value != value or abs(value) >= 1e15:
        return None
    if isinstance(value, int) and _DAYS.fullmatch(str(value)):
        return _of_text(str(value))
    return int(value) if abs(value) >= _MILLISECONDS_FROM else int(value * 1000)


def _of_text(text: str) -> int | None:
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return _of_datetime(read(text))
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return _of_number(float(text)) if _SECONDS.fullmatch(text) else None


def _of_datetime(moment: datetime) -> int | None:
    known = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        return int(known.timestamp() * 1000)
    except (OverflowError, ValueError):
        return None
