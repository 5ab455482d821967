"""Colours that carry meaning stay apart for readers who see fewer colours, and never stand alone.

Protanopia, deuteranopia and tritanopia are simulated by the matrices of Machado, Oliveira &
Fernandes (2009) at full severity, on linear RGB; colours are compared by their distance in CIELAB,
of which 2.3 is a just noticeable difference (Mahy et al. 1994).
"""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import neardup
from neardup.schema import Array

PACKAGE = Path(neardup.__file__).parent
STYLES = PACKAGE / "report" / "styles"
FLOOR = 15
SIGHT = {
    "all colours": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
# What a reader has to tell apart on one page.
TOGETHER = {
    "parts of a bar": ("alone", "leading", "short", "aside", "rejected"),
    "kept and duplicates": ("bar", "aside"),
    "series of a figure": ("s1", "s2", "s3", "s4", "s5", "s6", "s7"),
    "links of a cluster": ("accent", "warn-line", "bad"),
    "scores and threshold": ("pairs", "threshold"),
}
XYZ = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])


def palette(theme: str) -> dict[str, str]:
    light, dark = (STYLES / "colours.css").read_text("utf-8").split("@media")
    colours = re.findall(r"--([\w-]+): #([0-9a-f]{6});", light)
    return dict(colours + re.findall(r"--([\w-]+): #([0-9a-f]{6});", dark) * (theme == "dark"))


def lab(colour: str, sight: Array) -> Array:
    srgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    xyz = XYZ @ np.clip(sight @ linear, 0, 1) / XYZ.sum(axis=1)
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_the_simulation_knows_what_is_hard_to_tell() -> None:
    def distance(a: str, b: str, sight: str) -> float:
        return float(np.linalg.norm(lab(a, SIGHT[sight]) - lab(b, SIGHT[sight])))

    red, green = "c03020", "607010"
    assert distance(red, green, "all colours") > 60
    assert distance(red, green, "deuteranopia") < 25
    assert distance("000000", "ffffff", "tritanopia") == pytest.approx(100, abs=1)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("sight", SIGHT)
def test_colours_that_carry_meaning_stay_apart(theme: str, sight: str) -> None:
    colours = palette(theme)
    near = {
        (what, a, b): round(float(distance), 1)
        for what, names in TOGETHER.items()
        for a, b in combinations(names, 2)
        if (
            distance := np.linalg.norm(
                lab(colours[a], SIGHT[sight]) - lab(colours[b], SIGHT[sight])
            )
        )
        < FLOOR
    }
    assert near == {}


def rules(path: Path, selector: str, name: str) -> list[str]:
    """What the rules of the selectors that end so say of a property."""
    css = path.read_text("utf-8")
    blocks = re.findall(rf"{selector} {{([^}}]*)}}", css)
    return [value.strip() for block in blocks for value in re.findall(rf"{name}:([^;]*);", block)]


def test_no_meaning_is_carried_by_colour_alone() -> None:
    series = [rules(STYLES / "figures.css", rf"\n\.s{n}", "stroke-dasharray") for n in range(1, 8)]
    assert len({tuple(dashes) for dashes in series}) == 7
    marks = [
        rules(STYLES / "side_by_side.css", rf"\n\.nd-pair {name}", "border-bottom")[0].split()[1]
        for name in ("del", "ins", "mark")
    ]
    assert len(set(marks)) == 3  # dashed, solid, dotted
    review = PACKAGE / "web" / "static" / "review.css"
    links = [rules(review, rf"line\.{name}", "stroke-dasharray") for name in ("weak", "bridge")]
    assert links[0] != links[1]
    assert all(links)
    judging = (PACKAGE / "web/templates/judging/results_of_list.html").read_text("utf-8")
    assert 'aria-label="Set of result' in judging  # sets have numbers beside their colours
