"""The rooms as ARCHITECTURE.md shows them: names, the picture, and every file that it points to."""

from __future__ import annotations

import re

from tools import house


def test_a_file_is_named_by_a_noun() -> None:
    assert house.participles() == []


def test_a_name_is_unique_but_where_one_thing_has_two_rooms() -> None:
    """A feature and the method on it, a command and what it drives, bear one name."""
    assert house.repeated_names().keys() <= {"idf", "index", "qgrams"}


def test_no_engine_asks_what_kind_of_method_it_has() -> None:
    assert house.method_checks() == []


def test_the_picture_is_drawn_from_the_code() -> None:
    assert house.PICTURE.read_text("utf-8") == house.picture(), "python tools/house.py --write"


def test_every_file_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`([\w/]+\.py)`", house.PAGE.read_text("utf-8")))
    missing = [file for file in named if not _exists(file)]
    assert missing == []


def _exists(file: str) -> bool:
    return (house.SOURCE / file).exists() or (house.ROOT / file).exists()


def test_a_run_of_the_example_opens_its_input_at_most_three_times() -> None:
    assert 1 <= house.walk().opened <= 3
