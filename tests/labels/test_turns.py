"""Who judges what next follows from the labels alone."""

from __future__ import annotations

import pytest

from neardup.errors import SettingsError
from neardup.labels.agreement import check_assessor, free_name, turn_of
from neardup.labels.label_store import Label, Labels
from neardup.labels.sampling import Item

ITEMS = [Item(f"i{n}", f"a{n}", f"b{n}", "x", "y") for n in range(30)]


def labels(*some: Label) -> Labels:
    return Labels({(one.pair, one.assessor): one for one in some})


def label(n: int, said: str, who: str, *, arbiter: bool = False) -> Label:
    return Label(f"a{n}", f"b{n}", said, who, arbiter=arbiter, seconds=2)


def test_everyone_has_an_order_of_their_own_that_stays() -> None:
    nothing = labels()
    ann, bob = (turn_of(ITEMS, nothing, who).items for who in ("ann", "bob"))
    assert sorted(one.item for one in ann) == sorted(one.item for one in ITEMS)
    assert ann != bob
    assert ann == turn_of(list(reversed(ITEMS)), labels(label(0, "not", "bob")), "ann").items


def test_what_is_judged_is_done_and_the_next_is_the_first_that_is_not() -> None:
    order = turn_of(ITEMS, labels(), "ann").items
    first = Label(*order[0].pair, "not", "ann", seconds=3.5)
    turn = turn_of(ITEMS, labels(first, Label(*order[1].pair, "not", "bob")), "ann")
    assert turn.next == order[1]
    assert (turn.left, turn.seconds) == (29, 3.5)
    every = labels(*(Label(*one.pair, "undecided", "ann") for one in ITEMS))
    assert turn_of(ITEMS, every, "ann").next is None


def test_an_arbiter_gets_what_is_disputed_and_keeps_what_it_decided() -> None:
    said = [label(n, "not", "ann") for n in range(4)]
    said += [label(0, "duplicate", "bob"), label(1, "undecided", "bob"), label(2, "not", "bob")]
    turn = turn_of(ITEMS, labels(*said), "cy", "arbiter")
    assert {one.item for one in turn.items} == {"i0", "i1"}
    decided = labels(*said, label(0, "not", "cy", arbiter=True))
    turn = turn_of(ITEMS, decided, "cy", "arbiter")
    assert {one.item for one in turn.items} == {"i0", "i1"}
    assert turn.next is not None
    assert turn.next.item == "i1"


def test_one_name_has_one_role() -> None:
    said = labels(label(0, "not", "ann"), label(0, "not", "cy", arbiter=True))
    check_assessor(said, "ann", "assessor")
    check_assessor(said, "cy", "arbiter")
    for who, role, message in (
        ("ann", "arbiter", "'ann' has judged here as assessor"),
        ("cy", "assessor", "'cy' has judged here as arbiter"),
        ("ann", "judge", "The role is 'judge'"),
        (" ", "assessor", "needs a name"),
        ("x" * 101, "assessor", "at most 100"),
    ):
        with pytest.raises(SettingsError, match=message):
            check_assessor(said, who, role)
    assert free_name(said) == "assessor 1"
    assert free_name(labels(label(0, "not", "assessor 1"))) == "assessor 2"
