from __future__ import annotations

import pytest

from neardup.errors import SettingsError
from neardup.methods import registry
from neardup.methods.shingles import Shingles
from neardup.text.options import Text


def test_names_are_sorted_and_the_default_is_one_of_them() -> None:
    assert registry.names() == sorted(registry.names())
    assert registry.DEFAULT in registry.names()


def test_each_name_builds_the_method_of_that_name() -> None:
    for name in registry.names():
        assert registry.build(name).name == name


def test_a_near_name_is_suggested() -> None:
    with pytest.raises(SettingsError, match="did you mean 'shingles'"):
        registry.build("shingle")


def test_nested_parameters() -> None:
    made = registry.build("shingles", {"words": 3, "text": {"digits": "mask"}})
    assert made == Shingles(words=3, text=Text(digits="mask"))
    with pytest.raises(SettingsError, match="digit"):
        registry.build("shingles", {"text": {"digit": "mask"}})
