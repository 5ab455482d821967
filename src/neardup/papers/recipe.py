"""Recipes: settings in a TOML file, written by the user or taken from a paper.

A file uses the names of :class:`neardup.settings.Settings`; ``[method]`` holds ``name`` and
parameters. The recipes of the papers lie beside this module and are named without their extension.
"""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from neardup.errors import SettingsError
from neardup.methods import registry
from neardup.methods.parameters import check_type
from neardup.settings import Settings

FOLDER = Path(__file__).parent


class PaperRecipe(NamedTuple):
    """A recipe of a paper; ``paper`` cites the source."""

    name: str
    paper: str
    settings: dict[str, Any]


def papers() -> list[PaperRecipe]:
    recipes = []
    for path in sorted(FOLDER.glob("*.toml")):
        written = tomllib.loads(path.read_text("utf-8"))
        paper = written.pop("paper")
        recipes.append(PaperRecipe(path.stem, paper, recipe_settings(written, path.stem)))
    return recipes


def read_recipe(name: str | Path) -> dict[str, Any]:
    """The settings of a file, or of a paper by the name of its recipe."""
    path = Path(name)
    if not path.suffix and not path.exists():
        return _of_paper(str(name))
    try:
        written = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"The recipe {path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"The recipe {path} is not valid TOML: {error}.") from error
    return recipe_settings(written, str(path))


def _of_paper(name: str) -> dict[str, Any]:
    known = {recipe.name: recipe.settings for recipe in papers()}
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else "`neardup methods --papers` lists them."
        raise SettingsError(f"There is no recipe {name!r}, and no such file.", hint=hint)
    return known[name]


def recipe_settings(written: dict[str, Any], where: str) -> dict[str, Any]:
    settings = dict(written)
    settings.pop("paper", None)  # a citation, not a setting
    method = settings.pop("method", None)
    if isinstance(method, dict):
        parameters = dict(method)
        settings["method"] = parameters.pop("name", registry.DEFAULT)
        settings["set"] = parameters
    elif method is not None:
        settings["method"] = method
    known = {f.name for f in dataclasses.fields(Settings)}
    unknown = sorted(set(settings) - known)
    if unknown:
        raise SettingsError(
            f"{where} has unknown settings: {', '.join(unknown)}.",
            hint=f"known are {', '.join(sorted(known))}.",
        )
    for field in dataclasses.fields(Settings):
        if field.name in settings:
            check_type(field, settings[field.name], where)
    return settings


def with_recipe(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments merged over the recipe they name. If they name a different method, the
    parameters of the recipe are dropped."""
    settings = dict(arguments)
    name = settings.pop("recipe", None)
    if name is None:
        return settings
    base = read_recipe(name)
    if "method" in settings and settings["method"] != base.get("method"):
        base.pop("set", None)
    merged = {**base.pop("set", {}), **settings.pop("set", {})}
    known = {f.name for f in dataclasses.fields(Settings)}
    # An argument overrides the parameter of the recipe that has its name.
    merged = {key: value for key, value in merged.items() if key in known or key not in settings}
    if settings.get("threshold") is not None:
        merged.pop("threshold", None)
    return {**base, **settings, "set": merged}
