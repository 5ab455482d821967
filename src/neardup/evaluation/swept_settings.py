"""The settings of a sweep: a method at its lowest threshold, and all thresholds above it.

One matching pass at the lowest threshold serves them all.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from neardup.errors import SettingsError
from neardup.methods import registry
from neardup.methods.base import Method
from neardup.methods.registry import write_method
from neardup.methods.thresholds import (
    Cut,
    calibrates_itself,
    has_threshold,
    own_cut,
    swept,
    threshold_fraction,
)

SWEEP = "0.3:0.95:0.05"
# The default sweep of a method whose unrelated documents score high begins here: below, all texts
# of a language form one cluster, and most pairs of the collection would be scored.
SWEPT_FROM = {"qgrams": 0.5}
MOST_CUTS = 1000


@dataclass(frozen=True)
class Setting:
    """``method`` is as the user wrote it; ``wide`` finds the pairs of all ``cuts``, which rise."""

    method: Method
    wide: Method
    cuts: tuple[Cut, ...]

    @property
    def name(self) -> str:
        """The method and its parameters, without the parameter that is swept."""
        method, swept = self.method, self.cuts[0].parameter
        if swept is not None:
            usual = registry.usual(method)
            calibrate = {"calibrate": True} if calibrates_itself(type(usual)) else {}
            method = registry.changed(method, {swept: getattr(usual, swept), **calibrate})
        return shlex.join(map(_bare, shlex.split(write_method(method))))

    def command(self, cut: Cut, inputs: str = "INPUT") -> str:
        """The command that runs this setting; ``inputs`` are written as a shell reads them."""
        name, *assignments = shlex.split(self.name)
        words = ["neardup", "dedup", inputs, "--method", name]
        words += [word for assignment in assignments for word in ("--set", shlex.quote(assignment))]
        if cut.auto:
            words += ["--threshold", "auto"]
        elif cut.parameter == "threshold":
            words += ["--threshold", f"{cut.value:g}"]
        elif cut.parameter:
            words += ["--set", f"{cut.parameter}={cut.value}"]
        return " ".join([*words, "-o", "OUT"])


def _bare(word: str) -> str:
    """``measure="containment"`` without the quotes, which a plain word does not need."""
    return re.sub(r'^([\w.]+=)"([A-Za-z][\w-]*)"$', r"\1\2", word)


def parse_thresholds(written: str) -> tuple[float, ...]:
    """Rising thresholds from ``.5,.7,.8`` or from ``.3:.95:.05`` (start, end and step)."""
    try:
        numbers = sorted({number for part in written.split(",") for number in _range(part)})
    except InvalidOperation:
        raise SettingsError(
            f"thresholds are {written!r}.", hint="expected .3:.95:.05 or .5,.7,.8."
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
    threshold: float | None = None,
    thresholds: Sequence[float] | None = None,
    usual: bool = False,
) -> list[Setting]:
    """Each method with its thresholds: one, many, or its own if neither is given. ``usual``: the
    thresholds are the default ones, and a method takes those that make sense for it."""
    if threshold is not None and not any(map(has_threshold, methods)):
        registry.changed(methods[0], {"threshold": threshold})  # raises with the reason
    return [
        _setting(method, threshold, _sensible(method, thresholds) if usual else thresholds)
        for method in methods
    ]


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
