"""A threshold as it was written: a number, or ``auto`` where the method lets the collection say."""

from __future__ import annotations

from typing import Any

from neardup.errors import SettingsError
from neardup.methods import registry

AUTO = "auto"


def with_threshold(
    cls: type[Any], parameters: dict[str, Any], threshold: float | str | None
) -> dict[str, Any]:
    """The parameters with the threshold in place. A number is a cut that was given, so nothing is
    calibrated, unless ``calibrate`` is given too; then it is where calibration begins."""
    written = parameters.get("threshold") if threshold is None else threshold
    if written is None:
        return parameters
    calibrates = "calibrate" in registry.parameter_names(cls)
    if written == AUTO:
        _check_auto(cls, parameters, calibrates)
        return {**{k: v for k, v in parameters.items() if k != "threshold"}, "calibrate": True}
    given = {"calibrate": False} if calibrates else {}
    return {**given, **parameters, "threshold": written}


def _check_auto(cls: type[Any], parameters: dict[str, Any], calibrates: bool) -> None:
    if not calibrates:
        raise SettingsError(
            f"threshold is 'auto', and {cls.name} cannot calibrate itself to a collection.",
            hint=f"`neardup evaluate --plant INPUT --method {cls.name}` recommends one.",
        )
    if parameters.get("calibrate") is False:
        raise SettingsError(
            "threshold is 'auto', and calibrate is false.", hint="leave one of them out."
        )
