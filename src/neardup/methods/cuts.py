"""What of a method can be swept: its threshold, the distance of SimHash, or nothing.

One matching pass at the lowest threshold serves all cuts above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from neardup.errors import SettingsError
from neardup.methods import registry
from neardup.methods.method import BitsMethod, CalibratedMethod, Method

MOST_DISTANCE = 10  # as in Manku's and Henzinger's figures


@dataclass(frozen=True)
class Cut:
    """``parameter`` of the method at ``value`` passes pairs from ``threshold`` on."""

    threshold: float
    parameter: str | None = None
    value: float | int | None = None
    auto: bool = False  # as the collection calibrates it: everything that was found

    def __str__(self) -> str:
        if self.auto:
            return "auto"
        if self.parameter is None:
            return "–"
        return (
            f"{self.value:g}" if self.parameter == "threshold" else f"{self.parameter} {self.value}"
        )

    def of(self, method: Method) -> Method:
        """The method cut here."""
        if self.parameter is None:
            return method
        return registry.changed(method, {self.parameter: self.value})


class Swept(NamedTuple):
    """``wide`` finds all pairs of all cuts, which rise."""

    wide: Method
    cuts: tuple[Cut, ...]


def swept(method: Method, thresholds: Sequence[float]) -> Swept | None:
    """At those of the rising thresholds that the method serves, SimHash at its distances instead;
    None where there is nothing to choose."""
    if isinstance(method, BitsMethod):
        return _distances(method)
    made = [(t, found) for t in thresholds if (found := _possible(method, t))]
    if not made:
        return None
    return Swept(made[0][1], tuple(Cut(t, "threshold", t) for t, _ in made))


def own_cut(method: Method) -> Cut:
    """Of ``exact`` there is one threshold only, so nothing that could be swept."""
    if isinstance(method, CalibratedMethod) and method.calibrate:
        return Cut(0.0, auto=True)
    if isinstance(method, BitsMethod):
        return Cut(method.threshold, "distance", method.distance)
    if has_threshold(method) and method.threshold < 1:
        return Cut(method.threshold, "threshold", method.threshold)
    return Cut(method.threshold)


def has_threshold(method: Method) -> bool:
    return "threshold" in registry.parameter_names(type(method))


def _possible(method: Method, threshold: float) -> Method | None:
    """Some methods serve only some thresholds: ``exact`` one, MinHash bands the higher ones."""
    if not has_threshold(method):
        return None
    try:
        return registry.changed(method, {"threshold": threshold})
    except SettingsError:
        return None


def _distances(method: Any) -> Swept:
    made: list[Method] = []
    for distance in range(MOST_DISTANCE + 1):
        try:
            made.append(registry.changed(method, {"distance": distance}))
        except SettingsError:  # fewer bits allow less
            break
    cuts = tuple(Cut(m.threshold, "distance", d) for d, m in enumerate(made))
    return Swept(made[-1], cuts[::-1])
