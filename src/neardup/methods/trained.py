"""Which model a method takes: the general one that comes with the package, or one from a file."""

from __future__ import annotations

import functools
import math
from pathlib import Path

import numpy as np

from neardup.artefacts.artefact import GENERAL, shipped
from neardup.artefacts.model import Model, load_model
from neardup.errors import SettingsError
from neardup.methods.fractions import MOST_DECIMALS


def place_of(model: str | None) -> str | None:
    """Where the file is, from wherever it is asked for again; None for the general model."""
    return None if model in (None, GENERAL) else str(Path(str(model)).absolute())


def check_reached(model: Model, threshold: float) -> None:
    """Refuses a threshold that not even documents with everything in common would reach."""
    most = float(model.probability(np.ones((1, len(model.measures))))[0])
    if model.discriminant.monotone() and threshold > most:
        raise SettingsError(
            f"learned: threshold is {threshold:g}, but no probability of this model is above "
            f"{most:.4f}.",
            hint="take a lower one, or the method exact for equal texts.",
        )


def model_at(path: str | None) -> Model:
    """The general model, or one from a file, read once; another file of that name is read again."""
    if path is None:
        return _general()
    try:
        there = Path(path).stat()
    except OSError:
        return load_model(Path(path))  # says what is wrong
    return _read(path, there.st_dev, there.st_ino, there.st_mtime_ns, there.st_size)


@functools.cache
def _general() -> Model:
    with shipped("general.arrow") as file:
        return load_model(file)


@functools.lru_cache(maxsize=8)
def _read(path: str, *_: int) -> Model:
    return load_model(Path(path))


def cut_of(model: Model) -> float:
    """Rounded down to as many decimals as a threshold may have: what was at it stays above it."""
    steps: int = 10**MOST_DECIMALS
    return max(math.floor(model.threshold * steps), 1) / steps
