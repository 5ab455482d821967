"""Recipes: settings in a TOML file, of the user or of a paper.

A file has the names of :class:`neardup.settings.Settings`; ``[method]`` holds ``name`` and
parameters. The systems of the papers are files beside this one and are named without their ending.
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
    name: str
    paper: str
    settings: dict[str, Any]


def papers() -> list[PaperRecipe]:
    found = []
    for path in sorted(FOLDER.glob("*.toml")):
        written = tomllib.loads(path.read_text("utf-8"))
        paper = written.pop("paper")
        found.append(PaperRecipe(path.stem, paper, recipe_settings(written, path.stem)))
    return found


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
    there = {recipe.name: recipe.settings for recipe in papers()}
    if name not in there:
        near = difflib.get_close_matches(name, there, 1)
        hint = f"did you mean {near[0]!r}?" if near else "`neardup methods --papers` lists them."
        raise SettingsError(f"There is no recipe {name!r}, and no such file.", hint=hint)
    return there[name]


def recipe_settings(written: dict[str, Any], where: str) -> dict[str, Any]:
    settings = dict(written)
    settings.pop("paper", None)  # where it comes from is said, not set
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
    for one in dataclasses.fields(Settings):
        if one.name in settings:
            check_type(one, settings[one.name], where)
    return settings


def with_recipe(given: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments over those of the recipe they name; another method has none of its
    parameters."""
    settings = dict(given)
    name = settings.pop("recipe", None)
    if name is None:
        return settings
    base = read_recipe(name)
    if "method" in settings and settings["method"] != base.get("method"):
        base.pop("set", None)
    merged = {**base.pop("set", {}), **settings.pop("set", {})}
    known = {f.name for f in dataclasses.fields(Settings)}
    # What is said here as an argument wins over the recipe's parameter of that name.
    merged = {key: value for key, value in merged.items() if key in known or key not in settings}
    if settings.get("threshold") is not None:
        merged.pop("threshold", None)
    return {**base, **settings, "set": merged}
