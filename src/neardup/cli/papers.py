"""``neardup papers``: the papers, how to run each on your data, and where neardup differs."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.command import show_json
from neardup.cli.options import debug_option, json_option
from neardup.errors import UsageError

if TYPE_CHECKING:
    from neardup.papers.paper import Paper

WIDTH = 96


@click.command(short_help="List the papers, or show how to run one on your data.")
@click.argument("name", required=False, nargs=-1, metavar="[NAME|WORDS]")
@click.option("--bibtex", is_flag=True, help="Print the citation.")
@json_option
@debug_option
def papers(name: tuple[str, ...], bibtex: bool, as_json: bool) -> None:
    """List the papers whose systems neardup has, or show one: what it is, how to run it on your
    documents, its experiment, and where neardup differs from it.

    NAME is a name of the list; WORDS are words of a title, an author or a method.
    """
    from neardup.papers import paper

    words = " ".join(name)
    found = paper.look_up(words) if words else list(paper.papers().values())
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
    from neardup.papers.paper import cited

    found = cited(words)
    if not found:
        raise UsageError(
            f"No paper has the words {words!r}.", hint="`neardup papers` lists all of them."
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
