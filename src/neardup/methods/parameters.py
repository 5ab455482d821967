"""The parameters of a method as data: name, type, default and meaning.

The meaning of a parameter is written once, in the docstring of the class: the line begins with the
name of the parameter in double backquotes and a colon. A threshold is an exact fraction, so that a
pair exactly at the threshold passes on any machine.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from collections.abc import Collection
from fractions import Fraction
from typing import Any, NamedTuple

from neardup.errors import SettingsError

_PLAIN: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "None": (type(None),),
}
_MEANING = re.compile(r"^``(\w+)``: (.*(?:\n(?!``|\n).*)*)", re.MULTILINE)


class Parameter(NamedTuple):
    name: str  # dotted if the parameter is part of a set of options, such as text.case
    type: str
    default: Any
    meaning: str


def summary(cls: type[Any]) -> str:
    """The first sentence of the docstring."""
    return (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ")


def parameters(cls: type[Any], prefix: str = "") -> list[Parameter]:
    meanings = {
        name: " ".join(text.replace("``", "`").split())
        for name, text in _MEANING.findall(inspect.getdoc(cls) or "")
    }
    listed: list[Parameter] = []
    for field in dataclasses.fields(cls):
        nested = field.default_factory
        if dataclasses.is_dataclass(nested):
            listed += parameters(nested, f"{prefix}{field.name}.")
            continue
        default = nested() if nested is not dataclasses.MISSING else field.default
        meaning = meanings.get(field.name, "")
        listed.append(Parameter(prefix + field.name, str(field.type), default, meaning))
    return listed


def check_type(field: dataclasses.Field[Any], value: object, where: str) -> None:
    """Refuses a value whose plain type differs from the field's; other types check themselves."""
    names = str(field.type).split(" | ")
    if any(name not in _PLAIN for name in names):
        return
    allowed = tuple(type_ for name in names for type_ in _PLAIN[name])
    if (isinstance(value, bool) and bool not in allowed) or not isinstance(value, allowed):
        raise SettingsError(
            f"{where}: {field.name} is {value!r}; expected {' or '.join(names)}.",
            hint="numbers are written as 3 or 0.5, yes and no as true and false.",
        )


def require(condition: bool, method: Any, name: str, expected: str) -> None:
    """Refuses the value of a parameter with a sentence, unless the condition holds."""
    if not condition:
        raise SettingsError(
            f"{method.name}: {name} is {getattr(method, name)!r}; expected {expected}.",
            hint=f"`neardup methods {method.name}` lists the parameters.",
        )


def require_one_of(choices: Collection[object], method: Any, name: str) -> None:
    """Refuses a value that is none of the choices, and lists them."""
    *others, last = map(repr, choices)
    expected = f"{', '.join(others)} or {last}"
    require(getattr(method, name) in choices, method, name, expected)


def weighted_fields(given: object, method: str) -> tuple[tuple[str, int], ...]:
    """The weights of columns, from a mapping or from pairs."""
    pairs = list(given.items()) if isinstance(given, dict) else given
    if not isinstance(pairs, list | tuple) or not all(map(_is_weighted_field, pairs)):
        raise SettingsError(
            f"{method}: fields are {given!r}; expected columns with whole weights from 1 to 1000.",
            hint="such as fields={'title': 4}, or --set fields.title=4 on the command line.",
        )
    return tuple((name, weight) for name, weight in pairs)


def boilerplate_texts(value: object, method: str) -> tuple[str, ...] | str:
    """Texts, the file in which a run stored its boilerplate, or "auto"."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple | list) and all(isinstance(text, str) for text in value):
        return tuple(value)
    raise SettingsError(
        f"{method}: boilerplate is {value!r}; expected texts.",
        hint="give a list of texts, or --boilerplate FILE on the command line.",
    )


def _is_weighted_field(pair: object) -> bool:
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        return False
    name, weight = pair
    return isinstance(name, str) and isinstance(weight, int) and 0 < weight <= 1000


MOST_DECIMALS = 6  # keeps inter · denominator inside 64 bits for sets of 10¹² features


def moved(probability: float, by: float) -> float:
    """A probability moved by so many log-odds, rounded down to the decimals of a threshold."""
    steps: int = 10**MOST_DECIMALS
    odds = probability / max(1 - probability, 1 / steps) * math.exp(by)
    return max(math.floor(odds / (1 + odds) * steps), 1) / steps


def threshold_fraction(threshold: float) -> Fraction:
    """The decimal number as it was written, not its binary approximation: 0.8 is 4/5."""
    try:
        fraction = Fraction(str(threshold))
    except ValueError:  # nan, inf, not a number at all
        fraction = Fraction(0)
    if not 0 < fraction <= 1 or 10**MOST_DECIMALS % fraction.denominator:
        raise SettingsError(
            f"threshold is {threshold}; expected a number above 0 and up to 1 "
            f"with at most {MOST_DECIMALS} decimals.",
            hint="0.8 finds copies with small edits, 0.5 also revised versions.",
        )
    return fraction
