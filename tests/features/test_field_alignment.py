"""Columns of unlike tables, matched by their values."""

from __future__ import annotations

from neardup.features.field_alignment import align_fields

BOOKS = [
    {"title": "On roses", "writer": "Ann Lee", "price": "12"},
    {"title": "On rivers and roses", "writer": "Bo Ek", "price": "15"},
]
SHOP = [
    {"item": "roses, a book on", "cost": 12, "name": "Lee, Ann"},
    {"item": "rivers", "cost": 15, "name": "Ek, Bo", "shelf": None},
]
LIBRARY = [{"creator": "Bo Ek; Ann Lee", "work": "On rivers and roses"}]


def test_columns_are_grouped_by_their_values() -> None:
    assert align_fields([BOOKS, SHOP, LIBRARY]) == [
        {0: "title", 1: "item", 2: "work"},
        {0: "writer", 1: "name", 2: "creator"},
        {0: "price", 1: "cost"},
    ]


def test_a_table_has_one_column_in_a_group() -> None:
    twice = [{"title": "On roses", "subtitle": "On roses"}]
    assert align_fields([BOOKS, twice], 0.1) == [{0: "title", 1: "subtitle"}]


def test_columns_without_a_partner_are_left_out() -> None:
    assert align_fields([BOOKS, [{"x": "unlike"}]]) == []
    assert align_fields([]) == []
