"""``neardup methods``: the methods, their parameters, and recipes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.command import echo, show_json
from neardup.cli.options import debug_option, json_option

if TYPE_CHECKING:
    from neardup.methods.parameters import Parameter


@click.command(short_help="List the methods, or the parameters of one.")
@click.argument("name", required=False)
@click.option("--toml", "as_toml", is_flag=True, help="Print a recipe with all parameters of NAME.")
@click.option("--papers", is_flag=True, help="List the recipes for the systems of the papers.")
@json_option
@debug_option
def methods(name: str | None, as_toml: bool, papers: bool, as_json: bool) -> None:
    """List the methods, or show the parameters of NAME with their defaults and meaning.

    With --recipe, commands take a recipe written by --toml, or a name that --papers lists.
    """
    if papers:
        if name or as_toml:
            raise click.UsageError("--papers can only be combined with --json.")
        show_papers(as_json)
        return
    from neardup.methods import registry
    from neardup.methods.registry import describe

    if as_toml and name is None:
        raise click.UsageError("--toml needs the name of a method.")
    if as_toml and as_json:
        raise click.UsageError("--toml and --json cannot be combined.")
    described = [describe(registry.build(one)) for one in ([name] if name else registry.names())]
    if as_json:
        data = described[0] if name else described
        show_json(data, default=list)
    elif as_toml:
        echo(recipe(described[0]), nl=False)
    elif name:
        show(described[0])
    else:
        show_all(described)


def show_papers(as_json: bool) -> None:
    from neardup.cli.terminal import show_table
    from neardup.papers.recipe import papers

    found = papers()
    if as_json:
        show_json([recipe._asdict() for recipe in found])
        return
    rows = [
        (one.name, one.settings["method"], written_settings(one.settings), one.paper)
        for one in found
    ]
    show_table(("recipe", "method", "settings", "paper"), rows)
    echo("\nneardup dedup INPUT -o OUT --recipe NAME uses one.")


def written_settings(settings: dict[str, Any], recipe: Mapping[str, Any] | None = None) -> str:
    """The settings of a recipe in one line; with the ``recipe`` also what it says of an index."""
    settings = {**settings, **({"index": recipe["index"]} if recipe and "index" in recipe else {})}
    others = {name: value for name, value in settings.items() if name not in ("method", "set")}
    flat = {
        f"{name}.{inner}" if inner else name: found
        for name, value in {**settings["set"], **others}.items()
        for inner, found in (value.items() if isinstance(value, dict) else [("", value)])
    }
    return " ".join(f"{name}={_plain(value)}" for name, value in flat.items())


def show_all(described: list[dict[str, Any]]) -> None:
    from neardup.cli.terminal import show_table
    from neardup.methods import registry

    rows = [(d["name"], f"{d['threshold']:.4g}", _misses(d), d["summary"]) for d in described]
    show_table(("method", "threshold", "misses", "what it compares"), rows)
    echo(f"\nThe default of dedup and find is {registry.DEFAULT}.")


def show(method: dict[str, Any]) -> None:
    from neardup.cli.terminal import show_table

    echo(f"{method['name']}: {method['summary']}")
    resolved = {key: value for key, value in method["resolved"].items() if key != "miss_rate"}
    told = [f"{key} {_plain(value)}" for key, value in resolved.items()]
    echo(f"With its defaults: {', '.join([*told, f'misses {_misses(method)}'])}.\n")
    rows = [(p["name"], p["type"], toml(p["default"]), p["meaning"]) for p in method["parameters"]]
    show_table(("parameter", "type", "default", "meaning"), rows)


def recipe(method: dict[str, Any]) -> str:
    """Every parameter with its meaning; a parameter without a default value is a comment."""
    from neardup.methods.parameters import Parameter

    parameters = [Parameter(**parameter) for parameter in method["parameters"]]
    head = [f"# {method['summary']}", "[method]", f"name = {toml(method['name'])}"]
    return "\n".join(head + [line for p in parameters for line in _recipe_lines(p)]) + "\n"


def _recipe_lines(parameter: Parameter) -> list[str]:
    value = toml(parameter.default)
    written = f"{parameter.name} = {value}" if value else f"# {parameter.name} ="
    return ["", *([f"# {parameter.meaning}"] if parameter.meaning else []), written]


def toml(value: Any) -> str:
    """Empty for None, which TOML lacks. Strings, numbers and lists are written as in JSON."""
    if value is None:
        return ""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def _misses(method: dict[str, Any]) -> str:
    return "nothing" if method["complete"] else f"{_decimal(method['miss_rate'])} at the threshold"


def _decimal(value: float) -> str:
    """One digit, without an exponent: 0.00005."""
    return f"{float(f'{value:.1g}'):.12f}".rstrip("0")


def _plain(value: object) -> str:
    return f"{value:.2g}" if isinstance(value, float) else str(value)
