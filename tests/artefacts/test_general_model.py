"""The model that comes with neardup."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import neardup
from neardup.artefacts.model import load_model
from neardup.artefacts.outline import STATISTICS

SHIPPED = Path(neardup.__file__).parent / "models" / "general.arrow"


def test_the_shipped_model_is_the_one_that_was_trained() -> None:
    model = load_model(SHIPPED)
    # Signatures and stored runs name it: a new one is a new model, and a line in the changelog.
    assert model.digest == "ef1150d6eab58739df8d2e25f6185dd1"
    assert model.measures == ("chars8_known", "chars8_known_containment", "length_ratio")
    assert model.discriminant.monotone()


def test_equal_texts_pass_and_unlike_ones_do_not() -> None:
    model = load_model(SHIPPED)
    alike, cut_short, unlike = model.probability(np.array([[1, 1, 1], [0.2, 1, 0.2], [0, 0, 1]]))
    assert alike > 0.9 > model.threshold == 0.5
    assert cut_short < 0.5
    assert unlike < 0.01


def test_it_says_what_it_was_trained_on() -> None:
    told = load_model(SHIPPED).trained
    collections = told["collections"].values()
    assert told["duplicates"] == sum(one["duplicates"] for one in collections)
    assert told["pairs"] == told["duplicates"] + sum(one["others"] for one in collections)
    assert told["digests"].keys() == told["collections"].keys()
    assert len(told["languages"]) > 15
    assert told["outline"].keys() == STATISTICS.keys()
