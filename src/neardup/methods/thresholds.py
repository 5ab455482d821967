"""A threshold as it was written: a number, or ``auto``: the collection says.

A method that calibrates itself (``CalibratedMethod``) is told so; for others the cut is chosen by
planted copies and traps (``local/planted.py``) among ``CUTS``.
"""

from __future__ import annotations

from typing import Any

from neardup.errors import SettingsError
from neardup.methods import registry
from neardup.methods.cuts import swept
from neardup.methods.method import Method

AUTO = "auto"
CUTS = tuple(round(0.05 * step, 2) for step in range(6, 20))


def with_threshold(
    cls: type[Any], parameters: dict[str, Any], threshold: float | str | None
) -> dict[str, Any]:
    """The parameters with the threshold in place. A number is a cut that was given: the registry
    then calibrates nothing, unless ``calibrate`` is given too, and it is where that begins."""
    written = _written(parameters, threshold)
    if written is None:
        return parameters
    if written != AUTO:
        return {**parameters, "threshold": written}
    if parameters.get("calibrate") is False:
        raise SettingsError(
            "threshold is 'auto', and calibrate is false.", hint="leave one of them out."
        )
    calibrate = {"calibrate": True} if calibrates_itself(cls) else {}
    return {**{k: v for k, v in parameters.items() if k != "threshold"}, **calibrate}


def asks_known_answers(
    cls: type[Any], parameters: dict[str, Any], threshold: float | str | None
) -> bool:
    """Whether planted copies and traps are to choose the cut."""
    return _written(parameters, threshold) == AUTO and not calibrates_itself(cls)


def _written(parameters: dict[str, Any], threshold: float | str | None) -> Any:
    return parameters.get("threshold") if threshold is None else threshold


def calibrates_itself(cls: type[Any]) -> bool:
    return "calibrate" in registry.parameter_names(cls)


def check_cuts(method: Method) -> None:
    """Refuses a method that has no cut to choose."""
    found = swept(method, CUTS)
    if found is None or len(found.cuts) < 2:
        raise SettingsError(
            f"threshold is 'auto', and {method.name} has no threshold to choose.",
            hint="leave it out, or take a method that scores by degrees, such as shingles.",
        )
