"""A threshold as it was written: a number, or ``auto`` where the method lets the collection say."""

from __future__ import annotations

from typing import Any

from neardup.errors import SettingsError
from neardup.methods import registry

AUTO = "auto"


def with_threshold(
    cls: type[Any], parameters: dict[str, Any], threshold: float | str | None
) -> dict[str, Any]:
    """The parameters with the threshold in place. A number is a cut that was given: the registry
    then calibrates nothing, unless ``calibrate`` is given too, and it is where that begins."""
    written = parameters.get("threshold") if threshold is None else threshold
    if written is None:
        return parameters
    if written == AUTO:
        _check_auto(cls, parameters)
        return {**{k: v for k, v in parameters.items() if k != "threshold"}, "calibrate": True}
    return {**parameters, "threshold": written}


def _check_auto(cls: type[Any], parameters: dict[str, Any]) -> None:
    if "calibrate" not in registry.parameter_names(cls):
        raise SettingsError(
            f"threshold is 'auto', and {cls.name} cannot calibrate itself to a collection.",
            hint=f"`neardup evaluate --plant INPUT --method {cls.name}` recommends one.",
        )
    if parameters.get("calibrate") is False:
        raise SettingsError(
            "threshold is 'auto', and calibrate is false.", hint="leave one of them out."
        )
