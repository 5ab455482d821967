"""Pinned figures of each method on each set, and the floors under them.

``floors.toml`` has the figures as they were measured, with the digest of the documents and labels
they were measured on. A floor lies a hair below its figure. On other data the floors say nothing,
and that is an error: a gate that is silently open is none.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from quality.sets import Figures

FILE = Path(__file__).with_name("floors.toml")
HAIR = 0.005
RAISE, LOWER = "NEARDUP_RAISE_FLOORS", "NEARDUP_LOWER_FLOORS"
HEAD = f"""\
# What each method reaches with its defaults on the labelled sets; a floor is {HAIR} below.
# `make quality` measures all of it, the tests a part. Not by hand: {RAISE}=1 writes
# what has become better, {LOWER}=1 whatever is measured (say why in the commit).
"""
UNFINISHED = "unfinished"  # the figure, in seconds, of a run that was given no more time


@dataclass
class Pinned:
    """The figures of one set, by method."""

    sha256: str
    measured: dict[str, Figures]


Floors = dict[str, Pinned]


def read(file: Path = FILE) -> Floors:
    if not file.exists():
        return {}
    written = tomllib.loads(file.read_text("utf-8"))
    return {name: Pinned(**one) for name, one in written.items()}


def write(floors: Mapping[str, Pinned], file: Path = FILE, head: str = HEAD) -> None:
    lines = [head]
    for name, pinned in sorted(floors.items()):
        lines += [f"[{name}]", f'sha256 = "{pinned.sha256}"', "", f"[{name}.measured]"]
        for method, figures in sorted(pinned.measured.items()):
            inside = ", ".join(f"{key} = {value}" for key, value in figures.items())
            lines.append(f'"{method}" = {{ {inside} }}')
        lines.append("")
    file.write_text("\n".join(lines), "utf-8")


def below(pinned: Figures, figures: Figures) -> list[str]:
    """What fell through its floor, in words; a figure that there is no more counts as 0."""
    if UNFINISHED in figures and UNFINISHED not in pinned:
        return [f"not finished in {figures[UNFINISHED]:g} seconds"]
    return [
        f"{name} is {figures.get(name, 0):.3f}, its floor {value - HAIR:.3f}"
        for name, value in pinned.items()
        if name != UNFINISHED and figures.get(name, 0) < value - HAIR - 1e-9
    ]


def raised(pinned: Figures, figures: Figures) -> Figures:
    """The better of each; a run that was not finished raises nothing."""
    if UNFINISHED in figures:
        return pinned or figures
    kept = {name: value for name, value in pinned.items() if name != UNFINISHED}
    return kept | {name: max(value, kept.get(name, 0)) for name, value in figures.items()}


def gate(set_name: str, sha256: str, method: str, figures: Figures, file: Path = FILE) -> str:
    """What is wrong with these figures, in a sentence, or nothing; flags write them down first."""
    floors = read(file)
    lower, higher = (bool(os.environ.get(flag)) for flag in (LOWER, RAISE))
    pinned = floors.get(set_name)
    if (lower and (not pinned or pinned.sha256 != sha256)) or (higher and not pinned):
        pinned = floors[set_name] = Pinned(sha256, {})
    if pinned and pinned.sha256 != sha256:
        return (
            f"The floors of {set_name} do not apply to this data: they are for documents and labels"
            f" with the digest {pinned.sha256[:12]}…, these have"
            f" {sha256[:12]}…. Hint: {LOWER}=1 pins the figures of this data instead."
        )
    there = pinned.measured.get(method, {}) if pinned else {}
    if pinned and (lower or higher):
        new = figures if lower else raised(there, figures)
        if new != there:
            pinned.measured[method] = there = new
            write(floors, file)
    if not there:
        return f"{method} has no floor on {set_name}. Hint: {RAISE}=1 pins what it reaches."
    if found := below(there, figures):
        return (
            f"{method} on {set_name}: {'; '.join(found)}."
            f" Hint: if that is meant, {LOWER}=1 lowers the floor."
        )
    return ""
