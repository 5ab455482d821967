"""On real documents: nobody is set aside for a text with which a reader sees nothing in common."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from quality.shared import CODES, SETS, Aside, documents, set_aside


@functools.cache
def aside(folder: Path) -> list[Aside]:
    return set_aside(documents(folder, CODES if folder.name == "procedure_codes" else ()))


@pytest.mark.parametrize("name", SETS)
def test_who_is_set_aside_shares_enough_with_the_kept_one(data: Path, name: str) -> None:
    found = aside(data / name)
    assert found
    assert [str(one) for one in found if one.too_little] == []


def test_sections_that_were_once_merged_are_apart_and_scans_of_one_are_not(data: Path) -> None:
    pairs = {(one.id, one.kept_id) for one in aside(data / "procedure_codes")}
    assert ("LA1825french-00045", "LA1825french-00044") not in pairs
    assert ("CO1884-00295", "CO1884-00291") not in pairs
    assert ("AL1876-00822", "AL1867-00770") not in pairs
    assert ("CO1884-00044", "CO1877-00023") in pairs  # the same section, misread
