"""Methods as people write them: ``shingles words=3 text.digits=mask``.

What ``--set`` takes on the command line is taken here too, several in one line.
"""

from __future__ import annotations

import dataclasses
import json
import shlex
import tomllib
from collections.abc import Iterable
from typing import Any

from neardup.errors import SettingsError
from neardup.methods import registry
from neardup.methods.method import Method


def read_method(
    written: str, over: dict[str, Any] | None = None, date: str | None = None
) -> Method:
    """The method of a name and assignments, parted by spaces. What is said in ``over`` counts more;
    ``date`` is the column for methods that take one, where neither names it."""
    try:
        name, *assignments = shlex.split(written)
    except ValueError:
        raise SettingsError(
            f"{written!r} is no method.", hint="write a name and parameters: 'shingles words=3'."
        ) from None
    parameters = parse_assignments(assignments, f"the method {written!r}")
    parameters = deep_merged(parameters, over or {})
    if date is not None and "date" in registry.parameter_names(registry.method_class(name)):
        parameters.setdefault("date", date)
    return registry.build(name, parameters)


def write_method(method: Method) -> str:
    """Its name and the parameters that are not the defaults; :func:`read_method` reads it."""
    plain = registry.method_class(method.name)()
    led = registry.leaders(method).items()
    found = [_assignment(name, value) for name, value in led if value != getattr(plain, name)]
    return shlex.join([method.name, *found, *_assignments(method, registry.usual(method), "")])


def _assignment(name: str, value: Any) -> str:
    return f"{name}={json.dumps(value, ensure_ascii=False)}"


def _assignments(made: Any, plain: Any, prefix: str) -> list[str]:
    found = []
    for field in dataclasses.fields(made):
        value, usual = getattr(made, field.name), getattr(plain, field.name)
        if value == usual:
            continue
        if dataclasses.is_dataclass(value):
            found += _assignments(value, usual, f"{prefix}{field.name}.")
        else:
            found.append(_assignment(prefix + field.name, value))
    return found


def parse_assignments(assignments: Iterable[str], where: str = "--set") -> dict[str, Any]:
    """``text.digits=mask`` → ``{"text": {"digits": "mask"}}``."""
    parsed: dict[str, Any] = {}
    for written in assignments:
        key, equals, value = written.partition("=")
        parts = key.strip().split(".")
        if not equals or not all(parts):
            raise SettingsError(
                f"{where} got {written!r}; expected KEY=VALUE.", hint="for example words=3."
            )
        nested: Any = toml_value(value.strip())
        for part in reversed(parts):
            nested = {part: nested}
        parsed = deep_merged(parsed, nested)
    return parsed


def toml_value(written: str) -> Any:
    """A TOML value where it is one (3, 0.5, true, "x", ["a", "b"]), else the string itself."""
    try:
        read = tomllib.loads(f"value = {written}")
    except tomllib.TOMLDecodeError:
        return written
    return read["value"] if list(read) == ["value"] else written


def deep_merged(low: dict[str, Any], high: dict[str, Any]) -> dict[str, Any]:
    both = dict(low)
    for key, value in high.items():
        nested = isinstance(value, dict) and isinstance(low.get(key), dict)
        both[key] = deep_merged(low[key], value) if nested else value
    return both
