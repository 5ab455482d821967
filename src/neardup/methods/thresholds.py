"""Thresholds that a collection chooses, and the thresholds of a sweep.

A threshold is written as a number, or as ``auto`` if the collection is to choose it. With ``auto``,
some methods calibrate themselves; for other methods, the consistency of groups or planted copies
and decoys choose among ``CUTS`` (``engines/batch/threshold_choice.py``). A sweep varies the
threshold of a method, or the distance of SimHash; one matching pass at the lowest threshold serves
all higher ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from neardup.classes import dataclass
from neardup.errors import SettingsError
from neardup.methods import registry
from neardup.methods.base import Method

THRESHOLD, AUTO = "threshold", "auto"
SWEPT_COUNTS = range(11)  # distances in bits, as in Manku's and Henzinger's figures


@dataclass(frozen=True)
class Cut:
    """A threshold: with ``parameter`` at ``value``, the method passes pairs from the score
    ``threshold`` on."""

    threshold: float
    parameter: str | None = None
    value: float | int | None = None
    auto: bool = False  # calibrated by the collection: everything that was found passes

    def __str__(self) -> str:
        if self.auto:
            return AUTO if self.value is None else f"{AUTO} {self.value:g}"
        if self.parameter is None:
            return "–"
        return (
            f"{self.value:g}" if self.parameter == "threshold" else f"{self.parameter} {self.value}"
        )

    def of(self, method: Method) -> Method:
        """The method at this threshold."""
        if self.parameter is None:
            return method
        return registry.changed(method, {self.parameter: self.value})


class Swept(NamedTuple):
    """The method ``wide`` finds the pairs of all ``cuts``, which are in ascending order."""

    wide: Method
    cuts: tuple[Cut, ...]


def swept(method: Method, thresholds: Sequence[float]) -> Swept | None:
    """A sweep over the ascending thresholds that the method supports, for SimHash over its
    distances; None if there is nothing to choose."""
    if method.swept_parameter != THRESHOLD:
        return _counts(method)
    served = [(t, changed) for t in thresholds if (changed := _possible(method, t))]
    if not served:
        return None
    return Swept(served[0][1], tuple(Cut(t, THRESHOLD, t) for t, _ in served))


def own_cut(method: Method) -> Cut:
    """A sweep with the method's own threshold only; ``exact`` has nothing to sweep."""
    if method.calibrate:
        return Cut(0.0, auto=True)
    parameter = method.swept_parameter
    if parameter != THRESHOLD or (has_threshold(method) and method.threshold < 1):
        return Cut(method.threshold, parameter, getattr(method, parameter))
    return Cut(method.threshold)


def has_threshold(method: Method) -> bool:
    return "threshold" in registry.parameter_names(type(method))


def _possible(method: Method, threshold: float) -> Method | None:
    """The thresholds that the method supports: ``exact`` has one, MinHash bands the higher ones."""
    if not has_threshold(method):
        return None
    try:
        return registry.changed(method, {"threshold": threshold})
    except SettingsError:
        return None


def _counts(method: Method) -> Swept:
    """The sweep of a method by a count, such as the distance of SimHash in bits; the smallest count
    is the strictest."""
    parameter, served = method.swept_parameter, list[Method]()
    for count in SWEPT_COUNTS:
        try:
            served.append(registry.changed(method, {parameter: count}))
        except SettingsError:  # fewer bits allow less
            break
    cuts = tuple(Cut(m.threshold, parameter, count) for count, m in enumerate(served))
    return Swept(served[-1], cuts[::-1])


CUTS = tuple(round(0.05 * step, 2) for step in range(6, 20))


def calibrates_itself(cls: type[Any]) -> bool:
    return "calibrate" in registry.parameter_names(cls)


def check_cuts(method: Method) -> None:
    """Refuses a method without a threshold to choose."""
    sweep = swept(method, CUTS)
    if sweep is None or len(sweep.cuts) < 2:
        raise SettingsError(
            f"threshold is 'auto', and {method.name} has no threshold to choose.",
            hint="leave it out, or take a method that scores by degrees, such as shingles.",
        )
