"""What counts as a duplicate when people judge: the definitions of the papers, by their names.

A guideline is shown beside each pair and stored with each label, so that labels which follow
different definitions can be told apart.
"""

from __future__ import annotations

from typing import NamedTuple

from neardup.errors import SettingsError
from neardup.papers.paper import canonical


class Guideline(NamedTuple):
    """``criteria`` are sentences; ``source`` cites the paper."""

    name: str
    source: str
    question: str
    criteria: tuple[str, ...]

    def data(self) -> dict[str, object]:
        return {**self._asdict(), "criteria": list(self.criteria)}


_ALL = (
    Guideline(
        "williams2013",
        "Williams & Giles 2013, §4",
        "Are these two near duplicates of one paper? All of these must be true:",
        (
            "The titles and authors are the same, or very similar.",
            "The texts overlap significantly: at most a paragraph is different.",
            "The citations overlap significantly.",
        ),
    ),
    Guideline(
        "conrad2003",
        "Conrad, Guo & Schriber 2003, §7.2: the definition of 25 research librarians",
        "Are these two duplicates?",
        (
            "They retain much of the same language.",
            "They are at least 80 % similar: 80 % of the words in one document are contained in "
            "the other, as a vocabulary, however often a word occurs.",
        ),
    ),
    Guideline(
        "henzinger2006",
        "Henzinger 2006, by the lecture",
        "Are these two pages correct near duplicates? Duplicate stands for correct, Not a "
        "duplicate for incorrect. One of these is enough to be correct:",
        (
            "Their text differs only by a session id, a timestamp, an execution time, a message "
            "id, a visitor count, a server name, or all or part of their URL.",
            "The difference is invisible to visitors of the pages.",
            "The difference is a combination of these.",
            "They are entry pages to the same site.",
            "Incorrect: the main item or items of the pages are different. All others are "
            "undecided.",
        ),
    ),
)
GUIDELINES = {one.name: one for one in _ALL}


def guideline_of(name: str) -> Guideline:
    """By the name of its paper; ``lecture`` is that of Henzinger, which the lecture has."""
    full = "henzinger2006" if name == "lecture" else canonical(name)
    if full not in GUIDELINES:
        raise SettingsError(
            f"There is no guideline {name!r}.", hint=f"there are {', '.join(GUIDELINES)}."
        )
    return GUIDELINES[full]
