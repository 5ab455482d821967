"""The definitions of the papers say what the papers say."""

from __future__ import annotations

import re

import pytest

from conftest import DATA
from neardup.labels.samples import GUIDELINES, guideline_of

# What each paper prints, in its own words; the lecture has Henzinger's.
PRINTED = {
    "williams2013": (
        0,
        ("maximum of a paragraph different", "significant overlap in the citations"),
    ),
    "conrad2003": (
        2,
        ("at least 80% similar", "25 research librarians", "much of the same language"),
    ),
    "henzinger2006": (
        3,
        ("a session id, a timestamp, an execution time", "entry pages to the same site"),
    ),
}


@pytest.mark.parametrize("name", GUIDELINES)
def test_it_is_the_papers_own(name: str) -> None:
    seeds = sorted((DATA.parent / "seeds").glob("*.txt"))
    if not seeds:
        pytest.skip(f"{DATA.parent / 'seeds'} is not there")
    number, phrases = PRINTED[name]
    printed = re.sub(r"\s+", " ", seeds[number].read_text("utf-8"))
    assert all(phrase in printed for phrase in phrases)
    said = " ".join((guideline_of(name).question, *guideline_of(name).criteria)).casefold()
    words = {word for phrase in phrases for word in re.findall(r"[a-z]{6,}", phrase)}
    left_out = {word for word in words if word[:6] not in said}
    assert left_out <= {"maximum", "research", "librarians", "overlap", "retain"}
