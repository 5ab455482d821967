"""What counts as a passage: the settings that ``passages``, ``clean`` and ``trace`` share.

The class of a passage, and the evidence that decides on it.
"""

from __future__ import annotations

import functools
import re
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import pyarrow.compute as pc

from neardup import _native
from neardup.decisions.order import Order
from neardup.documents import Columns
from neardup.errors import SettingsError
from neardup.schema import string_column
from neardup.settings import parse_size
from neardup.wording import many

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


CLASSES = ("repetition", "quotation", "notice", "boilerplate", "template", "copied")
_NOTICES = (
    *("copyright", "©", "(c) 19", "(c) 20", "all rights reserved", "license", "licence"),
    *("warranty", "warranties", "terms of use", "terms of service", "privacy policy", "cookie"),
    *("disclaimer", "unsubscribe", "alle rechte vorbehalten", "urheberrecht", "impressum"),
    *("datenschutz", "nutzungsbedingungen", "droits réservés", "todos los derechos"),
)
_NOTICE_CHARACTERS = 2000  # at the begin of a passage, where its words are looked for


@dataclass(frozen=True)
class Evidence:
    """What decides on the class of a passage."""

    documents: int
    occurrences: int
    edited: int
    sources: int
    source: str
    of_source: int  # documents of that source
    at_edge: int  # occurrences in the first or last quarter of their document
    quoted: float  # share of the copies that were examined
    notice: str | None
    all_sources: int

    def classified(self) -> tuple[str, str]:
        """The class, and a sentence that says why."""
        copies = self.occurrences - 1
        where = f"in {many(self.documents, 'document')}"
        if self.documents == 1:
            return "repetition", f"{self.occurrences:,} times in one document"
        if self.quoted >= 0.5:
            return "quotation", f"{where}; {self.quoted:.0%} of its copies are marked as quoted"
        if self.notice:
            return "notice", f"{where}; it says {self.notice!r}"
        if self.documents >= 3 and self.edited * 2 >= copies:
            return "template", f"{where}; {self.edited:,} of {copies:,} copies fill it differently"
        share = self.of_source / self.documents
        if self.documents >= 3 and self.all_sources > 1 and share >= 0.8:
            return "boilerplate", f"{where}; {self.of_source:,} of them are of {self.source}"
        if self.documents >= 5 and self.at_edge >= 0.8 * self.occurrences:
            at_edge = f"{self.at_edge:,} of {self.occurrences:,}"
            return "boilerplate", f"{where}; {at_edge} times near the begin or the end"
        return "copied", f"{where} of {many(self.sources, 'source')}"


def notices_in(texts: list[str]) -> list[str | None]:
    """The first words of a notice that each text has. One pass finds the few texts with any."""
    starts = [text[:_NOTICE_CHARACTERS].lower() for text in texts]
    some = pc.match_substring_regex(string_column(starts), "|".join(map(re.escape, _NOTICES)))
    found: list[str | None] = [None] * len(texts)
    for i in np.flatnonzero(some).tolist():
        found[i] = next((words for words in _NOTICES if words in starts[i]), None)
    return found
