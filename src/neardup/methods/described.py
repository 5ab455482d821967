"""A method as data: what it compares, where it cuts, what it misses, its parameters."""

from __future__ import annotations

from typing import Any

from neardup.methods.method import Method
from neardup.methods.parameters import parameters, summary


def describe(method: Method) -> dict[str, Any]:
    cls = type(method)
    return {
        "name": method.name,
        "summary": summary(cls),
        "threshold": method.threshold,
        "complete": method.miss_rate == 0,
        "miss_rate": method.miss_rate,
        "resolved": method.resolved(),
        "parameters": [parameter._asdict() for parameter in parameters(cls)],
    }
