"""The commands of ``neardup token``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from neardup.cli.options import debug_option, json_option

file_option = click.option(
    "--token-file",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    required=True,
    help="Where their hashes are.",
)


@click.command(short_help="Make a token and print it, once.")
@file_option
@click.option("--name", default="default", show_default=True, help="What it is called in FILE.")
@click.option("--read-only", is_flag=True, help="It may ask, but change nothing.")
@debug_option
def new(file: Path, name: str, read_only: bool) -> None:
    """Make a token, add its hash to FILE, and print the token: it cannot be printed again."""
    from neardup.web.tokens import make_token

    click.echo(make_token(file, name, read_only=read_only))


@click.command("list", short_help="List the tokens of a file.")
@file_option
@json_option
@debug_option
def list_(file: Path, as_json: bool) -> None:
    """List the tokens of FILE by name, and what they may do."""
    from neardup.cli.listing import show_table
    from neardup.web.tokens import read_tokens

    found = read_tokens(file)
    if as_json:
        data = [{"name": t.name, "read_only": t.read_only, "made": t.made} for t in found]
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    rows = [(one.name, "read" if one.read_only else "read and write", one.made) for one in found]
    show_table(("token", "may", "made"), rows)


@click.command(short_help="Take a token out of a file.")
@file_option
@click.argument("name")
@debug_option
def remove(file: Path, name: str) -> None:
    """Take the token NAME out of FILE: from now on it is refused."""
    from neardup.web.tokens import remove_token

    remove_token(file, name)
    click.echo(f"{name} is removed.")
