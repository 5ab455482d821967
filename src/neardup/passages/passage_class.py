"""The class of a passage, and the evidence that decides on it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from neardup.schema import string_column
from neardup.wording import many

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
