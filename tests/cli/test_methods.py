"""methods: the list, the parameters, and recipes that can be read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.sample import Run
from neardup.methods import registry
from neardup.methods.parameters import parameters


def test_lists_all(run: Run) -> None:
    table, _, default = run("methods").stdout.partition("\n\n")
    assert [line.split()[0] for line in table.splitlines()] == ["method", *registry.names()]
    assert default == f"The default of dedup and find is {registry.DEFAULT}.\n"


def test_the_help_names_the_default(run: Run) -> None:
    """It is written there, because help loads no methods."""
    for command in ("dedup", "find", "evaluate"):
        said = " ".join(run(command, "--help").stdout.split())
        assert f"[default: {registry.DEFAULT}]" in said


def test_one(run: Run) -> None:
    said = run("methods", "shingles").stdout
    assert "scheme bands" in said
    assert "text.digits" in said
    assert "how many words make a shingle" in said


@pytest.mark.parametrize("name", registry.names())
def test_every_parameter_has_a_meaning(name: str) -> None:
    assert [p.name for p in parameters(registry.method_class(name)) if not p.meaning] == []


@pytest.mark.parametrize("name", registry.names())
def test_the_recipe_gives_the_defaults(run: Run, docs: Path, tmp_path: Path, name: str) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(run("methods", name, "--toml").stdout)
    with_recipe = run("find", docs, "--recipe", recipe, "--json", "--quiet")
    without = run("find", docs, "--method", name, "--json", "--quiet")
    assert with_recipe.exit_code == 0, with_recipe.stderr
    got, expected = json.loads(with_recipe.stdout), json.loads(without.stdout)
    assert got["parameters"] == expected["parameters"]


def test_json(run: Run) -> None:
    assert [one["name"] for one in json.loads(run("methods", "--json").stdout)] == registry.names()
    one = json.loads(run("methods", "exact", "--json").stdout)
    assert (one["complete"], one["threshold"]) == (True, 1)


@pytest.mark.parametrize("options", [["--toml"], ["exact", "--toml", "--json"], ["exakt"]])
def test_refusals(run: Run, options: list[str]) -> None:
    assert run("methods", *options).exit_code == 2


def test_demo(run: Run) -> None:
    said = run("demo").stdout
    assert "10 documents = 5 kept + 5 duplicates + 0 rejected." in said
    assert "- goes down" in said
    assert "neardup dedup" in said
