"""Doors to frameworks: documents in, decisions out, no algorithm.

One file for one framework. Each imports its framework, and only ``cli`` imports one of them, so
that nobody loads a framework that they do not use.
"""

from __future__ import annotations

from neardup.errors import MissingExtraError


def missing(feature: str, error: ImportError, extra: str) -> MissingExtraError:
    """The error where a framework is not installed."""
    return MissingExtraError(
        f"{feature} needs {error.name}, which is not installed.",
        hint=f"pip install 'neardup[{extra}]'",
    )
