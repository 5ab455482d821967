"""Edit distance: the classic comparison of the lecture, with costs, on characters and words."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from neardup.cli import main
from neardup.errors import SettingsError
from neardup.text.alignment import Costs, Step, edit_distance, steps

SHORT = st.text("abc", max_size=7)
COSTS = st.builds(Costs, *[st.integers(1, 4)] * 3)


def twin(a: str, b: str, costs: Costs) -> int:
    """Dynamic programming, O(m·n), as the lecture has it."""
    rows = [[j * costs.insertion for j in range(len(b) + 1)]]
    for i, x in enumerate(a, 1):
        row = [i * costs.deletion]
        for j, y in enumerate(b, 1):
            same = rows[i - 1][j - 1] + (x != y) * costs.substitution
            row.append(min(rows[i - 1][j] + costs.deletion, row[-1] + costs.insertion, same))
        rows.append(row)
    return rows[-1][-1]


@given(SHORT, SHORT, COSTS)
def test_it_equals_the_twin(a: str, b: str, costs: Costs) -> None:
    assert edit_distance(a, b, costs) == twin(a, b, costs)
    assert edit_distance(list(a), list(b), costs) == twin(a, b, costs)


def test_steps_are_a_cheapest_way() -> None:
    assert edit_distance("kitten", "sitting") == 3
    assert steps(["a", "rose", "is", "red"], ["a", "rose", "is", "white"]) == [
        Step("replace", 3, 3)
    ]
    assert steps(["a", "red", "rose"], ["a", "rose"]) == [Step("delete", 1, 1)]


@given(SHORT, SHORT, COSTS)
def test_steps_lead_from_one_to_the_other_at_the_distance(a: str, b: str, costs: Costs) -> None:
    walked = steps(a, b, costs)
    assert walked is not None
    price = {
        "insert": costs.insertion,
        "delete": costs.deletion,
        "replace": costs.substitution,
    }
    assert sum(price[step.how] for step in walked) == edit_distance(a, b, costs)
    edited = list(a)
    for step in reversed(walked):
        taken = 0 if step.how == "insert" else 1
        edited[step.first : step.first + taken] = [] if step.how == "delete" else [b[step.second]]
    assert "".join(edited) == b


def test_a_dear_substitution_is_a_deletion_and_an_insertion() -> None:
    walked = steps(["a", "red", "rose"], ["a", "white", "rose"], Costs(1, 1, 3))
    assert sorted(step.how for step in walked or ()) == ["delete", "insert"]


def test_costs_are_three_numbers() -> None:
    assert Costs.parse("1, 2,3") == Costs(1, 2, 3)
    for wrong in ("1,2", "a,b,c", "1,2,-3"):
        with pytest.raises(SettingsError, match="three whole numbers"):
            Costs.parse(wrong)


def test_compare_shows_it() -> None:
    texts = ("a rose is red", "a rose is white")
    asked = ["compare", "--strings", *texts, "--costs", "1,1,2"]
    shown = CliRunner().invoke(main, asked).output
    assert "edit distance 2 of words, 6 of characters" in shown
    told = json.loads(CliRunner().invoke(main, [*asked, "--json"]).output)["edit_distance"]
    step = {"how": "replace", "first": 3, "second": 3, "old": "red", "new": "white"}
    assert (told["words"], told["word_steps"]) == (2, [step])
    assert "  replace red → white\n" in shown
