"""What counts as a passage: the settings that ``passages``, ``clean`` and ``trace`` share."""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass, fields
from typing import Any

from neardup import _native
from neardup.decisions.order import Order
from neardup.documents import Columns
from neardup.errors import SettingsError
from neardup.settings import parse_size

UNITS = ("word", "sentence", "line", "paragraph")
MOST_PLACES = 16  # of a gram that are tried; grams of a longer list are part of what many share
SOURCE_COLUMNS = ("source", "url")


@dataclass(frozen=True)
class PassageSettings:
    """What counts as a passage.

    ``min_words``: words of the shortest passage.
    ``unit``: passages consist of whole units: "word", "sentence", "line" or "paragraph".
    ``gap``: the most words without a counterpart that a copy may contain in one place; 0 finds
    only exact copies.
    ``similarity``: the share of the words of an edited copy that must agree with the original.
    ``keep``: the order that decides which copy is the original, as in ``dedup``.
    ``text``, ``id``, ``date``, ``source``: names of columns; a URL as source counts by its host.
    ``workers``: the number of threads; None uses all cores.
    ``memory``: what words and grams may take, such as "500MB"; beyond it they are on disk.
    ``limit``: read only so many documents.
    """

    min_words: int = 20
    unit: str = "word"
    gap: int = 8
    similarity: float = 0.75
    keep: str = "first"
    text: str = "text"
    id: str | None = None
    date: str | None = None
    source: str | None = None
    workers: int | None = None
    memory: str | int = "1GB"
    limit: int | None = None

    def __post_init__(self) -> None:
        _check(self.unit in UNITS, f"unit is {self.unit!r}", f"it is one of {', '.join(UNITS)}.")
        _check(4 <= self.min_words <= 10_000, f"min_words is {self.min_words}", "from 4 to 10000.")
        _check(0 <= self.gap <= 64, f"gap is {self.gap}", "it is from 0 to 64 words.")
        _check(0.5 <= self.similarity <= 1, f"similarity is {self.similarity}", "from 0.5 to 1.")
        _check(self.limit is None or self.limit > 0, f"limit is {self.limit}", "it is at least 1.")
        _ = self.order, self.memory_bytes

    @property
    def memory_bytes(self) -> int:
        return parse_size(self.memory)

    @property
    def order(self) -> Order:
        return _order(self.keep, self.date)

    @property
    def columns(self) -> Columns:
        named = [name for name in (self.date, self.source, *self.order.columns) if name]
        usual = [name for name in (*SOURCE_COLUMNS, "date") if name not in (self.text, self.id)]
        extra = tuple(dict.fromkeys((*named, *usual)))
        return Columns(self.text, self.id, extra, tuple(n for n in usual if n not in named))

    @property
    def gram(self) -> int:
        """Words of a seed."""
        return min(6, self.min_words)

    def kernel(self) -> _native.Copies:
        """A seed of six words, one of eight grams: half of the passages of 25 words with a tenth of
        the words changed still have several seeds."""
        window = min(8, self.min_words - self.gram + 1)
        percent = round(100 * self.similarity)
        return _native.Copies(self.min_words, self.gram, window, self.gap, MOST_PLACES, percent)

    def describe(self) -> dict[str, Any]:
        return asdict(self)


_order = functools.lru_cache(maxsize=64)(Order.parse)


def settings_of(settings: dict[str, Any]) -> PassageSettings:
    known = {each.name for each in fields(PassageSettings)}
    for name in settings:
        _check(name in known, f"There is no setting {name!r}", f"expected {', '.join(known)}.")
    return PassageSettings(**settings)


def _check(valid: bool, message: str, hint: str) -> None:
    if not valid:
        raise SettingsError(f"{message}.", hint=hint)
