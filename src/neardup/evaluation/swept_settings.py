"""The settings of a sweep: a method at its lowest threshold, and all thresholds above it.

One matching pass at the lowest threshold serves them all.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any

from neardup.errors import SettingsError
from neardup.methods import registry
from neardup.methods.base import Method
from neardup.methods.parameters import threshold_fraction
from neardup.methods.registry import write_method
from neardup.methods.thresholds import (
    CUTS,
    THRESHOLD,
    Cut,
    calibrates_itself,
    check_cuts,
    has_threshold,
    own_cut,
    swept,
)

SWEEP = "0.3:0.95:0.05"
# The default sweep of a method whose unrelated documents score high begins here: below, all texts
# of a language form one cluster, and most pairs of the collection would be scored.
SWEPT_FROM = {"qgrams": 0.5}
MOST_CUTS = 1000


@dataclass(frozen=True)
class Setting:
    """``method`` is as the user wrote it; ``wide`` finds the pairs of all ``cuts``, which rise.
    ``recipe`` is the name of the recipe that the method comes from, with what was changed in it."""

    method: Method
    wide: Method
    cuts: tuple[Cut, ...]
    recipe: str | None = None

    @property
    def auto(self) -> bool:
        """Whether known answers choose the threshold; other methods calibrate themselves."""
        return self.cuts[0].auto and not self.method.calibrate

    def chosen(self, threshold: float) -> Setting:
        """The setting after known answers have chosen the threshold."""
        cut = Cut(threshold, auto=True)
        if self.method.swept_parameter == THRESHOLD:
            cut = Cut(threshold, THRESHOLD, threshold, auto=True)
        return replace(self, cuts=(cut,))

    @property
    def name(self) -> str:
        """The method and its parameters, without the parameter that is swept; or the recipe."""
        if self.recipe:
            return self.recipe
        method, swept = self.method, self.cuts[0].parameter
        if swept is not None:
            usual = registry.usual(method)
            calibrate = {"calibrate": True} if calibrates_itself(type(usual)) else {}
            method = registry.changed(method, {swept: getattr(usual, swept), **calibrate})
        return shlex.join(map(_bare, shlex.split(write_method(method))))

    def command(self, cut: Cut, inputs: str = "INPUT") -> str:
        """The command that runs this setting; ``inputs`` are written as a shell reads them."""
        name, *assignments = shlex.split(self.name)
        words = ["neardup", "dedup", inputs, "--recipe" if self.recipe else "--method", name]
        words += [word for assignment in assignments for word in ("--set", shlex.quote(assignment))]
        if cut.auto:
            words += ["--threshold", "auto"]
        elif cut.parameter == "threshold":
            words += ["--threshold", f"{cut.value:g}"]
        elif cut.parameter:
            words += ["--set", f"{cut.parameter}={cut.value}"]
        return " ".join([*words, "-o", "OUT"])


def recipe_name(recipe: str, changes: Mapping[str, Any]) -> str:
    """A recipe and the parameters that are changed in it, as a command line has them."""
    return shlex.join([recipe, *map(_bare, _assignments(changes))])


def _assignments(changes: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in changes.items():
        if isinstance(value, dict):
            yield from _assignments(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}={json.dumps(value, ensure_ascii=False)}"


def _bare(word: str) -> str:
    """``measure="containment"`` without the quotes, which a plain word does not need."""
    return re.sub(r'^([\w.]+=)"([A-Za-z][\w-]*)"$', r"\1\2", word)


def parse_thresholds(written: str) -> tuple[float, ...]:
    """Rising thresholds from ``.5,.7,.8`` or from ``.3:.95:.05`` (start, end and step)."""
    try:
        numbers = sorted({number for part in written.split(",") for number in _range(part)})
    except InvalidOperation:
        raise SettingsError(
            f"thresholds are {written!r}.",
            hint="expected .3:.95:.05 or .5,.7,.8; --threshold auto adds the one that the "
            "collection chooses.",
        ) from None
    for number in numbers:
        threshold_fraction(float(number))
    return tuple(map(float, numbers))


def _range(written: str) -> list[Decimal]:
    ends = [Decimal(part) for part in written.split(":")]
    if len(ends) == 1:
        return ends
    first, last, step = ends if len(ends) == 3 else (*ends, Decimal("0.05"))
    if step <= 0 or last < first or (last - first) / step >= MOST_CUTS:
        raise SettingsError(
            f"thresholds are {written!r}.",
            hint="expected from, to and a step above 0, such as .3:.95:.05.",
        )
    return [first + step * i for i in range(int((last - first) / step) + 1)]


def settings_of(
    methods: Sequence[Method],
    *,
    threshold: float | str | None = None,
    thresholds: Sequence[float] | None = None,
    usual: bool = False,
) -> list[Setting]:
    """Each method with its thresholds: one, many, or its own if neither is given; and with the one
    that the collection chooses, if the threshold is "auto". ``usual``: the thresholds are the
    default ones, and a method takes those that make sense for it."""
    if isinstance(threshold, str):
        if not any(map(_chooses, methods)):
            check_cuts(methods[0])  # raises with the reason
        asked = partial(settings_of, thresholds=thresholds, usual=usual)
        return [
            setting
            for method in methods
            for setting in [
                *(asked([method]) if thresholds or not _chooses(method) else ()),
                *([_automatic(method)] if _chooses(method) else ()),
            ]
        ]
    if threshold is not None and not any(map(has_threshold, methods)):
        registry.changed(methods[0], {"threshold": threshold})  # raises with the reason
    return [
        _setting(method, threshold, _sensible(method, thresholds) if usual else thresholds)
        for method in methods
    ]


def _automatic(method: Method) -> Setting:
    """The method with the threshold that the collection chooses."""
    calibrate = {"calibrate": True} if calibrates_itself(type(method)) else {}
    asked = registry.changed(method, calibrate)
    return Setting(asked, asked, (Cut(0.0, auto=True),))


def _chooses(method: Method) -> bool:
    sweep = swept(method, CUTS)
    return sweep is not None and len(sweep.cuts) > 1


def _sensible(method: Method, thresholds: Sequence[float] | None) -> Sequence[float] | None:
    lowest = SWEPT_FROM.get(method.name, 0)
    return thresholds and [t for t in thresholds if t >= lowest]


def _setting(
    method: Method, threshold: float | None, thresholds: Sequence[float] | None
) -> Setting:
    if threshold is not None and has_threshold(method):
        registry.changed(method, {"threshold": threshold})  # raises if it is not allowed
        thresholds = [threshold]
    sweep = swept(method, thresholds) if thresholds else None
    return Setting(method, *(sweep or (method, (own_cut(method),))))
