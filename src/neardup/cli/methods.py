"""``neardup methods``: the methods, their parameters, and recipes. ``neardup papers``: the papers,
how to run each on your data, and where neardup differs."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.command import echo, show_json
from neardup.cli.options import debug_option, json_option
from neardup.cli.terminal import show_table
from neardup.errors import UsageError

if TYPE_CHECKING:
    from neardup.methods.parameters import Parameter
    from neardup.papers.paper import Paper


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


WIDTH = 96


@click.command(short_help="List the papers, or show how to run one on your data.")
@click.argument("name", required=False, nargs=-1, metavar="[NAME...|WORDS]")
@click.option("--bibtex", is_flag=True, help="Print the citations.")
@json_option
@debug_option
def papers(name: tuple[str, ...], bibtex: bool, as_json: bool) -> None:
    """List the papers whose systems neardup has, or show one: what it is, how to run it on your
    documents, its experiment, and where neardup differs from it.

    NAME is a name of the list, of which several can be given; WORDS are words of a title, an author
    or a method.
    """
    from neardup.papers import paper

    words, known = " ".join(name), paper.papers()
    named = [known[one] for one in map(paper.canonical, name) if one in known]
    found = paper.look_up(words) if words else list(known.values())
    if not found and len(named) == len(name):
        found = named
    if not found:
        _show_cited(words)
    elif bibtex:
        click.echo("\n\n".join(one.citation() for one in found))
    elif as_json:
        data = [_data(one) for one in found]
        show_json(data[0] if words and len(data) == 1 else data, default=list)
    elif words and len(found) == 1:
        _show(found[0])
    else:
        _show_list(found)


def _show_cited(words: str) -> None:
    from neardup.papers.paper import cited, nearest

    found = cited(words)
    if not found:
        near = nearest(words)
        most = f"`neardup papers {near.name}` has most of them, " if near else ""
        raise UsageError(
            f"No paper has all the words {words!r}.", hint=f"{most}`neardup papers` lists all."
        )
    for one in found:
        click.echo(f"{one.work}\nIt has no recipe: {one.instead}")


def _show_list(found: list[Paper]) -> None:
    from neardup.cli.terminal import show_table

    rows = [(one.name, one.cited_as, one.title) for one in found]
    show_table(("name", "paper", "title"), rows)
    click.echo("\nneardup papers NAME shows how to run one, and where neardup differs from it.")


def _show(one: Paper) -> None:
    from neardup.cli.methods import written_settings
    from neardup.papers.recipe import recipe_settings

    click.echo(f"{one.cited_as}: {one.title}")
    if one.authors:
        click.echo(", ".join(one.authors))
    click.echo()
    _paragraph(one.about)
    _heading("On your documents")
    for command in one.commands:
        click.echo(f"  {command}")
    _heading("Settings")
    for name, written in one.recipes.items():
        settings = recipe_settings(written, name)
        _paragraph(
            f"{name}: {settings['method']} {written_settings(settings, written)}", "  ", "    "
        )
    _heading("What it reproduces")
    _paragraph(one.reproduces, "  ", "  ")
    for command in one.experiment_commands:
        click.echo(f"  {command}")
    _heading("Where neardup differs")
    for difference in one.differences:
        _paragraph(difference, "  - ", "    ")


def _heading(title: str) -> None:
    click.echo()
    click.secho(title, bold=True)


def _paragraph(text: str, first: str = "", later: str = "") -> None:
    wrap = textwrap.TextWrapper(WIDTH, first, later, break_on_hyphens=False)
    click.echo(wrap.fill(text))


def _data(one: Paper) -> dict[str, Any]:
    return {
        "name": one.name,
        "paper": one.cited_as,
        "title": one.title,
        "authors": one.authors,
        "year": one.year,
        "about": one.about,
        "commands": one.commands,
        "recipes": {name: dict(written) for name, written in one.recipes.items()},
        "reproduces": one.reproduces,
        "experiments": one.experiment_commands,
        "differences": one.differences,
        "bibtex": one.citation(),
    }


def show_experiments(*, as_json: bool) -> None:
    """The experiments of the papers, which `neardup evaluate --paper` repeats."""
    from neardup.papers import experiments

    studies = [(name, study.shows) for name, study in experiments().items()]
    if as_json:
        show_json([{"name": name, "shows": shows} for name, shows in studies])
        return
    show_table(("experiment", "shows"), studies)
    echo("\nneardup evaluate --paper EXPERIMENT INPUT repeats an experiment.")
