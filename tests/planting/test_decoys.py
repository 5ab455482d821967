"""Fillings of one form share its frame and no number or rare word."""

from __future__ import annotations

from neardup.documents import Columns, collect
from neardup.planting.decoys import FORM_SHARES, forms
from neardup.planting.edits import edits_named
from neardup.planting.material import units
from neardup.planting.plant import plant
from planting.test_edits import TEXTS
from planting.test_plant import documents


def test_two_fillings_differ_in_the_blanks_alone() -> None:
    made = plant(collect(documents(30)), Columns(), edits_named(["deletions"]), 5)
    table = forms(made, 4).to_pylist()
    assert {row["rate"] for row in table} == set(FORM_SHARES)
    texts = dict(made.material.texts)
    for a, b in zip(table[::2], table[1::2], strict=True):
        assert a["donors"] == b["donors"]
        assert a["id"][:-1] == b["id"][:-1]
        three = [_words(one) for one in (a["text"], b["text"], texts[a["donors"][0]])]
        same = [x for x, y, z in zip(*three, strict=False) if x == y == z]
        assert len(three[0]) == len(three[1])
        assert abs(len(same) / len(three[0]) - a["rate"]) < 0.1
    assert forms(made, 4).to_pylist() == table


def test_every_number_is_a_blank() -> None:
    texts = {lang: TEXTS[lang] for lang in ("en", "de", "ar")}
    rows = [{"id": lang, "text": text} for lang, text in texts.items()]
    made = plant(collect(rows), Columns(), edits_named(["deletions"]), 2)
    for row in forms(made, 6, fillings=4).to_pylist():
        before, after = _words(texts[row["donors"][0]]), _words(row["text"])
        both = list(zip(before, after, strict=False))
        assert any(old.isdecimal() for old, _ in both)
        assert all(old != new for old, new in both if old.isdecimal())


def _words(text: str) -> list[str]:
    return [text[unit.start : unit.end] for unit in units(text)]
