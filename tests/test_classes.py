"""The light dataclass does what that of the standard library does."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any, ClassVar

import pytest

from neardup import classes


def made(dataclass: Any) -> Any:
    @dataclass(frozen=True)
    class Point:
        x: int
        y: int = 2
        tags: list[str] = dataclasses.field(default_factory=list, compare=False)
        note: str = dataclasses.field(default="", kw_only=True, repr=False)
        hidden: int = dataclasses.field(default=7, init=False)
        kind: ClassVar[str] = "point"

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("x is negative")

    return Point


PAIR = [made(dataclasses.dataclass), made(classes.dataclass)]


@pytest.mark.parametrize(
    "values",
    [
        lambda cls: repr(cls(1, tags=["a"], note="b")),
        lambda cls: dataclasses.asdict(dataclasses.replace(cls(1), y=5)),
        lambda cls: (cls(1) == cls(1, tags=["a"]), cls(1) == cls(3), cls(1) == (1, 2)),
        lambda cls: hash(cls(1, 3, note="b")),
        lambda cls: [field.name for field in dataclasses.fields(cls)],
    ],
)
def test_objects_are_the_same(values: Any) -> None:
    expected, got = map(values, PAIR)
    assert got == expected


@pytest.mark.parametrize("cls", PAIR)
def test_mistakes_are_refused(cls: Any) -> None:
    for mistake in (
        cls,
        lambda: cls(1, 2, [], "note"),
        lambda: cls(1, x=1),
        lambda: cls(1, z=1),
        lambda: cls(1, hidden=1),
    ):
        with pytest.raises(TypeError):
            mistake()
    with pytest.raises(ValueError, match="negative"):
        cls(-1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        cls(1).x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del cls(1).x


@classes.dataclass
class Base:
    a: int
    b: int = 2


@classes.dataclass
class Light(Base):
    c: int = 3


@dataclasses.dataclass
class Standard(Base):
    c: int = 3


@pytest.mark.parametrize("cls", [Light, Standard])
def test_a_class_that_is_not_frozen_can_be_inherited_and_pickled(cls: Any) -> None:
    one = cls(1, c=5)
    one.b = 4
    assert pickle.loads(pickle.dumps(one)) == one == cls(1, 4, 5)
    with pytest.raises(TypeError):
        hash(one)


def test_objects_of_a_class_that_does_not_compare_are_equal_to_themselves_only() -> None:
    @classes.dataclass(frozen=True, eq=False)
    class Table:
        values: list[int]

    one = Table([1])
    assert one == one != Table([1])
    assert len({one, Table([1])}) == 2
