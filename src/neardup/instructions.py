"""The level of instructions that the native kernels use.

Kernels use the best level that the machine has, and every level gives the same bits. The
environment variable ``NEARDUP_INSTRUCTIONS`` asks for a lower one: to compare levels, or to do
without one.
"""

from __future__ import annotations

import os

from neardup import _native
from neardup.errors import SettingsError

VARIABLE = "NEARDUP_INSTRUCTIONS"
LEVELS = ("portable", "sse4", "avx2", "avx512")


def use_wanted() -> None:
    """Use the level that the environment names; without one, the best level stays in use."""
    wanted = os.environ.get(VARIABLE, "")
    if not wanted:
        return
    available = ", ".join(_native.INSTRUCTIONS)
    if wanted not in LEVELS:
        raise SettingsError(
            f"{VARIABLE} must be one of {', '.join(LEVELS)}, not {wanted!r}.",
            hint=f"this machine has {available}; unset the variable to use the best of them.",
        )
    if wanted not in _native.INSTRUCTIONS:
        raise SettingsError(
            f"{VARIABLE} asks for {wanted}, which this machine does not have; it has {available}.",
            hint="name one of these, or unset the variable to use the best of them.",
        )
    _native.use_instructions(wanted)
