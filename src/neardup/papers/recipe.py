"""Recipes: settings in a TOML file, written by the user or taken from a paper.

A file uses the names of :class:`neardup.settings.Settings`; ``[method]`` holds ``name`` and
parameters, ``[index]`` what only an index has (``window``, ``against``, ``memory``,
``clipping``, ``texts``), ``[train]`` how a model is trained (``model``, ``measures``, ``cut``). The
recipes of the papers lie in the files of the papers (``papers/paper.py``).
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup.errors import SettingsError
from neardup.methods import registry
from neardup.methods.parameters import check_type
from neardup.papers import paper
from neardup.settings import Settings, settings_of

if TYPE_CHECKING:
    from neardup.methods.base import Method

COLUMNS = ("text", "id", "date", "within")
TRAIN = ("model", "measures", "cut")
# The settings of an index that a recipe may have.
INDEX = ("window", "against", "memory", "clipping", "texts")


class PaperRecipe(NamedTuple):
    """A recipe of a paper; ``paper`` cites the source."""

    name: str
    paper: str
    settings: dict[str, Any]


def papers() -> list[PaperRecipe]:
    return [
        PaperRecipe(name, source.cited_as, recipe_settings(written, name))
        for source in paper.papers().values()
        for name, written in source.recipes.items()
    ]


def read_recipe(name: str | Path) -> dict[str, Any]:
    """The settings of a file, or of a paper by the name of its recipe."""
    return recipe_settings(_written(name), str(name))


def read_index(name: str | Path) -> dict[str, Any]:
    """What a recipe says of an index beside the settings of a run."""
    return dict(_written(name).get("index", {}))


def read_train(name: str | Path) -> dict[str, Any]:
    """What a recipe says of training; ``text`` are the text options of its method."""
    settings = read_recipe(name)
    text = settings.get("set", {}).get("text", {})
    return {**_written(name).get("train", {}), "text": text}


def _written(name: str | Path) -> Mapping[str, Any]:
    path = Path(name)
    if not path.suffix and not path.exists():
        return _of_paper(str(name))
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"The recipe {path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"The recipe {path} is not valid TOML: {error}.") from error


def _of_paper(name: str) -> Mapping[str, Any]:
    known = {full: written for p in paper.papers().values() for full, written in p.recipes.items()}
    hint = "name a file that ends in .toml, or a recipe that `neardup papers` lists."
    return known[paper.named(name, known, "recipe", hint)]


def recipe_settings(written: Mapping[str, Any], where: str) -> dict[str, Any]:
    settings = dict(written)
    settings.pop("paper", None)  # a citation, not a setting
    _check_names(settings.pop("index", {}), INDEX, f"[index] of {where}")
    _check_names(settings.pop("train", {}), TRAIN, f"[train] of {where}")
    method = settings.pop("method", None)
    if isinstance(method, dict):
        parameters = dict(method)
        settings["method"] = parameters.pop("name", registry.DEFAULT)
        settings["set"] = parameters
    elif method is not None:
        settings["method"] = method
    fields = dataclasses.fields(Settings)
    _check_names(settings, [field.name for field in fields], where)
    for field in fields:
        if field.name in settings:
            check_type(field, settings[field.name], where)
    return settings


def _check_names(written: Mapping[str, Any], known: Any, where: str) -> None:
    if unknown := sorted(set(written) - set(known)):
        raise SettingsError(
            f"{where} has unknown settings: {', '.join(unknown)}.",
            hint=f"known are {', '.join(sorted(known))}.",
        )


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


def recipe_method(name: str | Path, **more: Any) -> Method:
    """The method of a recipe; ``more`` are settings such as ``date``."""
    from neardup.plan import resolve  # it loads numpy, which a refused recipe does not need

    known = method_arguments({"recipe": name, **more})
    return resolve(settings_of(known)).method


def method_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The same for calls that only compare: of the recipe, its method and its threshold count."""
    if arguments.get("recipe") is None:
        return {name: value for name, value in arguments.items() if name != "recipe"}
    merged = with_recipe(arguments)
    kept = {*arguments, "method", "threshold", "set"}
    return {name: value for name, value in merged.items() if name in kept}


def index_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The same for an index: what the recipe says of the index counts too, and its columns."""
    name = arguments.get("recipe")
    if name is None:
        return dict(arguments)
    columns = {key: value for key, value in read_recipe(name).items() if key in COLUMNS}
    merged = {**read_index(name), **columns, **method_arguments(arguments)}
    return {**merged, "recipe": None}
