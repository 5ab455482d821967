"""The names of other tools in --set and recipes."""

from __future__ import annotations

import json
from pathlib import Path

from cli.sample import Run


def test_set_and_recipe(run: Run, docs: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text('[method]\nname = "shingles"\nngram_size = 4\nnum_perm = 64\n')
    common = ("find", docs, "--json", "--quiet")
    told = json.loads(run(*common, "--recipe", recipe).stdout)["parameters"]
    assert (told["words"], told["permutations"]) == (4, 64)
    told = json.loads(run(*common, "--recipe", recipe, "--set", "words=3").stdout)["parameters"]
    assert (told["words"], told["permutations"]) == (3, 64)
    told = json.loads(run(*common, "--method", "simhash", "--set", "ngram=2").stdout)["parameters"]
    assert told["words"] == 2


def test_given_twice(run: Run, docs: Path) -> None:
    done = run("find", docs, "--method", "shingles", "--set", "ngram=2", "--set", "words=3")
    assert done.exit_code == 2
    assert "words is given twice" in done.stderr
