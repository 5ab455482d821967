"""The systems of the papers by name, with exactly the papers' parameters; recipes of users."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from neardup import api as nd
from neardup.errors import SettingsError
from neardup.papers.recipe import papers, read_recipe
from neardup.plan import resolve
from neardup.settings import Settings

NEWS = Path(__file__).parent.parent / "examples" / "news.jsonl"
# What the papers print (METHODS names the sections).
PRINTED: dict[str, dict[str, Any]] = {
    "williams-giles-simhash": {"distance": 3, "bits": 64, "weights": "tf", "words": 1},
    "williams-giles-shingles": {"words": 5, "permutations": 84, "threshold": 0.5, "keys": "all"},
    "broder": {"words": 10, "modulus": 25, "sample_limit": 400, "threshold": 0.5},
    "conrad-identical": {"size": 6, "idf_max": 0.8, "terms": "alpha"},
    "conrad-nonidentical": {"size": 60, "threshold": 0.8, "max_days": 42, "min_count": 5},
    "raveena-nandini": {"k": 4, "unit": "word"},
    "montanari-puglisi": {"q": 4, "threshold": 0.7},
}


def test_every_paper_has_its_recipe() -> None:
    assert {recipe.name for recipe in papers()} == PRINTED.keys()
    assert all(recipe.paper for recipe in papers())


@pytest.mark.parametrize("name", PRINTED)
def test_a_recipe_has_the_parameters_of_its_paper(name: str) -> None:
    method = resolve(Settings(**read_recipe(name))).method
    assert {key: getattr(method, key) for key in PRINTED[name]} == PRINTED[name]


@pytest.mark.parametrize("name", PRINTED)
def test_a_recipe_runs(name: str) -> None:
    counts = nd.dedup(NEWS, recipe=name).counts
    assert counts.documents == 74
    assert counts.duplicates > 0
    assert counts.documents == counts.kept + counts.duplicates + counts.rejected


def test_arguments_win_over_the_recipe() -> None:
    settings = nd.dedup(NEWS, recipe="broder", words=3, threshold=0.4).info["settings"]
    assert settings["parameters"]["words"] == 3
    assert settings["parameters"]["threshold"] == 0.4
    assert settings["parameters"]["modulus"] == 25
    assert settings["clusters"] == "components"
    other = nd.dedup(NEWS, recipe="broder", method="simhash").info["settings"]
    assert (other["method"], other["clusters"]) == ("simhash", "components")


def test_a_file_is_a_recipe_too(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('[method]\nname = "simhash"\ndistance = 5\n')
    settings = nd.dedup(NEWS, recipe=tmp_path / "mine.toml").info["settings"]
    assert settings["parameters"]["distance"] == 5


@pytest.mark.parametrize(
    ("name", "said"),
    [("brodr", "did you mean 'broder'"), ("nothing", "--papers"), ("no.toml", "cannot be read")],
)
def test_a_recipe_that_is_not_there(name: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        read_recipe(name)
