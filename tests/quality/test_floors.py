"""No method becomes worse on real documents without somebody saying so."""

from __future__ import annotations

from pathlib import Path

import pytest

from neardup.methods import registry
from quality import floors
from quality.runs import BESIDE, METHODS, SYSTEMS, USUAL, measured
from quality.sets import SETS, digest

# `make quality` measures every method on every set. These are what a change waits for: the usual
# method everywhere, the others where it takes them less than a second.
QUICK = ("bill_pairs", "clough_stevenson", "lee_news", "mccormick_articles")
GATE = [
    (name, method)  # one set after the other: its documents are judged by what is read once
    for name in SETS
    for method in METHODS
    if method == USUAL or name in QUICK
]


@pytest.mark.parametrize(("name", "method"), GATE)
def test_no_figure_falls_below_its_floor(data: Path, name: str, method: str) -> None:
    folder = data / name
    assert not floors.gate(name, digest(folder), method, measured(method, folder))


@pytest.mark.parametrize("name", SETS)
def test_the_floors_are_for_this_data(data: Path, name: str) -> None:
    """Also for the sets that only ``make quality`` measures all methods on."""
    assert floors.read()[name].sha256 == digest(data / name)


@pytest.mark.parametrize("name", ["bill_pairs", "clough_stevenson", "lee_news", "ocr_pairs"])
def test_every_system_of_a_paper_has_a_floor_on_the_small_sets(name: str) -> None:
    assert {*SYSTEMS.values()} <= floors.read()[name].measured.keys()


@pytest.mark.parametrize("name", SETS)
def test_every_method_has_a_floor_on_every_set(name: str) -> None:
    pinned = floors.read()[name].measured
    assert pinned.keys() - {*SYSTEMS.values()} == {*registry.METHODS, *BESIDE}
    for figures in pinned.values():
        assert figures.keys() <= {*SETS[name], floors.UNFINISHED}
        assert figures.keys() - {"precision"} >= {*SETS[name]} - {"precision"} or (
            figures.keys() == {floors.UNFINISHED}
        )
